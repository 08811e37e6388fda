#!/usr/bin/env python3
#===- watch - traces of runs, and jobs that come to a halt ---------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Traces a program, and stops or kills one of its processes.

usage: watch.py trace|stop|kill|server PARTITA LINK-FILE MODELS WORKDIR [MPIRUN...]
"""

import collections
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cases"))
from collectives import Setting, check  # noqa: E402

RANKS, STEPS = 4, 9


def program_of(setting):
    folder = setting.source(
        "lenet", "lenet5", "--batch", "8", "--grid", "2x2", "--split",
        "conv*=batch:pc,domain.h:pr")
    return setting.build("lenet", folder)


def call_sites(folder, phase):
    """The rows of a table of calls: label, layer, place."""
    text = open(os.path.join(folder, "train.cpp")).read()
    table = re.search(r"k%sCalls\d*\[\] = \{(.*?)\n\};" % phase, text, re.S)
    return [(label, layer, int(index)) for label, layer, index in re.findall(
        r'\{"([^"]*)",\s*"([^"]*)",\s*(\d+)\}', table.group(1))]


def trace(setting):
    program = program_of(setting)
    sites = call_sites(program + ".src", "Step")
    check(len(sites) > 10, "the table of calls")
    for mpi in setting.ways():
        path = os.path.join(setting.work, "trace.json")
        result = setting.run(
            program, RANKS, ["--synthetic", "--steps", str(STEPS), "--trace",
                             path, "--trace-steps", "3"], mpi)
        check(result.returncode == 0, result.stderr)
        check("overlap efficiency" in result.stdout, result.stdout)
        check("mean of 4 ranks and 3 steps, measured" in result.stdout,
              result.stdout)
        events = [event for event in json.load(open(path))["traceEvents"]
                  if event["ph"] == "X"]
        check({event["pid"] for event in events} == set(range(RANKS)),
              "a process for each rank")
        check({event["args"]["step"] for event in events}
              == set(range(STEPS - 2, STEPS + 1)), "the last three steps")
        for rank in range(RANKS):
            for step in range(STEPS - 2, STEPS + 1):
                calls = sorted(
                    (event for event in events if event["pid"] == rank
                     and event["cat"] == "communication"
                     and event["args"]["step"] == step
                     and event["args"]["call"] >= 0),
                    key=lambda event: event["args"]["call"])
                check([(event["name"], event["args"].get("layer", ""),
                        event["args"]["call"]) for event in calls] == sites,
                      "rank %d, step %d: calls as in the table" % (rank, step))
                check(all(event["args"]["kind"] for event in calls),
                      "the kind of each call")
                check(sum(event["args"]["bytes"] for event in calls) > 1000,
                      "bytes")
        # Nothing on one track happens at the same time; layers hold kernels.
        tracks = collections.defaultdict(list)
        for event in events:
            kind = "layer" if event["cat"] == "layer" else "other"
            tracks[event["pid"], event["tid"], kind].append(
                (event["ts"], event["ts"] + event["dur"]))
        for name, spans in tracks.items():
            spans.sort()
            for one, next_one in zip(spans, spans[1:]):
                check(one[1] <= next_one[0] + 0.002,
                      "spans of %r overlap: %r %r" % (name, one, next_one))
        # The layers of the model are in it, forward and backward.
        seen = {(event["name"], event["args"]["phase"]) for event in events
                if event["cat"] == "layer"}
        for wanted in (("/conv1/Conv", "forward"), ("/conv2/Conv", "backward"),
                       ("loss", "loss")):
            check(wanted in seen, "no span of %s, %s" % wanted)
        # A collective ends after it has begun everywhere: the clocks agree.
        by_call = collections.defaultdict(list)
        for event in events:
            if event["cat"] == "communication" and event["name"] == "signals":
                by_call[event["args"]["step"]].append(event)
        for calls in by_call.values():
            check(len(calls) == RANKS, "signals of all ranks")
            check(max(event["ts"] for event in calls)
                  <= min(event["ts"] + event["dur"] for event in calls) + 50,
                  "clocks differ")


def process_of(rank, job):
    """The process of a rank below the process `job`."""
    def children(parent):
        found = subprocess.run(["pgrep", "-P", str(parent)],
                               capture_output=True, text=True).stdout.split()
        return [int(pid) for pid in found]

    waiting = [job]
    while waiting:
        for child in children(waiting.pop()):
            waiting.append(child)
            try:
                environment = open("/proc/%d/environ" % child, "rb").read()
                name = open("/proc/%d/comm" % child).read().strip()
            except OSError:
                continue
            if (b"OMPI_COMM_WORLD_RANK=%d\0" % rank in environment
                    and name == "lenet"):
                return child
    return None


def is_alive(pid):
    try:
        state = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def strike(setting, program, victim, number, options):
    """Sends a signal to one rank of a job that trains, or to mpirun when
    `victim` is -1. Returns what the job says, its exit code and the seconds that
    it took to end everywhere."""
    log = os.path.join(setting.work, "log")
    metrics = os.path.join(setting.work, "metrics")
    if os.path.exists(metrics):
        os.remove(metrics)
    with open(log, "w") as output:
        job = subprocess.Popen(
            [*setting.mpirun, "-np", str(RANKS), program, "--synthetic",
             "--epochs", "1000000", "--quiet", "--metrics", metrics, *options],
            cwd=setting.work, stdout=output, stderr=output)
        pids = []
        try:
            end = time.time() + 60
            while (not os.path.exists(metrics)
                   or os.path.getsize(metrics) < 1000):
                check(time.time() < end, "training did not begin")
                time.sleep(0.05)
            pids = [process_of(rank, job.pid) for rank in range(RANKS)]
            check(None not in pids, "the processes of the ranks: %r" % pids)
            start = time.time()
            os.kill(pids[victim] if victim >= 0 else job.pid, number)
            code = job.wait(timeout=60)
            while any(is_alive(pid) for pid in pids):
                check(time.time() < start + 60, "processes are left")
                time.sleep(0.05)
            return open(log).read(), code, time.time() - start
        finally:
            for pid in pids:
                if pid and is_alive(pid):
                    os.kill(pid, signal.SIGCONT)
                    os.kill(pid, signal.SIGKILL)
            if job.poll() is None:
                job.kill()
                job.wait()


def stop(setting):
    program = program_of(setting)
    labels = [label for label, _, _ in
              call_sites(program + ".src", "Step")] + ["signals"]
    for victim in (1, 0):
        text, code, seconds = strike(setting, program, victim, signal.SIGSTOP,
                                     ["--watchdog", "3"])
        print("rank %d stopped: named and ended after %.1f s"
              % (victim, seconds))
        check(code == 1, "exit code %d\n%s" % (code, text))
        check(seconds < 10, "took %.1f s\n%s" % (seconds, text))
        line = next((line for line in text.splitlines() if "watchdog:" in line),
                    text)
        check("watchdog: rank %d has given no sign of life for 3." % victim
              in line, line)
        # Somebody waits for it: layer, call, bytes, peers, last step.
        witness = line[line.index("Meanwhile"):]
        check(re.search(r"rank \d waits for its communication in step \d+"
                        r".* call .*'.*bytes\) (with|queued, which needs) ranks?"
                        r" .*; its last completed step is \d+", witness), line)
        check(any("'%s'" % label in witness for label in labels), line)
        files = re.findall(r"partita-rank-\d\.calls\.txt", text)
        check(files, text)
        calls = open(os.path.join(setting.work, files[0])).read()
        check("begun" in calls or "issued" in calls, calls)


def kill(setting):
    program = program_of(setting)
    text, code, seconds = strike(setting, program, 2, signal.SIGKILL, [])
    print("rank 2 killed: ended everywhere after %.1f s" % seconds)
    check(code != 0, "exit code %d\n%s" % (code, text))
    check(seconds < 10, "took %.1f s\n%s" % (seconds, text))
    check("rank 2" in text, text)
    # Nobody is left to end the ranks when mpirun is gone.
    text, code, seconds = strike(setting, program, -1, signal.SIGKILL, [])
    print("mpirun killed: ended everywhere after %.1f s" % seconds)
    check(seconds < 10, "took %.1f s\n%s" % (seconds, text))


def server(setting):
    """Three ranks that train, and one server, which has no loss to look at."""
    program = setting.build("lenet", setting.source(
        "lenet", "lenet5", "--batch", "9", "--ranks", "3", "--sync",
        "parameter_server", "--servers", "1"))
    text, code, seconds = strike(setting, program, 3, signal.SIGSTOP,
                                 ["--watchdog", "3"])
    print("server stopped: named and ended after %.1f s" % seconds)
    check(code == 1, "exit code %d\n%s" % (code, text))
    check(seconds < 10, "took %.1f s\n%s" % (seconds, text))
    check("watchdog: rank 3 (server 0) has given no sign of life" in text, text)
    check("servers at rank 3" in text or "rank 3" in text, text)
    text, code, seconds = strike(setting, program, 1, signal.SIGSTOP,
                                 ["--watchdog", "3"])
    print("rank 1 stopped: named and ended after %.1f s" % seconds)
    check("watchdog: rank 1 has given no sign of life" in text, text)
    # All end at the same step, whoever has got the signal.
    for victim in (0, 3):
        text, code, seconds = strike(setting, program, victim, signal.SIGTERM,
                                     ["--watchdog", "5"])
        print("rank %d told to end: all have after %.1f s" % (victim, seconds))
        check(code == 128 + signal.SIGTERM, "exit code %d\n%s" % (code, text))
        check("watchdog" not in text and "error:" not in text, text)
        check(seconds < 10, "took %.1f s\n%s" % (seconds, text))


if __name__ == "__main__":
    {"trace": trace, "stop": stop, "kill": kill, "server": server}[sys.argv[1]](
        Setting(sys.argv[2:]))
