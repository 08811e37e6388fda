#===- network.py - a cluster of network namespaces ----------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Hosts on one machine: network namespaces behind a switch, links shaped.

Host i has the address 10.77.0.<i + 1> on its interface `eth0`. A link is a
pair of virtual interfaces; both ends send at the link's rate and no faster
(token bucket), as a network card and a port of a switch do. The switch is a
bridge in a namespace of its own, so nothing of the machine's own network is
touched. Names carry the process id of the benchmark that made them: what a
killed one has left behind is found and removed by the next.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

PREFIX = "partita-bench-"
RATE = re.compile(r"(\d+)(kbit|mbit|gbit)")
PR_SET_PDEATHSIG = 1


class NetworkError(Exception):
    """One sentence: what is missing or what failed, and what to do."""


def check_rights():
    """Raises NetworkError unless namespaces and shaped links can be made."""
    for tool, package in [("ip", "iproute2"), ("tc", "iproute2"),
                          ("mpirun", "openmpi-bin")]:
        if not shutil.which(tool):
            raise NetworkError(f"the program '{tool}' is missing; install "
                               f"Debian's {package}")
    if os.geteuid() != 0:
        raise NetworkError("network namespaces need root; run it with sudo, or "
                           "in a container with the capability SYS_ADMIN")
    name = f"{PREFIX}{os.getpid()}-probe"
    try:
        run("ip", "netns", "add", name)
        run("ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "lo",
            "root", "tbf", "rate", "1gbit", "burst", "128kb", "latency",
            "20ms")
    except NetworkError as error:
        raise NetworkError("this machine lets nobody make network namespaces "
                           f"with shaped links ({error}); in a container, add "
                           "the capabilities SYS_ADMIN and NET_ADMIN") from None
    finally:
        subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)


