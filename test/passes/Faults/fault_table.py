#===- fault_table.py - Do the verifiers reject what is wrong? ------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Injects every kind of fault into several programs and prints what rejects it.

    fault_table.py partita partita-opt MODELS OUT [--seeds N]

Each line of the table is one kind: in how many programs and places it was
injected, how many of these a verifier rejected, and the first message. Kinds
whose faults leave every value where it is are in NUMERIC: only a comparison of
numbers finds them. The exit code says whether all others were always rejected,
every kind had a place, and the programs without faults were accepted.
"""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

# Name, model, batch and how it is split.
PROGRAMS = [
    ("conv-2x2", "lenet5", 5,
     ["--grid", "pr=2,pc=2", "--split", "*=batch:pr,domain.h:pc"]),
    ("resnet-2x2", "resnet_tiny", 4,
     ["--grid", "pr=2,pc=2", "--split", "*=batch:pr,domain.h:pc"]),
    ("mlp-model", "mlp", 6,
     ["--grid", "pr=2,pc=2", "--split", "*=batch:pr,model:pc"]),
    ("mlp-model-in", "mlp", 6,
     ["--grid", "pr=2,pc=3", "--split", "*=batch:pr,model.in:pc"]),
    ("mlp-two-axes", "mlp", 8,
     ["--grid", "pr=2,pc=2", "--split", "*=batch:pr+pc"]),
    ("mlp-empty", "mlp", 2, ["--ranks", "4"]),
    ("tied", "gpt_tiny", 4, ["--class-axis=-1", "--ranks", "3"]),
]

# What only numbers tell, and why.
NUMERIC = {
    "operand-order": "the values lie right; they are others",
    "other-number-everywhere": "the constant is no scale of a mean, and all "
    "classes agree",
}

MESSAGE = re.compile(r"error: (.*)")


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def inject(opt, program, kind, seed):
    """None without a place; else (places, verifier or None, message)."""
    result = run([opt, str(program), "-o", "/dev/null",
                  f"--partita-inject-fault=kind={kind} seed={seed}",
                  "--partita-verify-partition"])
    text = result.stderr
    if "has no place for the fault" in text:
        return None
    place = re.search(r"place \d+ of (\d+)", text)
    if not place:
        raise SystemExit(f"{program.name}, {kind}, seed {seed}: {text}")
    messages = MESSAGE.findall(text)
    if result.returncode == 0 or not messages:
        return int(place.group(1)), None, ""
    contract = "contract of the partition phase: "
    name = ("partita-verify-partition" if contract in messages[0]
            else "the operation's own rules")
    return int(place.group(1)), name, messages[0].replace(contract, "")


def inject_all(opt, program, kind, seeds):
    """What became of the fault at up to `seeds` places, evenly spread."""
    first = inject(opt, program, kind, 0)
    if not first:
        return {}
    results = {0: first[1:]}
    for seed in {i * first[0] // seeds for i in range(1, seeds)} - {0}:
        results[seed] = inject(opt, program, kind, seed)[1:]
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("partita")
    parser.add_argument("opt")
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    failed = False
    programs = []
    for name, model, batch, split in PROGRAMS:
        path = arguments.out / f"{name}.mlir"
        result = run([arguments.partita, "compile",
                      str(arguments.models / f"{model}.onnx"), "--loss",
                      "cross_entropy", "--batch", str(batch), "--emit", "spmd",
                      "-o", str(path)] + split)
        if result.returncode:
            raise SystemExit(result.stderr)
        result = run([arguments.opt, str(path), "-o", "/dev/null",
                      "--partita-verify-partition"])
        failed |= result.returncode != 0
        print(f"program {name}: {model}, batch {batch}, {' '.join(split)}:",
              "rejected" if result.returncode else "accepted")
        programs.append(path)
    kinds = [line.split(":")[0] for line in run(
        [arguments.opt, str(programs[0]), "-o", "/dev/null",
         "--partita-inject-fault=kind=list"]).stdout.splitlines()]
    for kind in kinds:
        with concurrent.futures.ThreadPoolExecutor() as pool:
            found = pool.map(
                lambda program, kind=kind: inject_all(
                    arguments.opt, program, kind, arguments.seeds), programs)
        places = {(program.stem, place): one
                  for program, results in zip(programs, found)
                  for place, one in results.items()}
        rejected = {key: one for key, one in places.items() if one[0]}
        print(f"fault {kind}: {len(places)} places in "
              f"{len({key[0] for key in places})} programs, {len(rejected)} "
              "rejected")
        by = sorted({one[0] for one in rejected.values()})
        for verifier in by:
            message = next(one[1] for one in rejected.values()
                           if one[0] == verifier)
            print(f"  by {verifier}: {message}")
        if len(rejected) < len(places):
            for key in sorted(places.keys() - rejected.keys()):
                print(f"  not rejected: {key[0]}, place {key[1]}")
            if kind in NUMERIC:
                print(f"  numeric comparison only: {NUMERIC[kind]}")
        failed |= not places
        failed |= len(rejected) < len(places) and kind not in NUMERIC
    return failed


if __name__ == "__main__":
    sys.exit(main())
