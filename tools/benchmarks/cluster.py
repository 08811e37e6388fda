#===- cluster.py - ways to synchronise on a slow network ----------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Training on a cluster of network namespaces, side by side with PyTorch DDP.

Builds hosts with links of a given rate on this machine, runs programs of
Partita over MPI across them, one rank per host, and PyTorch's
DistributedDataParallel over gloo on the same networks, samples, batch and
optimizer (plain SGD), with one thread for each rank. All take turns in rounds,
so that what else the machine does meets all alike; a step's time is the mean
over the steps of a round after the warm-up, and the table gives the median of
the rounds and their range. Bytes are counted on the links.

Two networks: `connected` keeps its weights in two wide layers, `convolutional`
has few weights, and batch normalisation by each rank's own samples.

Needs root, iproute2 and Open MPI. Everything is removed in the end, and what a
killed run has left behind at the start of the next.
"""

import json
import os
import pathlib
import shlex
import signal
import statistics
import subprocess
import sys
import warnings

import numpy as np

import cluster_nets
import network

LEARNING_RATE = 0.01
BATCHES = 4
PORT = 29500
DDP = pathlib.Path(__file__).resolve().parent / "ddp.py"

# Name, arguments of `partita compile`, and by which rule bytes are predicted.
CONFIGURATIONS = [
    ("overlap off", "--overlap off", "reduced"),
    ("overlap on", "--overlap on", "reduced"),
    ("all_reduce", "--sync '*=all_reduce'", "reduced"),
    ("parameter_server", "--sync '*=parameter_server'", "reduced"),
    ("factor_broadcast", "--sync '*fc*=factor_broadcast'", "factors"),
    ("poseidon", "--sync=poseidon", "best"),
]


def add_options(parser):
    parser.add_argument("--nets", nargs="+", default=list(cluster_nets.NETS),
                        choices=list(cluster_nets.NETS))
    parser.add_argument("--rate", nargs="+", default=["1gbit", "100mbit"],
                        help="rates of the links, default 1gbit 100mbit")
    parser.add_argument("--hosts", type=int, default=4,
                        help="hosts, each with one rank (default 4)")
    parser.add_argument("--batch", type=int, default=16,
                        help="samples per rank and step (default 16)")
    parser.add_argument("--steps", type=int, default=6,
                        help="measured steps in a round (default 6)")
    parser.add_argument("--warm-up", type=int, default=2,
                        help="steps before those (default 2)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--configuration", action="append", metavar="NAME=ARGUMENTS",
        help="compare these arguments of `partita compile` under this name, "
        "in place of the usual list; may be repeated")
    parser.add_argument("--without-pytorch", action="store_true",
                        help="measure Partita's programs only")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE",
                        help="also write all figures to FILE")
    parser.add_argument("--keep", action="store_true",
                        help="leave the hosts as they are in the end, to look "
                        "at; the next run removes them")


def fail(text):
    sys.exit(f"bench cluster: error: {text}")


class Side:
    """One row of a table: something that trains, and what was measured.

    `start` of a derived class starts it and returns the processes; rank 0
    writes its metrics to the given file."""

    def __init__(self, name, rule=None):
        self.name, self.rule = name, rule
        self.seconds, self.sent, self.first_loss = [], [], None

    def run(self, bench, cluster, steps, hosts):
        """Runs on `hosts` hosts; returns the lines of rank 0's metrics."""
        metrics = cluster.folder / "metrics.jsonl"
        metrics.unlink(missing_ok=True)
        log = open(cluster.folder / "log", "w+")
        children = self.start(bench, cluster, steps, hosts, metrics, log)
        try:
            for child in children:
                child.wait(timeout=bench.arguments.steps * 60 + 300)
        except subprocess.TimeoutExpired:
            fail(f"{self.name} has not ended in time on {hosts} hosts")
        if any(child.returncode for child in children):
            log.seek(0)
            fail(f"{self.name} has failed:\n{log.read()}")
        lines = [json.loads(line) for line in open(metrics)]
        return [line for line in lines if "step" in line]

    def measure(self, bench, cluster, hosts, warm_up_sent=None):
        arguments = bench.arguments
        before = cluster.sent_bytes()
        lines = self.run(bench, cluster, arguments.warm_up + arguments.steps,
                         hosts)
        sent = [b - a for a, b in zip(before, cluster.sent_bytes())]
        ends = [line["seconds"] for line in lines]
        if len(ends) != arguments.warm_up + arguments.steps:
            fail(f"{self.name} has made {len(ends)} steps, expected "
                 f"{arguments.warm_up + arguments.steps}")
        self.seconds.append(
            (ends[-1] - ends[arguments.warm_up - 1]) / arguments.steps)
        if warm_up_sent:
            self.sent.append(statistics.mean(
                (s - w) / arguments.steps
                for s, w in zip(sent, warm_up_sent)))
        self.first_loss = lines[0]["loss"]

    def warm_up_sent(self, bench, cluster, hosts):
        """What starting and the warm-up send."""
        before = cluster.sent_bytes()
        self.run(bench, cluster, bench.arguments.warm_up, hosts)
        return [b - a for a, b in zip(before, cluster.sent_bytes())]