def run(*command):
    """Output of a command that has to succeed."""
    result = subprocess.run(command, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        raise NetworkError(f"'{' '.join(command)}' failed: "
                           f"{result.stdout.strip() or result.returncode}")
    return result.stdout


def bits_per_second(rate):
    match = RATE.fullmatch(rate)
    if not match or int(match[1]) == 0:
        raise NetworkError(f"the rate '{rate}' is not one such as 100mbit or "
                           "1gbit")
    return int(match[1]) * {"kbit": 10**3, "mbit": 10**6,
                            "gbit": 10**9}[match[2]]


def die_with_parent():
    """In a child: end it when this process is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def namespaces():
    return [line.split()[0] for line in run("ip", "netns", "list").splitlines()
            if line.startswith(PREFIX)]


def is_running(pid):
    """Whether that process is a benchmark that still runs."""
    try:
        command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"bench" in command


def end_processes(name):
    """Ends what runs in a namespace."""
    for _ in range(50):
        pids = subprocess.run(["ip", "netns", "pids", name], text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout.split()
        if not pids:
            return
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.05)


def remove_namespace(name):
    """Ends what runs in a namespace and removes it."""
    end_processes(name)
    subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)


def remove_stale():
    """Removes what benchmarks have left that were killed."""
    for name in namespaces():
        pid = int(name[len(PREFIX):].split("-")[0])
        if not is_running(pid):
            remove_namespace(name)
    for folder in pathlib.Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        pid = folder.name[len(PREFIX):].split("-")[0]
        if pid.isdigit() and not is_running(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


# Open MPI starts its daemons through this in place of ssh: the first argument
# is a host's address, the rest a command for a shell. Each host has a name of
# its own, by which MPI knows that memory is not shared.
AGENT = """#!/bin/sh
host=${{1##*.}}
shift
exec ip netns exec {prefix}$((host - 1)) \\
  unshare --uts sh -c "hostname bench-host$host; $*"
"""


class Cluster:
    """`hosts` hosts; a context manager that leaves nothing behind, or with
    `keep` the hosts and what has been written, but no process."""

    def __init__(self, hosts, keep=False):
        remove_stale()
        self.hosts, self.keep = hosts, keep
        self.prefix = f"{PREFIX}{os.getpid()}-"
        self.switch = self.prefix + "switch"
        self.children = []
        self.folder = None

    def __enter__(self):
        try:
            self.build()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def name(self, host):
        return f"{self.prefix}{host}"

    @staticmethod
    def address(host):
        return f"10.77.0.{host + 1}"

    def build(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=self.prefix))
        agent = self.folder / "agent"
        agent.write_text(AGENT.format(prefix=self.prefix))
        agent.chmod(0o755)
        run("ip", "netns", "add", self.switch)
        run("ip", "-n", self.switch, "link", "add", "switch", "type", "bridge")
        run("ip", "-n", self.switch, "link", "set", "switch", "up")
        for host in range(self.hosts):
            name, port = self.name(host), f"port{host}"
            run("ip", "netns", "add", name)
            run("ip", "-n", self.switch, "link", "add", port, "type", "veth",
                "peer", "name", "eth0", "netns", name)
            run("ip", "-n", self.switch, "link", "set", port, "master",
                "switch", "up")
            run("ip", "-n", name, "address", "add",
                f"{self.address(host)}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            run("ip", "-n", name, "link", "set", "lo", "up")

    def shape(self, rate):
        """Sets the rate of all links, such as "100mbit", in each direction."""
        # Two milliseconds of sending at once, but one whole packet at least.
        burst = max(bits_per_second(rate) // 8 // 500, 66_000)
        for host in range(self.hosts):
            for namespace, link in [(self.name(host), "eth0"),
                                    (self.switch, f"port{host}")]:
                run("tc", "-n", namespace, "qdisc", "replace", "dev", link,
                    "root", "tbf", "rate", rate, "burst", str(burst),
                    "latency", "20ms")

    def sent_bytes(self):
        """What each host has put on its wire since it exists."""
        links = json.loads(run("ip", "-n", self.switch, "-s", "-json", "link"))
        ports = {link["ifname"]: link["stats64"]["rx"]["bytes"]
                 for link in links}
        return [ports[f"port{host}"] for host in range(self.hosts)]

    def start(self, host, command, **options):
        """Starts a process on a host; it ends with this one."""
        child = subprocess.Popen(
            ["ip", "netns", "exec", self.name(host), "unshare", "--uts", "sh",
             "-c", f"hostname bench-host{host + 1}; exec \"$@\"", "sh",
             *command],
            start_new_session=True, preexec_fn=die_with_parent, **options)
        self.children.append(child)
        return child

    def start_mpi(self, command, ranks_per_host=1, **options):
        """Starts mpirun on host 0, with some ranks on each host, in blocks."""
        (self.folder / "hosts").write_text("".join(
            f"{self.address(host)} slots={ranks_per_host}\n"
            for host in range(self.hosts)))
        mpirun = [
            "mpirun", "--allow-run-as-root", "--hostfile",
            str(self.folder / "hosts"), "-np",
            str(self.hosts * ranks_per_host),
            "--map-by", "slot", "--bind-to", "none",
            "--mca", "plm_rsh_agent", str(self.folder / "agent"),
            "--mca", "btl", "tcp,vader,self",
            "--mca", "btl_vader_single_copy_mechanism", "none",
            "--mca", "btl_tcp_if_include", "eth0",
            "--mca", "oob_tcp_if_include", "eth0",
            "--mca", "orte_keep_fqdn_hostnames", "1",
            "-x", "OMP_NUM_THREADS=1"]
        environment = dict(os.environ, TMPDIR=str(self.folder))
        return self.start(0, mpirun + command, env=environment, **options)

    def remove(self):
        """Ends all processes and removes all that was made."""
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            signal.signal(number, signal.SIG_IGN)
        for child in self.children:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        if self.keep:
            for host in range(self.hosts):
                end_processes(self.name(host))
            print(f"kept {self.folder} and the hosts {self.name(0)} to "
                  f"{self.name(self.hosts - 1)}, behind {self.switch}; the "
                  "next run removes them")
            return
        for host in range(self.hosts):
            remove_namespace(self.name(host))
        # Its end takes the bridge and the links with it.
        remove_namespace(self.switch)
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
