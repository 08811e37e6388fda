# Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks weights.safetensors of weights.mlir against rules written here again.

usage: check_weights.py write FILE | check FILE SAFETENSORS
"""

import json
import math
import struct
import sys

import numpy as np


def philox(counter, key):
    """Philox 4x32-10 of Salmon et al., 2011."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF,
             (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def draw(rule, scale, seed, stream, count):
    values = []
    for i in range(count):
        w = philox((i // 4, 0, 0, 0),
                   (seed & 0xFFFFFFFF, (seed >> 32) ^ stream))
        u = [(x >> 8) * 2.0**-24 for x in w]
        k = i % 4
        if rule == "uniform":
            values.append(scale * (2 * u[k] - 1))
            continue
        pair = k // 2 * 2
        radius = math.sqrt(-2 * math.log(1 - u[pair]))
        angle = 2 * math.pi * u[pair + 1]
        values.append(scale * radius *
                      (math.sin(angle) if k % 2 else math.cos(angle)))
    return np.array(values)


def main():
    # Known answer of the authors' test vectors, so that both sides are right.
    assert philox((0, 0, 0, 0), (0, 0)) == [
        0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    file_values = np.arange(-7, 900000, dtype="<f4")
    if sys.argv[1] == "write":
        file_values.tofile(sys.argv[2])
        return
    with open(sys.argv[3], "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        assert length % 8 == 0
        header = json.loads(file.read(length))
        data = file.read()
    end = 0
    found = {}
    types = {"F32": "<f4", "F64": "<f8", "F16": "<f2", "BOOL": "?",
             "I64": "<i8"}
    for name, entry in header.items():
        assert entry["data_offsets"][0] == end, name
        begin, end = entry["data_offsets"]
        found[name] = np.frombuffer(
            data[begin:end], types[entry["dtype"]]).reshape(entry["shape"])
    assert end == len(data)
    assert list(found) == ["file/\u91cd", "uniform", "normal", "half", "table",
                           "flags", "numbers"], list(found)
    assert (found["file/\u91cd"] == file_values[3:].reshape(2, -1)).all()
    big = 0x123456789ABCDEF
    assert np.array_equal(
        found["uniform"], draw("uniform", 0.25, 7, 3, 10).astype("f4"))
    normal = draw("normal", 0.05, big, 5, 4001)
    assert np.allclose(found["normal"], normal, rtol=1e-14, atol=0)
    assert abs(normal.mean()) < 0.003 and abs(normal.std() - 0.05) < 0.002
    assert np.array_equal(
        found["half"], draw("normal", 1.0, 0, 1, 8).astype("<f2"))
    assert np.array_equal(found["table"],
                          np.array([[1, 2.5], [-3, np.inf]], "f4"))
    assert list(found["flags"]) == [True, False, False, True, True]
    assert list(found["numbers"]) == [-1, 2**40]
    print("ok")


main()
