#===- step.py - time of a training step against PyTorch -----------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""The time of a training step on one core, against PyTorch eager.

Same weights, samples, loss and optimizer (plain SGD). Both sides take turns,
so that what else the machine does meets both alike.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np
import onnx
import onnx.numpy_helper
import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test" / "Inputs"))

from torch_models import MODELS  # noqa: E402

LEARNING_RATE = 0.01
WARM_UP_STEPS = 10
# Samples to walk through again and again, in batches.
BATCHES = 16
STEP_CASES = [("lenet5", 64), ("resnet_tiny", 32)]


class StepCase:
    """One model with its data, ready to be stepped by both sides."""

    def __init__(self, name, batch, arguments):
        self.name, self.batch = name, batch
        self.folder = arguments.folder / name
        self.compiler = arguments.build / "bin" / "partita"
        self.model_file = ROOT / "test" / "Inputs" / "models" / f"{name}.onnx"
        self.write_data()
        self.compile()
        self.build_torch()

    def write_data(self):
        data = self.folder / "data"
        data.mkdir(parents=True, exist_ok=True)
        generator = np.random.default_rng(1)
        samples = self.batch * BATCHES
        self.x = generator.standard_normal(
            (samples, *MODELS[self.name][1])).astype(np.float32)
        self.y = generator.integers(0, 10, samples)
        np.save(data / "input.npy", self.x)
        np.save(data / "labels.npy", self.y)

    def compile(self):
        if not self.compiler.exists():
            sys.exit(f"bench: error: {self.compiler} is missing; build it "
                     "with tools/quickstart, or name a build with --build")
        result = subprocess.run(
            [self.compiler, "compile", self.model_file, "--ranks", "1",
             "--batch", str(self.batch), "--loss", "cross_entropy",
             "--optimizer", "sgd", "--lr", str(LEARNING_RATE),
             "-o", self.folder / "train"], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        if result.returncode:
            sys.exit(f"{result.stdout}bench: error: could not compile "
                     f"{self.model_file}")

    def build_torch(self):
        """The module of the model file, with the weights of that file."""
        weights = {
            tensor.name: torch.from_numpy(
                onnx.numpy_helper.to_array(tensor).copy())
            for tensor in onnx.load(str(self.model_file)).graph.initializer}
        self.module = MODELS[self.name][0]().train()
        missing, unknown = self.module.load_state_dict(weights, strict=False)
        missing = [m for m in missing if "num_batches_tracked" not in m]
        if missing or any("." in name for name in unknown):
            sys.exit(f"bench: error: {self.model_file} lacks {missing} or has "
                     f"{unknown} that the PyTorch module does not know")
        self.optimizer = torch.optim.SGD(self.module.parameters(),
                                         lr=LEARNING_RATE)
        self.tensors = torch.from_numpy(self.x), torch.from_numpy(self.y)
        self.torch_losses = []

    def partita_steps(self, steps):
        """Seconds of each step after the warm-up, and the first loss."""
        metrics = self.folder / "metrics.jsonl"
        subprocess.run(
            [self.folder / "train", "--ranks", "1", "--threads", "1",
             "--data", self.folder / "data", "--no-shuffle", "--quiet",
             "--epochs", str((WARM_UP_STEPS + steps) // BATCHES + 1),
             "--steps", str(WARM_UP_STEPS + steps), "--metrics", metrics],
            check=True)
        lines = [json.loads(line) for line in open(metrics)]
        lines = [line for line in lines if "step" in line]
        ends = [line["seconds"] for line in lines]
        return np.diff(ends)[WARM_UP_STEPS - 1:], lines[0]["loss"]

    def torch_steps(self, steps):
        samples, labels = self.tensors
        seconds = []
        for step in range(WARM_UP_STEPS + steps):
            start = time.perf_counter()
            first = step % BATCHES * self.batch
            # Gathered by index, as a shuffling loader does.
            index = torch.arange(first, first + self.batch)
            x, y = samples[index], labels[index]
            self.optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(self.module(x), y)
            loss.backward()
            self.optimizer.step()
            self.torch_losses.append(loss.item())
            seconds.append(time.perf_counter() - start)
        return seconds[WARM_UP_STEPS:]


def run(arguments):
    # One core each: PyTorch here, the program by inheritance.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    print(f"seconds measured on one core; PyTorch {torch.__version__} eager, "
          f"oneDNN {'on' if torch.backends.mkldnn.is_available() else 'off'};"
          f" {arguments.rounds} rounds of {arguments.steps} steps each, "
          "taking turns")
    print(f"{'model':<14}{'batch':>6}{'Partita ms':>12}{'PyTorch ms':>12}"
          f"{'ratio':>8}   ratio per round")
    for name, batch in STEP_CASES:
        if arguments.models and name not in arguments.models:
            continue
        case = StepCase(name, batch, arguments)
        ours, theirs, ratios = [], [], []
        for _ in range(arguments.rounds):
            seconds, first_loss = case.partita_steps(arguments.steps)
            ours.append(statistics.median(seconds))
            theirs.append(statistics.median(case.torch_steps(arguments.steps)))
            ratios.append(ours[-1] / theirs[-1])
        # The same first loss: both sides do the same work.
        if abs(first_loss - case.torch_losses[0]) > 1e-4 * abs(first_loss):
            sys.exit(f"bench: error: {name}: the first loss is {first_loss} "
                     f"here and {case.torch_losses[0]} in PyTorch")
        print(f"{name:<14}{batch:>6}{1e3 * statistics.median(ours):>12.2f}"
              f"{1e3 * statistics.median(theirs):>12.2f}"
              f"{statistics.median(ratios):>8.2f}   "
              f"{min(ratios):.2f} to {max(ratios):.2f}", flush=True)


def add_options(step):
    step.add_argument("models", nargs="*", metavar="MODEL",
                      help="default: " + " ".join(n for n, _ in STEP_CASES))
    step.add_argument("--rounds", type=int, default=7)
    step.add_argument("--steps", type=int, default=100,
                      help="measured steps a round, after "
                      f"{WARM_UP_STEPS} to warm up")