class Program(Side):
    """A program of Partita."""

    def __init__(self, name, program, rule=None):
        super().__init__(name, rule)
        self.program = program

    def start(self, bench, cluster, steps, hosts, metrics, log):
        command = [str(self.program), "--threads", "1", "--data",
                   str(bench.data), "--no-shuffle", "--quiet", "--epochs",
                   str(steps // BATCHES + 1), "--steps", str(steps)]
        streams = {"stdout": log, "stderr": subprocess.STDOUT}
        if hosts > 1:
            return [cluster.start_mpi(command + ["--metrics", str(metrics)],
                                      **streams)]
        return [cluster.start(0, command + ["--ranks", "1", "--metrics",
                                            str(metrics)], **streams)]


class Crowd(Program):
    """The program of one rank on every host, without communication."""

    def start(self, bench, cluster, steps, hosts, metrics, log):
        children = []
        for host in range(hosts):
            children += super().start(bench, _Host(cluster, host), steps, 1,
                                      metrics if host == 0 else
                                      cluster.folder / f"metrics{host}", log)
        return children


class _Host:
    """A cluster whose first host is another one."""

    def __init__(self, cluster, host):
        self.cluster, self.host = cluster, host

    def start(self, host, command, **options):
        return self.cluster.start(self.host + host, command, **options)


class Ddp(Side):
    """PyTorch's DistributedDataParallel."""

    def start(self, bench, cluster, steps, hosts, metrics, log):
        children = []
        for rank in range(hosts):
            environment = dict(
                os.environ, RANK=str(rank), WORLD_SIZE=str(hosts),
                MASTER_ADDR=cluster.address(0), MASTER_PORT=str(PORT),
                GLOO_SOCKET_IFNAME="eth0", OMP_NUM_THREADS="1")
            children.append(cluster.start(
                rank, [sys.executable, str(DDP), bench.net, str(bench.data),
                       str(bench.arguments.batch), str(steps),
                       str(LEARNING_RATE), str(metrics)],
                env=environment, stdout=log, stderr=subprocess.STDOUT))
        return children


class Bench:
    """The comparison on one network."""

    def __init__(self, net, arguments):
        self.net, self.arguments = net, arguments
        self.folder = arguments.folder / "cluster" / net
        self.data = self.folder / "data"
        self.module = cluster_nets.build(net)
        self.write_inputs()

    def write_inputs(self):
        self.data.mkdir(parents=True, exist_ok=True)
        samples = self.arguments.batch * self.arguments.hosts * BATCHES
        generator = np.random.default_rng(1)
        np.save(self.data / "input.npy", generator.standard_normal(
            (samples, *cluster_nets.IMAGE)).astype(np.float32))
        np.save(self.data / "labels.npy",
                generator.integers(0, cluster_nets.CLASSES, samples))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cluster_nets.export(self.net, self.folder / "model.onnx")

    def compile(self, name, ranks, options, rate=None):
        """A program, or None and the reason when it is refused."""
        program = self.folder / name.replace(" ", "-").replace("/", "-")
        result = subprocess.run(
            [self.arguments.build / "bin" / "partita", "compile",
             self.folder / "model.onnx", "--ranks", str(ranks), "--batch",
             str(ranks * self.arguments.batch), "--loss", "cross_entropy",
             "--optimizer", "sgd", "--lr", str(LEARNING_RATE), "--batch-norm",
             "local", "-o", program, *(["--network", rate] if rate else []),
             *shlex.split(options)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode:
            return None, result.stdout.strip().split("\n")[0]
        return program, None

    def sides(self, rate):
        """What is compared over the network, and what is not possible."""
        sides, refused = [], []
        for name, options, rule in chosen(self.arguments):
            program, reason = self.compile(name, self.arguments.hosts, options,
                                           rate)
            if program:
                sides.append(Program(name, program, rule))
            else:
                refused.append((name, options, reason))
        if not sides:
            fail("no configuration could be compiled: " +
                 "; ".join(f"{name}: {reason}" for name, _, reason in refused))
        if not self.arguments.without_pytorch:
            sides.append(Ddp("PyTorch DDP", "reduced"))
        return sides, refused

    def run_alone(self, cluster):
        """The time of a step without communication."""
        program, reason = self.compile("one rank", 1, "")
        if not program:
            fail(f"the program for one rank could not be compiled: {reason}")
        hosts = self.arguments.hosts
        sides = [(Program("one rank alone", program), 1),
                 (Crowd(f"{hosts} ranks at once", program), hosts)]
        if not self.arguments.without_pytorch:
            sides.append((Ddp("PyTorch, one rank alone"), 1))
        for _ in range(self.arguments.rounds):
            for side, ranks in sides:
                side.measure(self, cluster, ranks)
        print(f"\n{self.net}: {cluster_nets.parameter_count(self.module)} "
              f"parameters, {self.arguments.batch} samples per rank; "
              "computation only, measured")
        for side, _ in sides:
            print(f"  {side.name:<24}{times(side)}", flush=True)
        return [result(side, self, "none", None) for side, _ in sides]

    def run_at(self, cluster, rate):
        cluster.shape(rate)
        hosts = self.arguments.hosts
        sides, refused = self.sides(rate)
        starts = [side.warm_up_sent(self, cluster, hosts) for side in sides]
        for _ in range(self.arguments.rounds):
            for side, start in zip(sides, starts):
                side.measure(self, cluster, hosts, start)
        print(f"\n{self.net}: {hosts} hosts, links of {rate}; measured, "
              "bytes on the wire beside those predicted by the cost table")
        print(f"  {'configuration':<24}{'step ms':>10}  {'range':<18}"
              f"{'samples/s':>10}{'MB sent':>10}{'predicted':>11}{'ratio':>7}")
        results = []
        for side in sides:
            predicted = side.rule and cluster_nets.predicted_bytes(
                self.module, side.rule, self.arguments.batch, hosts)
            results.append(result(side, self, rate, predicted))
            sent = statistics.median(side.sent)
            speed = hosts * self.arguments.batch / statistics.median(
                side.seconds)
            print(f"  {side.name:<24}{times(side)}{speed:>10.0f}"
                  f"{sent / 1e6:>10.2f}" +
                  (f"{predicted / 1e6:>11.2f}{sent / predicted:>7.2f}"
                   if predicted else ""), flush=True)
        for name, options, reason in refused:
            print(f"  {name:<24}not measured: {options}: {reason}")
        check_losses(sides)
        return results


def times(side):
    low, high = min(side.seconds), max(side.seconds)
    span = f"{1e3 * low:.1f} to {1e3 * high:.1f}"
    return f"{1e3 * statistics.median(side.seconds):>10.1f}  {span:<18}"


def result(side, bench, rate, predicted):
    return {
        "net": bench.net, "rate": rate, "hosts": bench.arguments.hosts,
        "configuration": side.name, "samples_per_rank": bench.arguments.batch,
        "step_seconds_measured": side.seconds,
        "bytes_sent_per_rank_measured": side.sent,
        "bytes_sent_per_rank_predicted": predicted,
        "first_loss": side.first_loss}


def check_losses(sides):
    """The same first loss: all sides do the same work."""
    expected = sides[0].first_loss
    for side in sides:
        if abs(side.first_loss - expected) > 1e-4 * abs(expected):
            fail(f"the first loss is {side.first_loss} with {side.name} and "
                 f"{expected} with {sides[0].name}")


def chosen(arguments):
    if not arguments.configuration:
        return CONFIGURATIONS
    configurations = []
    for text in arguments.configuration:
        name, equals, options = text.partition("=")
        if not equals or not name:
            fail(f"'{text}' is not of the form NAME=ARGUMENTS")
        rules = {n: rule for n, _, rule in CONFIGURATIONS}
        configurations.append((name, options, rules.get(name)))
    return configurations


def check_arguments(arguments):
    for name, least in [("hosts", 2), ("batch", 1), ("steps", 1),
                        ("warm_up", 1), ("rounds", 1)]:
        if getattr(arguments, name) < least:
            fail(f"--{name.replace('_', '-')} is {getattr(arguments, name)}, "
                 f"expected at least {least}")
    if arguments.hosts > 200:
        fail(f"--hosts is {arguments.hosts}, expected at most 200")
    for rate in arguments.rate:
        network.bits_per_second(rate)
    if not (arguments.build / "bin" / "partita").exists():
        fail(f"{arguments.build / 'bin' / 'partita'} is missing; build it with "
             "tools/quickstart, or name a build with --build")


def stop(number, _):
    raise SystemExit(128 + number)


def run(arguments):
    arguments.folder = arguments.folder.resolve()
    arguments.build = arguments.build.resolve()
    for number in [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]:
        signal.signal(number, stop)
    try:
        check_arguments(arguments)
        network.check_rights()
        run_all(arguments)
    except network.NetworkError as error:
        fail(error)


def run_all(arguments):
    print(f"{arguments.hosts} hosts on {os.cpu_count()} cores, one rank and "
          f"one thread each; {arguments.rounds} rounds of {arguments.steps} "
          f"steps after {arguments.warm_up}, taking turns")
    results = []
    with network.Cluster(arguments.hosts, keep=arguments.keep) as cluster:
        for net in arguments.nets:
            bench = Bench(net, arguments)
            results += bench.run_alone(cluster)
            for rate in arguments.rate:
                results += bench.run_at(cluster, rate)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
