#===- fault_kinds.py - What faults are made with -------------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""The list of faults, and how they find their places.
"""

from certificates import (calls_of, one_class_per_rank, significant, step_of)

FAULTS = {}


def fault(function):
    FAULTS[function.__name__.replace("_", "-")] = function
    return function


def on_grid(cert):
    return [c for c in cert["classes"] if not c.get("servers")]


def steps(cert):
    return [step_of(c) for c in on_grid(cert)]


def choose(rng, places):
    places = list(places)
    return rng.choice(places) if places else None


def is_shared(cert, call):
    return bool(significant(cert, call["axes"]))


def reductions(cert, step):
    """The numbers of calls that reduce."""
    return [i for i, c in enumerate(calls_of(step))
            if c["kind"] == "all_reduce" and is_shared(cert, c)
            and c["count"] > 0]


def numbered(step, number):
    return calls_of(step)[number]


def single(cert, rng):
    """One rank as a class of its own: (certificate, class)."""
    cert = one_class_per_rank(cert)
    if len(cert["classes"]) < 2:
        return None, None
    return cert, rng.choice(on_grid(cert))


def one_call(cert, rng, wanted=lambda call: True):
    """(certificate, class, call) with the call's rank as a class."""
    cert, cls = single(cert, rng)
    if cert is None:
        return None, None, None
    phases = [p for p in cls["phases"] if calls_of(p)]
    if not phases:
        return None, None, None
    # Mostly the step, and the other phases too.
    phase = (step_of(cls) if step_of(cls) in phases and rng.random() < 0.7
             else rng.choice(phases))
    call = choose(rng, [c for c in calls_of(phase)
                        if is_shared(cert, c) and wanted(c)])
    return (cert, phase, call) if call else (None, None, None)
