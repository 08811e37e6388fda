#===- channels.py - times of collectives over MPI -----------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""The time of all-reduces over MPI on this machine, by algorithm and size.

`mpi` is the library's own MPI_Allreduce, `reduce_scatter` and `all_gather` are
what owners among the ranks use, `push+fetch` is the way to servers and back with
half of the ranks as servers. For each size two lines: the median of
the milliseconds on the slowest rank, and the milliseconds of processor time
that a rank takes, which is what computing at the same time loses.

Needs mpirun and the program ChannelsBench: ninja -C build/release ChannelsBench
"""

import argparse
import os
import re
import signal
import subprocess
import sys

import network

UNITS = {"": 1, "k": 1024, "M": 1024**2}


def add_options(parser):
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--sizes", nargs="+", type=bytes_of,
                        default=[4096, 65536, 2**20, 2**24, 2**26],
                        metavar="SIZE",
                        help="such as 64k or 16M; default 4k 64k 1M 16M 64M")
    parser.add_argument("--tcp", action="store_true",
                        help="through the loopback interface, not through "
                        "shared memory")
    parser.add_argument("--rate", help="on a host each with links of this "
                        "rate, such as 1gbit; needs root (see bench cluster)")
    parser.add_argument("--ranks-per-host", type=int, default=1,
                        help="with --rate: ranks on each host (default 1)")
    parser.add_argument("--busy", action="store_true",
                        help="every rank computes at the same time")
    parser.add_argument("--node-size", type=int, default=0,
                        help="pretend that nodes have so many ranks each")


def bytes_of(text):
    match = re.fullmatch(r"(\d+)([kM]?)", text)
    if not match or int(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no size such as 64k")
    return int(match[1]) * UNITS[match[2]]


def text_of(size):
    for unit in ["M", "k"]:
        if size % UNITS[unit] == 0:
            return f"{size // UNITS[unit]} {unit}B"
    return f"{size} B"


def run(arguments):
    program = arguments.build / "bin" / "ChannelsBench"
    if not program.exists():
        sys.exit(f"bench channels: error: {program} is missing; build it with "
                 f"ninja -C {arguments.build} ChannelsBench")
    command = [str(program), *(["--busy"] if arguments.busy else []),
               *map(str, arguments.sizes)]
    output = (run_on_hosts if arguments.rate else run_here)(arguments, command)
    table = {}
    for line in output.splitlines():
        name, size, _, _, median, _, processor = line.split()
        table.setdefault(int(size), {})[name] = (float(median) / 1000,
                                                 float(processor) / 1000)
    names = list(next(iter(table.values())))
    print(f"{arguments.ranks} ranks on {os.cpu_count()} cores, "
          f"{place_of(arguments)}"
          f"{', computing meanwhile' if arguments.busy else ''}; milliseconds "
          "measured, elapsed and of the processors")
    print(f"{'size':<18}" + "".join(f"{name:>15}" for name in names))
    for size, row in table.items():
        for place, label in [(0, text_of(size)), (1, "  processors")]:
            print(f"{label:<18}" + "".join(
                f"{row[name][place]:>15.3f}" for name in names))


def place_of(arguments):
    if arguments.rate:
        return (f"{arguments.ranks_per_host} on a host, links of "
                f"{arguments.rate}")
    return "TCP over loopback" if arguments.tcp else "shared memory"


def run_here(arguments, command):
    transport = ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include",
                 "lo"] if arguments.tcp else []
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    environment = dict(os.environ)
    if arguments.node_size:
        environment["PARTITA_NODE_SIZE"] = str(arguments.node_size)
    result = subprocess.run(
        ["mpirun", *root, "--oversubscribe", "--bind-to", "none", *transport,
         "-np", str(arguments.ranks), *command],
        env=environment, stdout=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(f"{result.stdout}bench channels: error: mpirun has failed")
    return result.stdout


def run_on_hosts(arguments, command):
    def stop(number, _):
        raise SystemExit(128 + number)

    for number in [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]:
        signal.signal(number, stop)
    hosts, rest = divmod(arguments.ranks, max(arguments.ranks_per_host, 1))
    if rest or hosts < 2 or arguments.ranks_per_host < 1:
        sys.exit(f"bench channels: error: {arguments.ranks} ranks do not fill "
                 f"hosts of {arguments.ranks_per_host}, expected two hosts at "
                 "least")
    try:
        network.check_rights()
        network.bits_per_second(arguments.rate)
        with network.Cluster(hosts) as cluster:
            cluster.shape(arguments.rate)
            child = cluster.start_mpi(command, arguments.ranks_per_host,
                                      stdout=subprocess.PIPE, text=True)
            output, _ = child.communicate()
            if child.returncode:
                sys.exit(f"{output}bench channels: error: mpirun has failed")
            return output
    except network.NetworkError as error:
        sys.exit(f"bench channels: error: {error}")
