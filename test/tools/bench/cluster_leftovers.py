#===- cluster_leftovers.py - bench cluster cleans up --------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Stops a running comparison by signals and looks for what is left."""

import glob
import signal
import subprocess
import sys
import tempfile
import time

bench, build, folder = sys.argv[1:]
COMMAND = [sys.executable, bench, "cluster", "--build", build, "--folder",
           folder, "--hosts", "2", "--nets", "convolutional", "--rate",
           "100mbit", "--without-pytorch", "--rounds", "1", "--configuration",
           "overlap on="]


def left(pid):
    """Namespaces, their processes and folders of one run."""
    names = [line.split()[0] for line in subprocess.run(
        ["ip", "netns", "list"], stdout=subprocess.PIPE,
        text=True).stdout.splitlines()]
    mine = [name for name in names
            if name.startswith(f"partita-bench-{pid}-")]
    pids = [p for name in mine for p in subprocess.run(
        ["ip", "netns", "pids", name], stdout=subprocess.PIPE,
        text=True).stdout.split()]
    folders = glob.glob(f"{tempfile.gettempdir()}/partita-bench-{pid}-*")
    return mine, pids, folders


def start(*options):
    """A comparison whose programs run: long enough to be stopped."""
    run = subprocess.Popen(COMMAND + list(options), stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    for _ in range(600):
        if left(run.pid)[1]:
            return run
        assert run.poll() is None, "it has ended by itself"
        time.sleep(0.1)
    raise AssertionError("no process on a host after a minute")


run = start("--steps", "100000")
time.sleep(1)
run.send_signal(signal.SIGTERM)
assert run.wait(timeout=30) == 128 + signal.SIGTERM, run.returncode
assert left(run.pid) == ([], [], []), left(run.pid)

run = start("--steps", "100000")
run.kill()
run.wait()
assert left(run.pid)[0], "nothing left after a kill: the test is blind"
# The next one, short, takes it away.
subprocess.run(COMMAND + ["--steps", "1", "--warm-up", "1"], check=True,
               stdout=subprocess.DEVNULL)
assert left(run.pid) == ([], [], []), left(run.pid)
