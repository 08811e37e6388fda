#===- mutate.py - Does the checker reject what is wrong? -----------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Breaks certificates in every known way and counts what the checker rejects.

    mutate.py partita-check OUT CERTIFICATE... [--variants N] [--fault NAME]

From the certificates, which must be right, others are made that must be
right too: updates behind the next step's begin, owners and servers of
parameters, calls on both streams. Each fault is then made N times or more,
at places that a seed picks, and the checker must reject every one.
"""

import argparse
import hashlib
import pathlib
import random
import subprocess
import sys

import certificates
import faults


def accepted(checker, files):
    """The names of those of `files` that are proven, and all messages."""
    result = subprocess.run([checker, *map(str, files)], capture_output=True,
                            text=True, check=False)
    if result.returncode not in (0, 1):
        sys.exit(f"{checker} ended with {result.returncode}: {result.stderr}")
    lines = result.stdout.splitlines()
    proven = [f for f in files
              if any(line.startswith(f"{f}: proved:") for line in lines)
              or (len(files) == 1 and result.returncode == 0)]
    return proven, result.stderr


def more_programs(programs):
    """Right programs of other kinds than the compiler's own."""
    made = {}
    for name, cert in programs.items():
        step = certificates.step_of(cert["classes"][0])
        buckets = certificates.bucket_calls(cert["classes"][0])
        if not step or not buckets:
            continue
        found = certificates.on_both_streams(cert, random.Random(0))
        if found:
            made[name + "-streams"] = found[0]
        if not all(map(certificates.is_simple, cert["classes"])):
            continue
        made[name + "-late"] = certificates.with_late_updates(cert)
        made[name + "-owners"] = certificates.with_owners(cert)
        everywhere = set(certificates.significant(
            cert, certificates.axis_sizes(cert)))
        in_buckets = {use["parameter"] for _, _, uses in buckets
                      for use in uses}
        if (all(set(call["axes"]) >= everywhere for call, _, _ in buckets)
                and len(in_buckets) == len(cert["parameters"])):
            made[name + "-servers"] = certificates.with_servers(cert, 3)
    return made


def write(folder, name, cert):
    path = folder / f"{name}.json"
    path.write_text(certificates.text_of(cert))
    return path


def circles(stderr):
    """How often ranks were found to wait for each other in a circle."""
    found = stderr.count("wait for each other in a circle")
    return f"; {found} circles" if found else ""


def first_message(stderr):
    lines = stderr.splitlines()
    errors = [line.split("error: ", 1)[1] for line in lines if "error: " in line]
    return errors[0] if errors else "nothing"


def variants(fault, programs, wanted):
    """(name, text) of broken certificates, all different."""
    found = {}
    names = sorted(programs)
    right = {}
    for seed in range(40 * wanted):
        if len(found) >= wanted:
            break
        rng = random.Random(f"{fault.__name__} {seed}")
        name = names[seed % len(names)]
        broken = fault(programs[name], rng)
        if broken is None:
            continue
        text = certificates.text_of(broken)
        if name not in right:
            right[name] = certificates.text_of(programs[name])
        if text != right[name]:
            key = hashlib.sha256(text.encode()).hexdigest()
            found.setdefault(key, (f"{name}-{seed}", text))
    return list(found.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checker")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("certificates", nargs="+", type=pathlib.Path)
    parser.add_argument("--variants", type=int, default=20)
    parser.add_argument("--fault", help="this fault only")
    parser.add_argument("--keep", action="store_true",
                        help="keep the broken certificates")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    programs = {p.stem: certificates.load(p) for p in options.certificates}
    programs.update(more_programs(programs))
    files = [write(options.out, name, cert)
             for name, cert in programs.items()]
    proven, messages = accepted(options.checker, files)
    print(f"{len(files)} right certificates, {len(proven)} accepted")
    good = len(proven) == len(files)
    if not good:
        print(messages)
    rejected_all = 0
    made_all = 0
    for name, fault in faults.FAULTS.items():
        if options.fault not in (None, name):
            continue
        broken = []
        for variant, text in variants(fault, programs, options.variants):
            path = options.out / f"{name}-{variant}.json"
            path.write_text(text)
            broken.append(path)
        wrong, messages = (accepted(options.checker, broken) if broken
                           else ([], ""))
        rejected = len(broken) - len(wrong)
        made_all += len(broken)
        rejected_all += rejected
        print(f"fault {name}: {len(broken)} variants, {rejected} rejected; "
              f"first: {first_message(messages)}"
              + circles(messages), flush=True)
        for path in wrong:
            print(f"  accepted: {path}")
        if not options.keep:
            for path in broken:
                if path not in wrong:
                    path.unlink()
        good &= not wrong and len(broken) >= options.variants
    print(f"{len(faults.FAULTS)} faults, {made_all} variants, "
          f"{rejected_all} rejected")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
