#===- check_export.py - exported models hold the trained weights --------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""check_export.py TOOL FOLDER MODEL...

Draws values for every parameter and running statistic of a model, exports them,
and asks the ONNX checker and onnxruntime about the result.
"""

import json
import os
import re
import struct
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper
import onnxruntime


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, values in tensors.items():
        block = values.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(values.shape),
                        "data_offsets": [len(data), len(data) + len(block)]}
        data += block
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def trained_variables(tool, path):
    """Shapes of what training writes, by name."""
    run = subprocess.run([tool, "--batch", "2", "--train-constants", path],
                         capture_output=True, text=True, check=True)
    found = re.findall(
        r'nn\.variable @("[^"]*"|\S+)\s+(?:parameter|state) : '
        r'tensor<([0-9x]*)f32>', run.stdout)
    return {name.strip('"'): [int(n) for n in dims.split("x") if n]
            for name, dims in found}


def check(tool, folder, path, rng):
    name = os.path.splitext(os.path.basename(path))[0]
    weights = os.path.join(folder, name + ".safetensors")
    exported = os.path.join(folder, name + ".trained.onnx")
    values = {key: np.abs(rng.normal(size=shape)).astype(np.float32)
              for key, shape in trained_variables(tool, path).items()}
    write_safetensors(weights, values)
    subprocess.run([tool, path, "--weights", weights, "-o", exported],
                   check=True)

    model = onnx.load(exported)
    onnx.checker.check_model(model, full_check=True)
    before = onnx.load(path)
    assert model.opset_import == before.opset_import
    found = {t.name: numpy_helper.to_array(t)
             for t in model.graph.initializer}
    for key, value in values.items():
        np.testing.assert_array_equal(found[key], value, err_msg=key)
    for node in model.graph.node:
        if node.op_type == "BatchNormalization":
            assert len(node.output) == 1, node.name
            assert not any(a.name == "training_mode" for a in node.attribute)
    session = onnxruntime.InferenceSession(exported,
                                           providers=["CPUExecutionProvider"])
    assert len(session.get_inputs()) == 1
    data = session.get_inputs()[0]
    shape = [d if isinstance(d, int) else 2 for d in data.shape]
    x = rng.normal(size=shape).astype(np.float32)
    for y in session.run(None, {data.name: x}):
        assert np.isfinite(y).all()
    left = [f for f in os.listdir(folder) if f.endswith(".tmp")]
    assert not left, left
    print(f"{name}: {len(values)} tensors")


def main():
    tool, folder, *models = sys.argv[1:]
    onnxruntime.set_default_logger_severity(3)
    rng = np.random.default_rng(5)
    for path in models:
        check(tool, folder, path, rng)


if __name__ == "__main__":
    main()
