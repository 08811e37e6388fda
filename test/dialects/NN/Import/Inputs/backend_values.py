#===- backend_values.py - compares imports with ONNX's test data --------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Imports the models of ONNX's backend tests and compares their results.

    backend_values.py TOOL DATA WORK LEAST PATTERN...

DATA is a folder of test folders, each with model.onnx and test_data_set_0.
Inputs that shapes depend on are turned into initializers first. A model that
the importer refuses must be refused with a diagnostic; one that it accepts must
give the expected values. Prints a line per wrong model and a summary; fails
also when fewer than LEAST models come out right.
"""

import fnmatch
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper
import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import nn_interpreter  # noqa: E402


def load_tensor(path):
    tensor = onnx.TensorProto()
    with open(path, "rb") as file:
        tensor.ParseFromString(file.read())
    return tensor


def to_torch(tensor):
    if tensor.data_type == onnx.TensorProto.BFLOAT16:
        words = tensor.raw_data or np.array(tensor.int32_data, np.uint16)
        bits = np.frombuffer(words, np.uint16).astype(np.uint32) << 16
        return torch.from_numpy(bits.view(np.float32)).reshape(
            list(tensor.dims)).bfloat16()
    array = numpy_helper.to_array(tensor)
    if array.dtype in (np.uint16, np.uint32, np.uint64):
        array = array.astype(np.int64)
    return torch.from_numpy(np.array(array))


class Case:
    def __init__(self, folder, work):
        self.name = os.path.basename(folder)
        self.model = onnx.load(os.path.join(folder, "model.onnx"))
        data = os.path.join(folder, "test_data_set_0")
        count = len([f for f in os.listdir(data) if f.startswith("input_")])
        self.path = os.path.join(work, self.name + ".onnx")
        names = [i.name for i in self.model.graph.input]
        known = {t.name for t in self.model.graph.initializer}
        names = [n for n in names if n not in known] + [
            n for n in names if n in known]
        self.inputs = {}
        for i in range(count):
            tensor = load_tensor(os.path.join(data, f"input_{i}.pb"))
            self.inputs[names[i]] = tensor
        self.outputs = []
        for i, _ in enumerate(self.model.graph.output):
            path = os.path.join(data, f"output_{i}.pb")
            self.outputs.append(load_tensor(path)
                                if os.path.exists(path) else None)

    def write(self, fixed):
        """The model with the inputs `fixed` as initializers."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        for name in fixed:
            tensor = model.graph.initializer.add()
            tensor.CopyFrom(self.inputs[name])
            tensor.name = name
        onnx.save(model, self.path)

    def run(self, tool, fixed):
        """None when all values are right, else what is wrong."""
        self.write(fixed)
        run = subprocess.run([tool, "--generic", self.path],
                             capture_output=True, text=True, errors="replace")
        if run.returncode == 1 and "error: " in run.stderr:
            return "refused: " + run.stderr.strip().splitlines()[0]
        if run.returncode != 0:
            return f"exit {run.returncode}: {run.stderr.strip()[-300:]}"
        module = nn_interpreter.Module(run.stdout)
        results = module.run({
            name: to_torch(tensor)
            for name, tensor in self.inputs.items() if name not in fixed})
        for output, expected in zip(self.model.graph.output, self.outputs):
            if output.name not in results or expected is None:
                continue
            message = self.compare(results[output.name], to_torch(expected))
            if message:
                return f"{output.name}: {message}"
        return None

    def compare(self, found, expected):
        if list(found.shape) != list(expected.shape):
            return f"shape {list(found.shape)}, expected " \
                   f"{list(expected.shape)}"
        if found.dtype != expected.dtype:
            return f"type {found.dtype}, expected {expected.dtype}"
        if not found.dtype.is_floating_point:
            return None if torch.equal(found, expected) else "other values"
        tolerance = 1e-3 if found.dtype == torch.float16 else 1e-5
        if torch.allclose(found.double(), expected.double(), rtol=tolerance,
                          atol=tolerance / 10, equal_nan=True):
            return None
        worst = (found.double() - expected.double()).abs().max().item()
        return f"values differ by {worst:g}"


# Random results, and bfloat16 data that ONNX 1.12's helpers store as integers.
SKIPPED = ["test_training_dropout", "test_training_dropout_default",
           "test_cast*BFLOAT16*"]


def tensors_only(case):
    return all(i.type.HasField("tensor_type")
               for i in list(case.model.graph.input)
               + list(case.model.graph.output))


def check(case, tool):
    integers = [n for n, t in case.inputs.items()
                if t.data_type in (onnx.TensorProto.INT64,
                                   onnx.TensorProto.INT32)]
    names = list(case.inputs)
    attempts = [[], integers, names[1:]]
    message = ""
    for i, fixed in enumerate(attempts):
        if fixed == names or fixed in attempts[:i]:
            continue
        message = case.run(tool, fixed)
        if not message or not message.startswith("refused"):
            return message
    return message


def main():
    tool, data, work, least = sys.argv[1:5]
    patterns = sys.argv[5:] or ["*"]
    os.makedirs(work, exist_ok=True)
    right, refused, wrong = 0, [], []
    for name in sorted(os.listdir(data)):
        if not any(fnmatch.fnmatch(name, p) for p in patterns) \
                or any(fnmatch.fnmatch(name, p) for p in SKIPPED):
            continue
        try:
            case = Case(os.path.join(data, name), work)
            if not tensors_only(case):
                continue
            message = check(case, tool)
        except Exception as error:  # noqa: BLE001 - any fault is a finding
            message = f"{type(error).__name__}: {error}"
        if not message:
            right += 1
        elif message.startswith("refused"):
            refused.append((name, message))
        else:
            wrong.append((name, message))
    if os.environ.get("SHOW_REFUSED"):
        for name, message in refused:
            print(f"{name}: {message}")
    for name, message in wrong:
        print(f"wrong: {name}: {message}")
    print(f"{right} right, {len(refused)} refused, {len(wrong)} wrong")
    return 1 if wrong or right < int(least) else 0


if __name__ == "__main__":
    sys.exit(main())
