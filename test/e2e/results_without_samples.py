#===- results_without_samples - results of whole batches -----------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Train models whose results do not all go with the samples.

usage: results_without_samples.py PARTITA WORKDIR

A normalisation over the whole batch with its mean as second result, and a
model whose loss is one number for the batch, alone and beside a prediction.
The compiler warns once of every result it leaves out; three SGD steps and the
prediction after them must be PyTorch's, within 1e-4 of their norm; what a
program cannot do it must say.
"""

import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(__file__))

import numpy as np
import onnx
import torch
from compare_with_pytorch import read_safetensors
from onnx import TensorProto, helper, numpy_helper

BATCH, WIDE, NARROW = 6, 5, 3
STEPS = 3
RATE = 0.05
TOLERANCE = 1e-4
EPSILON = 1e-5


def save_model(path, nodes, weights, results):
    """`results`: names and shapes."""
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in [("x", [BATCH, WIDE]), *results]
    ]
    graph = helper.make_graph(
        nodes, "results", values[:1], values[1:],
        [numpy_helper.from_array(w, name) for name, w in weights.items()],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)]
    )
    model.ir_version = 8
    onnx.save(model, path)


def run(command, status=0):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != status:
        sys.exit(
            "expected status %d, found %d: %s\n%s%s"
            % (status, result.returncode, " ".join(command), result.stdout,
               result.stderr)
        )
    return result


def expect_near(what, found, expected):
    expected = np.asarray(expected)
    if found.shape != expected.shape:
        sys.exit("%s: shape %s, expected %s"
                 % (what, found.shape, expected.shape))
    error = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    print(what, "%.1e" % error)
    if not error <= TOLERANCE:
        sys.exit("%s: relative error %.2e" % (what, error))


def expect_warnings(text, left_out, evaluates):
    """One warning for each result left out, and nothing else of the kind."""
    for name, shape in left_out:
        start = ("partita: warning: 'model': output '%s' with type"
                 " 'tensor<%s>' is left out of predictions: its first dimension"
                 " is not the batch of %d samples\n" % (name, shape, BATCH))
        if text.count(start) != 1:
            sys.exit("expected once '%s', found\n%s" % (start, text))
    if text.count(": warning: ") != len(left_out):
        sys.exit("expected %d warnings, found\n%s" % (len(left_out), text))
    cannot = "so that the program cannot evaluate (--eval)\n"
    if text.count(cannot) != (not evaluates):
        sys.exit("whether it can evaluate: found\n%s" % text)


def check(partita, workdir, name, model, ranks):
    """One model on some ranks, as its entry in main() says."""
    folder = os.path.join(workdir, name + str(ranks))
    data = os.path.join(folder, "data")
    os.makedirs(data)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((BATCH, WIDE), dtype=np.float32)
    np.save(os.path.join(data, "x.npy"), x)
    labels = None
    if model["labels"]:
        labels = rng.standard_normal((BATCH, NARROW), dtype=np.float32)
        np.save(os.path.join(data, "labels.npy"), labels)
    weights = {"w": rng.standard_normal((WIDE, NARROW), dtype=np.float32)}
    for key, value in model["weights"].items():
        weights[key] = value
    file = os.path.join(folder, "model.onnx")
    save_model(file, model["nodes"], weights, model["results"])
    program = os.path.join(folder, "train")
    text = run(
        [partita, "compile", file, "--loss", model["loss"], "--lr", str(RATE)]
        + ["--ranks", str(ranks), "-o", program]
    ).stderr
    expect_warnings(text, model["left out"], model["evaluates"])

    # What PyTorch says.
    at = {k: torch.tensor(v, dtype=torch.float64) for k, v in weights.items()}
    at["x"] = torch.tensor(x, dtype=torch.float64)
    if labels is not None:
        at["labels"] = torch.tensor(labels, dtype=torch.float64)
    trained = [at[key].requires_grad_() for key in weights]
    optimizer = torch.optim.SGD(trained, lr=RATE)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model["torch"](at)[0]
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    prediction = model["torch"](at)[1].detach().numpy()

    def start(*options, status=0):
        return run([program, "--data", data, *options], status)

    metrics = os.path.join(folder, "metrics.jsonl")
    saved = os.path.join(folder, "saved")
    start("--steps", str(STEPS), "--no-shuffle", "--metrics", metrics,
          "--save", saved, "--check-replicas")
    with open(metrics) as lines:
        found = [json.loads(line) for line in lines]
    label = "%s on %d ranks: " % (name, ranks)
    expect_near(label + "losses",
                np.array([f["loss"] for f in found if "loss" in f]), losses)
    parameters = os.path.join(saved, "parameters.safetensors")
    for key, value in read_safetensors(parameters).items():
        expect_near(label + key, value, at[key].detach().numpy())

    if model["evaluates"]:
        said = start("--eval").stdout
        if "evaluation  " not in said:
            sys.exit("expected an evaluation, found\n" + said)
    else:
        said = start("--eval", status=2).stderr
        if "--eval: this program cannot evaluate" not in said:
            sys.exit("expected a refusal of --eval, found\n" + said)
    predicted = os.path.join(folder, "predicted")
    if model["predicts"]:
        start("--weights", parameters, "--predict", predicted)
        if os.listdir(predicted) != ["y.npy"]:
            sys.exit("expected y.npy, found %s" % os.listdir(predicted))
        expect_near(label + "prediction",
                    np.load(os.path.join(predicted, "y.npy")), prediction)
    else:
        said = start("--predict", predicted, status=2).stderr
        if "--predict: this program has no outputs to predict" not in said:
            sys.exit("expected a refusal of --predict, found\n" + said)


def normalized(at):
    h = at["x"] @ at["w"]
    h = torch.nn.functional.layer_norm(h, h.shape, eps=EPSILON)
    y = h * at["scale"] + at["bias"]
    return ((y - at["labels"]) ** 2).mean(), y


def costly(at):
    y = torch.tanh(at["x"] @ at["w"])
    return ((y - 0.5) ** 2).mean(), y


def main():
    partita, workdir = sys.argv[1:]
    product = helper.make_node("MatMul", ["x", "w"], ["h"], name="fc")
    cost = [
        product,
        helper.make_node("Tanh", ["h"], ["y"], name="tanh"),
        helper.make_node("Sub", ["y", "half"], ["d"], name="difference"),
        helper.make_node("Mul", ["d", "d"], ["s"], name="square"),
        helper.make_node("ReduceMean", ["s"], ["cost"], name="mean",
                         keepdims=0),
    ]
    half = helper.make_node(
        "Constant", [], ["half"], name="half",
        value=numpy_helper.from_array(np.float32(0.5), "half"))
    normalization = helper.make_node(
        "LayerNormalization", ["h", "scale", "bias"], ["y", "mean"],
        name="norm", axis=0, epsilon=EPSILON)
    shape = (BATCH, NARROW)
    models = {
        "normalization": {
            "nodes": [product, normalization],
            "weights": {"scale": np.full(shape, 1.5, np.float32),
                        "bias": np.full(shape, 0.25, np.float32)},
            "results": [("y", shape), ("mean", [1, 1])],
            "loss": "mse", "labels": True, "torch": normalized,
            "left out": [("mean", "1x1xf32")],
            "evaluates": True, "predicts": True, "ranks": [1],
        },
        "cost": {
            "nodes": [half, *cost], "weights": {},
            "results": [("y", shape), ("cost", [])],
            "loss": "output:cost", "labels": False, "torch": costly,
            "left out": [("cost", "f32")],
            "evaluates": False, "predicts": True, "ranks": [1, 2],
        },
        "cost-alone": {
            "nodes": [half, *cost], "weights": {},
            "results": [("cost", [])],
            "loss": "output:cost", "labels": False, "torch": costly,
            "left out": [("cost", "f32")],
            "evaluates": False, "predicts": False, "ranks": [1],
        },
    }
    for name, model in models.items():
        for ranks in model["ranks"]:
            check(partita, workdir, name, model, ranks)


if __name__ == "__main__":
    main()
