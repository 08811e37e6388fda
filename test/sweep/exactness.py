#!/usr/bin/env python3
#===- exactness - every split trains as one rank does --------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Trains models under many splits and compares with one rank.

usage: exactness.py PARTITA LINK-FILE WORKDIR MODEL... [--batch N]
           [--single 2,3,4] [--random N] [--grids 2x2,2x3,2x2x2]
           [--methods N] [--ranks 2,3,4,8]
           [--alone] [--seed N] [--limit N] [--jobs N] [--channel threads|mpi]

Plans are every legal split of one dimension of every layer over one axis
(--single: of these sizes) and random mixes, where every layer draws its own
split (--random: how many for each model). Splits of one dimension are packed:
plan i splits the i-th dimension of each layer, and where such a plan fails its
layers are tried one by one; with --alone each has a plan of its own. Of each program: losses of five
steps within 1e-5, the first step's gradients and the parameters after five
steps within 1e-4 of their norm, copies bit-equal on all ranks; for every fifth
also loss and accuracy of --eval and the outputs of --predict. --methods N adds
mixes in which every parameter draws how its gradient is combined (all_reduce
by each algorithm, parameter_server, factor_broadcast where it is legal), by
turns under data parallelism over --ranks and under random splits, and in which
servers, bucket size and all switches of overlap are drawn; these run without the norms
and gradients of each step, so that steps overlap. Programs are compiled without
optimisation, for there are many of them.
"""

import argparse
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys

import numpy as np

STEPS = 5
LOSS, NORM = 1e-5, 1e-4
# A tensor that rounding of the parameters moves by more than NORM / 4 (gradients
# that cancel, as those of a scale before another normalisation) may differ by
# this many times as much: ranks round every sum they add up otherwise.
NOISES = 4
SEED = "1"


def read_safetensors(path):
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            flat = np.frombuffer(data[begin:end], dtype="<f4")
            tensors[name] = flat.reshape(entry["shape"]).astype(np.float64)
    return tensors


def round_otherwise(path, seed):
    """Moves every parameter to one of its two neighbours in single precision."""
    with open(path, "rb") as file:
        content = file.read()
    begin = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:begin])
    draw = np.random.default_rng(seed)
    data = bytearray(content[begin:])
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        first, last = entry["data_offsets"]
        values = np.frombuffer(bytes(data[first:last]), dtype="<f4")
        up = np.where(draw.random(values.shape) < 0.5, np.inf, -np.inf)
        moved = np.nextafter(values, up.astype(np.float32))
        # Zeros stay: their neighbours are no rounding of theirs.
        data[first:last] = np.where(values == 0, values, moved).astype(
            "<f4").tobytes()
    with open(path, "wb") as file:
        file.write(content[:begin] + bytes(data))


def run(command, limit=300, env=None):
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=limit, env=env
    )
    if result.returncode:
        text = (result.stderr or result.stdout).strip()
        raise RuntimeError("%s\n%s" % (" ".join(command)[:300], text[:2000]))
    return result


class Toolchain:
    """Compiles emitted sources fast: -O0, one precompiled header."""

    def __init__(self, link_file, workdir):
        folder = os.path.dirname(os.path.abspath(link_file))
        self.compile, self.link = [], []
        for line in open(link_file):
            kind, _, text = line.rstrip("\n").partition(" ")
            path = os.path.normpath(os.path.join(folder, text))
            if kind == "include":
                self.compile.append("-I" + path)
            elif kind == "compile":
                self.compile.append(text)
            elif kind == "library":
                self.link.append(path)
            elif kind == "link":
                self.link.append(text)
        self.header = os.path.join(workdir, "pch", "all.h")
        os.makedirs(os.path.dirname(self.header), exist_ok=True)
        with open(self.header, "w") as file:
            for name in ("partita/kernels.h", "partita/program.h",
                         "partita/redistribution.h"):
                file.write('#include "%s"\n' % name)
            for name in ("cmath", "cstdint", "initializer_list", "memory",
                         "optional", "utility", "vector"):
                file.write("#include <%s>\n" % name)
        # clang compiles twice as fast as gcc.
        clang = shutil.which("clang++-19")
        self.compiler = [clang or "g++", "-std=c++17", "-O0", "-w"]
        self.compiler += ["-fopenmp-simd"] + [
            flag for flag in self.compile
            if not (clang and flag == "-fopenmp")  # The library has gcc's.
        ]
        pch = self.header + (".pch" if clang else ".gch")
        run(self.compiler + ["-x", "c++-header", self.header, "-o", pch])
        self.include = (["-include-pch", pch] if clang
                        else ["-include", self.header])

    def build(self, folder, program):
        object_file = program + ".o"
        run(self.compiler + self.include
            + ["-c", os.path.join(folder, "train.cpp"), "-o", object_file])
        run(["g++", object_file, "-o", program] + self.link)


class Model:
    def __init__(self, arguments, path, workdir):
        self.partita, self.path = arguments.partita, path
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.workdir = os.path.join(workdir, self.name)
        os.makedirs(self.workdir, exist_ok=True)
        # Steps so small that a ReLU6 which rounding turns does not decide what
        # the next steps do; mobilenet's are many (test/Inputs/README.md).
        rate = "1e-5" if self.name.startswith("mobilenet") else "0.01"
        self.options = ["--batch", str(arguments.batch), "--lr", rate]
        if self.name.startswith("gpt"):
            self.options.append("--class-axis=-1")

    def compile(self, options, *rest):
        return subprocess.run(
            [self.partita, "compile", self.path, "--quiet"] + self.options
            + options + list(rest),
            capture_output=True, text=True, timeout=300,
        )

    def layers(self):
        """Name of each layer -> {dimension: size}, as diagnostics list them."""
        refused = self.compile(
            ["--grid", "a=2", "--split", "*=nothing:a",
             "--split", "loss=nothing:a"], "--emit=plan",
        )
        result = {}
        for line in refused.stderr.splitlines():
            match = re.match(r"partita: error: '(.*?)': --split .* is (.*)", line)
            if match:
                found = result.setdefault(match[1], {})
                for dim, size in re.findall(r"(\w+) = (\d+)", match[2]):
                    found.setdefault(dim, int(size))
        return result

    def parameters(self, options):
        """Name of each parameter -> whether its factors can be broadcast."""
        plan = self.compile(options + ["--sync", "*=factor_broadcast"],
                            "--emit=plan-file")
        if plan.returncode:  # None has factors.
            plan = self.compile(options, "--emit=plan-file")
        if plan.returncode:
            raise RuntimeError("compile: " + plan.stderr.strip()[:2000])
        return {
            name: entry["sync"] == "factor_broadcast"
            for name, entry in json.loads(plan.stdout)["parameters"].items()
        }

    def can_serve(self, options, servers):
        """Whether some parameter is left to servers."""
        plan = self.compile(options + ["--servers", str(servers)],
                            "--emit=plan-file")
        if plan.returncode and "no parameter for them" not in plan.stderr:
            raise RuntimeError("compile: " + plan.stderr.strip()[:2000])
        return plan.returncode == 0


class Sweep:
    def __init__(self, arguments, model, tools):
        self.model, self.tools = model, tools
        self.channel = arguments.channel
        self.reference = None
        # How far one rank differs from itself when every parameter is rounded
        # to a neighbouring number: what single precision leaves undefined.
        self.noise = {}
        self.worst = {"loss": 0.0, "gradient": 0.0, "parameter": 0.0}

    def measure(self):
        """Trains on one rank, and again with parameters rounded otherwise."""
        self.reference = self.train("one", [], 1, evaluate=True)
        for seed in (1, 2):
            other = self.train("rounded%d" % seed, [], 1, rounding=seed)
            for step, (a, b) in enumerate(zip(other[0], self.reference[0])):
                key = ("loss", str(step))
                self.noise[key] = max(self.noise.get(key, 0.0), abs(a / b - 1))
            for what, mine, theirs in (
                ("gradient", other[1], self.reference[1]),
                ("parameter", other[2], self.reference[2]),
            ):
                for name, expected in theirs.items():
                    error = np.linalg.norm(mine[name] - expected)
                    key = (what, name)
                    self.noise[key] = max(self.noise.get(key, 0.0), error)

    def train(self, label, options, ranks, evaluate=False, rounding=0,
              norms=True, servers=0):
        folder = os.path.join(self.model.workdir, label)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        source = os.path.join(folder, "train.src")
        emitted = self.model.compile(options, "--emit=source", "-o", source)
        if emitted.returncode:
            raise RuntimeError("compile: " + emitted.stderr.strip()[:2000])
        program = os.path.join(folder, "train")
        self.tools.build(source, program)
        if rounding:
            round_otherwise(os.path.join(source, "weights.safetensors"),
                            rounding)
        metrics = os.path.join(folder, "metrics.jsonl")
        command = [program]
        if self.channel == "mpi" and ranks > 1:
            command = ["mpirun", "--allow-run-as-root", "--oversubscribe",
                       "-np", str(ranks + servers), program]
        elif ranks > 1:
            command += ["--ranks", str(ranks + servers)]
        predictions = os.path.join(folder, "predictions")
        if evaluate:
            command += ["--eval", "--predict", predictions]
        output = run(command + [
            "--synthetic", "--seed", SEED, "--steps", str(STEPS),
            "--check-replicas", "--metrics", metrics, *(
                ["--grad-norm"] if norms else []),
            "--dump-step",
            os.path.join(folder, "gradients.safetensors"),
            "--save", os.path.join(folder, "saved"),
        ], env=dict(os.environ, OMP_NUM_THREADS="1"))
        lines = [json.loads(line) for line in open(metrics)]
        losses = [line.get("loss") for line in lines]
        norm = next(line["grad_norm"] for line in lines
                    if "loss" in line) if norms else None
        result = (
            np.array([loss for loss in losses if loss is not None]),
            read_safetensors(os.path.join(folder, "gradients.safetensors")),
            read_safetensors(
                os.path.join(folder, "saved", "parameters.safetensors")),
            self.evaluation(output.stdout + output.stderr, predictions)
            if evaluate else None,
            norm,
        )
        shutil.rmtree(folder, ignore_errors=True)
        return result

    @staticmethod
    def evaluation(text, predictions):
        """What --eval prints and --predict writes."""
        match = re.search(
            r"evaluation +loss ([0-9.e+-]+)(?:, accuracy ([0-9.]+))?", text)
        if not match:
            raise RuntimeError("no evaluation in:\n" + text[-500:])
        files = [predictions]
        if os.path.isdir(predictions):
            files = [os.path.join(predictions, name)
                     for name in sorted(os.listdir(predictions))]
        elif not os.path.exists(predictions):
            files = [predictions + ".npy"]
        outputs = [np.load(name).astype(np.float64) for name in files]
        return float(match[1]), float(match[2] or 0), outputs

    def compare_evaluation(self, mine, theirs):
        problems = []
        if abs(mine[0] / theirs[0] - 1) > 2e-5:
            problems.append("evaluation: loss %g, expected %g"
                            % (mine[0], theirs[0]))
        # One sample of 512 may lie on the border.
        if abs(mine[1] - theirs[1]) > 0.2:
            problems.append("evaluation: accuracy %g, expected %g"
                            % (mine[1], theirs[1]))
        for a, b in zip(mine[2], theirs[2]):
            error = np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-30)
            if a.shape != b.shape or not error <= NORM:
                problems.append("predictions off by %.1e" % error)
        return problems

    def compare(self, found):
        problems = []

        def note(what, name, error, allowed):
            self.worst[what] = max(self.worst[what], error)
            if not error <= allowed:
                problems.append("%s %s off by %.1e" % (what, name, error))

        losses, gradients, parameters, evaluation, norm = self.reference
        # The norm the program reports is that of the gradients it writes.
        written = np.sqrt(sum(np.sum(g * g) for g in found[1].values()))
        for expected in (norm, written) if found[4] is not None else ():
            if not abs(found[4] / expected - 1) <= NORM:
                problems.append("gradient norm %g, expected %g"
                                % (found[4], expected))
        if found[3]:
            problems += self.compare_evaluation(found[3], evaluation)
        if len(found[0]) != len(losses):
            return ["%d losses, expected %d" % (len(found[0]), len(losses))]
        for step, (a, b) in enumerate(zip(found[0], losses)):
            noise = self.noise.get(("loss", str(step)), 0.0)
            note("loss", str(step), abs(a / b - 1), max(LOSS, NOISES * noise))
        for what, mine, theirs in (("gradient", found[1], gradients),
                                   ("parameter", found[2], parameters)):
            if set(mine) != set(theirs):
                problems.append("%ss have other names" % what)
                continue
            # A tensor that is zero but for rounding is measured by the others.
            largest = max(np.linalg.norm(x) for x in theirs.values())
            for name, expected in theirs.items():
                norm = max(np.linalg.norm(expected), 1e-4 * largest)
                error = np.linalg.norm(mine[name] - expected) / norm
                noise = self.noise.get((what, name), 0.0) / norm
                note(what, name, error, max(NORM, NOISES * noise))
        return problems

    def check(self, label, options, ranks, evaluate=False, norms=True,
              servers=0):
        try:
            return self.compare(
                self.train(label, options, ranks, evaluate=evaluate,
                           norms=norms, servers=servers))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            return [str(error)]


def packed_plans(layers, sizes):
    for i in range(max(len(dims) for dims in layers.values())):
        for size in sizes:
            chosen = {}
            for at, (name, dims) in enumerate(layers.items()):
                # Neighbours start at different dimensions.
                dims = list(dims)
                if i < len(dims):
                    chosen[name] = dims[(i + at) % len(dims)]
            options = ["--grid", "a=%d" % size]
            for name, dim in chosen.items():
                options += ["--split", "%s=%s:a" % (name, dim)]
            yield "dimension %d over %d" % (i, size), options, size


def single_plans(layers, sizes):
    for name, dims in layers.items():
        for dim in dims:
            for size in sizes:
                yield ("%s=%s over %d" % (name, dim, size),
                       ["--grid", "a=%d" % size,
                        "--split", "%s=%s:a" % (name, dim)], size)


def random_plans(layers, grids, count, draw):
    for i in range(count):
        sizes = [int(size) for size in grids[i % len(grids)].split("x")]
        axes = ["a", "b", "c", "d"][: len(sizes)]
        options = ["--grid",
                   ",".join("%s=%d" % each for each in zip(axes, sizes))]
        for name, dims in layers.items():
            if draw.random() < 0.25:
                continue
            items, free = {}, list(axes)
            draw.shuffle(free)
            for axis in free:
                if draw.random() < 0.2:
                    continue
                items.setdefault(draw.choice(list(dims)), []).append(axis)
            if items:
                split = ",".join("%s:%s" % (dim, "+".join(chosen))
                                 for dim, chosen in items.items())
                options += ["--split", "%s=%s" % (name, split)]
        yield "random %d" % i, options, int(np.prod(sizes))


ALGORITHMS = ["direct", "ring", "tree", "hierarchical"]


def method_plans(model, layers, grids, ranks, count, draw):
    """Mixes of methods: label, options, ranks, servers."""
    mixes = random_plans(layers, grids, count, draw)
    for i in range(count):
        if i % 2:
            _, options, size = next(mixes)
        else:
            size = ranks[i // 2 % len(ranks)]
            options = ["--ranks", str(size)]
        for name, has_factors in model.parameters(options).items():
            methods = ["parameter_server", "all_reduce", "all_reduce:"
                       + draw.choice(ALGORITHMS)]
            methods += 2 * ["factor_broadcast"] if has_factors else []
            options += ["--sync", name + "=" + draw.choice(methods)]
        if draw.random() < 0.3:
            options += ["--sync", "poseidon"]
        servers = draw.randint(1, 4) if draw.random() < 0.5 else 0
        if servers and model.can_serve(options, servers):
            options += ["--servers", str(servers)]
        else:
            servers = 0
        options += ["--bucket-size", draw.choice(["1K", "16K", "4M"])]
        for switch in ("--overlap", "--priorities", "--overlap-steps",
                       "--overlap-halos"):
            if draw.random() < 0.25:
                options += [switch, "off"]
        yield "methods %d" % i, options, size, servers


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("partita")
    parser.add_argument("link")
    parser.add_argument("workdir")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--batch", type=int, default=5)
    parser.add_argument("--single", default="")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--grids", default="2x2,2x3,2x2x2")
    parser.add_argument("--methods", type=int, default=0)
    parser.add_argument("--ranks", default="2,3,4,8")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--channel", default="threads")
    arguments = parser.parse_args()

    os.makedirs(arguments.workdir, exist_ok=True)
    tools = Toolchain(arguments.link, arguments.workdir)
    failed = total = 0
    for path in arguments.models:
        model = Model(arguments, path, arguments.workdir)
        sweep = Sweep(arguments, model, tools)
        sweep.measure()
        layers = model.layers()
        sizes = [int(size) for size in arguments.single.split(",") if size]
        draw = random.Random("%d/%s" % (arguments.seed, model.name))
        each = single_plans if arguments.alone else packed_plans
        plans = list(each(layers, sizes))
        if arguments.limit and len(plans) > arguments.limit:
            plans = draw.sample(plans, arguments.limit)
        plans += random_plans(layers, arguments.grids.split(","),
                              arguments.random, draw)
        plans = [(label, options, ranks, True, 0)
                 for label, options, ranks in plans]
        plans += [
            (label, options, ranks, False, servers)
            for label, options, ranks, servers in method_plans(
                model, layers, arguments.grids.split(","),
                [int(size) for size in arguments.ranks.split(",")],
                arguments.methods, draw)
        ]
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            jobs = [
                pool.submit(sweep.check, "plan%d" % i, options, ranks,
                            i % 5 == 0, norms, servers)
                for i, (_, options, ranks, norms, servers) in enumerate(plans)
            ]
            for (label, options, ranks, _, _), job in zip(plans, jobs):
                problems = job.result()
                total += 1
                if problems:
                    failed += 1
                    alone = []
                    if label.startswith("dimension"):
                        alone = [
                            split for split in options[3::2]
                            if sweep.check("alone", options[:2]
                                           + ["--split", split], ranks)
                        ]
                    if alone:
                        label += " (alone: %s)" % ", ".join(alone)
                    print("FAILED %s, %s:\n  partita compile %s\n  %s" % (
                        model.name, label,
                        " ".join("'%s'" % each for each in options),
                        "\n  ".join(problems[:5])), flush=True)
        print("%s: %d layers, %d plans, worst loss %.1e, gradient %.1e, "
              "parameter %.1e" % (model.name, len(layers), len(plans),
                                  sweep.worst["loss"], sweep.worst["gradient"],
                                  sweep.worst["parameter"]), flush=True)
    print("%d plans, %d failed" % (total, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
