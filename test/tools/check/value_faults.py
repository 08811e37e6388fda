#===- value_faults.py - Wrong values -------------------------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Gradients, buckets, shards, updates, owners and servers.
"""

from certificates import (axis_sizes, bucket_calls, bucket_of, buffer_of,
                          bytes_of, calls_of, copy_of, find_use, has_race,
                          index_of, insert_after, insert_before, overlap,
                          remove, significant, step_of)
from fault_kinds import (fault, on_grid, steps, choose, is_shared, reductions,
                         numbered, single)


# ---- Gradients ------------------------------------------------------------------


@fault
def dropped_reduction(cert, rng):
    cert = copy_of(cert)
    number = choose(rng, reductions(cert, steps(cert)[0]))
    if number is None:
        return None
    for step in steps(cert):
        remove(step, numbered(step, number))
    return cert


@fault
def reduced_twice(cert, rng):
    cert = copy_of(cert)
    number = choose(rng, reductions(cert, steps(cert)[0]))
    if number is None:
        return None
    for cls in on_grid(cert):
        call = numbered(step_of(cls), number)
        again = dict(call)
        insert_after(step_of(cls), call, again)
        for use in find_use(cls, call):
            use["calls"].append(again)
    return cert


@fault
def tied_weight_reduced_twice(cert, rng):
    """The gradient of one parameter of a bucket has a call of its own too."""
    cert = copy_of(cert)
    uses = [(call["call"], u["parameter"]) for call, _, us in
            bucket_calls(cert["classes"][0]) for u in us
            if u["gradient"][1] > 0 and is_shared(cert, call)]
    if not uses:
        return None
    number, parameter = rng.choice(uses)
    for cls in on_grid(cert):
        step = step_of(cls)
        bucket = bucket_of(cls, number)
        if not bucket:
            return None
        call, _, _ = bucket
        use = next(u for u in cls["parameters"]
                   if u["parameter"] == parameter)
        step["buffers"].append({
            "name": "tied", "purpose": "bucket", "type": call["type"],
            "at": use["gradient"][0],
            "count": use["gradient"][1] // 4})
        again = dict(call, count=use["gradient"][1] // 4,
                     buffer=len(step["buffers"]) - 1, label="tied weight")
        insert_after(step, call, again)
        use["calls"].append(again)
    return cert


@fault
def half_reduced(cert, rng):
    """One axis of a reduction over two is missing."""
    cert = copy_of(cert)
    numbers = [n for n in reductions(cert, steps(cert)[0])
               if len(significant(cert, numbered(steps(cert)[0],
                                                 n)["axes"])) > 1]
    number = choose(rng, numbers)
    if number is None:
        return None
    axis = rng.choice(significant(cert, numbered(steps(cert)[0],
                                                 number)["axes"]))
    for step in steps(cert):
        call = numbered(step, number)
        call["axes"] = [a for a in call["axes"] if a != axis]
    return cert


@fault
def reduced_over_another_axis(cert, rng):
    cert = copy_of(cert)
    number = choose(rng, reductions(cert, steps(cert)[0]))
    if number is None:
        return None
    axes = numbered(steps(cert)[0], number)["axes"]
    others = [a for a in significant(cert, axis_sizes(cert)) if a not in axes]
    if not others:
        return None
    other = rng.choice(others)
    for step in steps(cert):
        numbered(step, number)["axes"] = [other]
    return cert


@fault
def maximum_by_sum(cert, rng):
    cert = copy_of(cert)
    number = choose(rng, reductions(cert, steps(cert)[0]))
    if number is None:
        return None
    old = numbered(steps(cert)[0], number)["reduction"]
    new = rng.choice([r for r in ("sum", "max", "min", "prod") if r != old])
    for step in steps(cert):
        numbered(step, number)["reduction"] = new
    return cert


@fault
def partial_labelled_as_replicated(cert, rng):
    cert = copy_of(cert)
    launches = [i for i, a in enumerate(steps(cert)[0]["actions"])
                if any(a.get("partial", []))]
    place = choose(rng, launches)
    if place is None or any(
            len(s["actions"]) != len(steps(cert)[0]["actions"])
            for s in steps(cert)):
        return None
    for step in steps(cert):
        launch = step["actions"][place]
        if "partial" not in launch:
            return None
        del launch["partial"], launch["by"]
    return cert


@fault
def partial_on_one_class_only(cert, rng):
    """What the others send as parts of a sum, one class sends as a whole."""
    cert = copy_of(cert)
    if len(on_grid(cert)) < 2:
        return None
    step = step_of(rng.choice(on_grid(cert)))
    launch = choose(rng, [
        a for a in step["actions"] if "partial" in a
        and any(significant(cert, axes) for axes in a["partial"])
        and all(step["buffers"][b]["count"] for b in a["writes"])])
    if launch is None:
        return None
    del launch["partial"], launch["by"]
    return cert


@fault
def replicated_added_to_partial(cert, rng):
    """A kernel computes with a partial value and a whole one."""
    cert = copy_of(cert)
    step = rng.choice(steps(cert))
    places = []
    for i, action in enumerate(step["actions"]):
        if not any(action.get("partial", [])) or "launch" not in action:
            continue
        variables = [b for b, buffer in enumerate(step["buffers"])
                     if buffer["purpose"] == "variable" and buffer["count"]]
        if variables and significant(cert, action["partial"][0]):
            places.append((i, action["writes"][0], variables))
    place = choose(rng, places)
    if place is None:
        return None
    i, written, variables = place
    step["actions"].insert(i + 1, {
        "launch": "nn.fused", "linear": True, "stream": "compute",
        "layer": "bias", "reads": [rng.choice(variables), written],
        "writes": [written]})
    return cert


@fault
def other_partial_axes(cert, rng):
    """The account says that a gradient is partial over other axes."""
    cert = copy_of(cert)
    axes = significant(cert, axis_sizes(cert))
    parameters = [p for p in cert["parameters"]]
    if not axes or not parameters:
        return None
    parameter = rng.choice(parameters)
    axis = rng.choice(axes)
    partial = parameter["partial"]
    parameter["partial"] = ([a for a in partial if a != axis]
                            if axis in partial else partial + [axis])
    return cert


@fault
def gradient_never_computed(cert, rng):
    """A launch that makes a gradient is missing on one rank."""
    cert, cls = single(cert, rng)
    if cert is None:
        return None
    step = step_of(cls)
    gradients = [tuple(u["gradient"]) for u in cls["parameters"]
                 if u["gradient"][1]]
    places = [a for a in step["actions"] if "launch" in a and any(
        any(overlap(bytes_of(step["buffers"][w]), (g[0], g[0] + g[1]))
            for g in gradients) for w in a["writes"])]
    if not places:
        return None
    remove(step, rng.choice(places))
    return cert


# ---- Buckets, shards and updates ------------------------------------------------


@fault
def bucket_misses_a_parameter(cert, rng):
    """A bucket ends before its last parameter, on all ranks alike."""
    cert = copy_of(cert)
    number = choose(rng, [call["call"] for call, _, uses in
                          bucket_calls(cert["classes"][0])
                          if is_shared(cert, call) and len(uses) > 1])
    if number is None:
        return None
    counts = set()
    for cls in on_grid(cert):
        step = step_of(cls)
        bucket = bucket_of(cls, number)
        if not bucket:
            return None
        call, _, uses = bucket
        last = max((u for u in uses if u["gradient"][1]),
                   key=lambda u: u["gradient"][0], default=None)
        buffer = buffer_of(step, call)
        if last is None or last["gradient"][0] == buffer["at"]:
            return None
        step["buffers"].append(
            dict(buffer, count=(last["gradient"][0] - buffer["at"]) // 4))
        call["buffer"] = len(step["buffers"]) - 1
        call["count"] = step["buffers"][-1]["count"]
        last["calls"] = []
        counts.add(call["count"])
    return cert if len(counts) == 1 else None


@fault
def parameters_overlap_in_a_bucket(cert, rng):
    cert = copy_of(cert)
    key = rng.choice(["value", "gradient"])
    cls = rng.choice(cert["classes"])
    uses = sorted((u for u in cls["parameters"] if u[key][1] > 0),
                  key=lambda u: u[key][0])
    if len(uses) < 2:
        return None
    i = rng.randrange(len(uses) - 1)
    uses[i + 1][key][0] = uses[i][key][0] + uses[i][key][1] - 4
    return cert


@fault
def gradient_of_another_parameter(cert, rng):
    cert = copy_of(cert)
    cls = rng.choice(cert["classes"])
    uses = [u for u in cls["parameters"] if u["gradient"][1] > 0]
    pairs = [(a, b) for a in uses for b in uses
             if a["parameter"] < b["parameter"]
             and a["gradient"][1] == b["gradient"][1]]
    pair = choose(rng, pairs)
    if pair is None:
        return None
    a, b = pair
    a["gradient"], b["gradient"] = b["gradient"], a["gradient"]
    return cert


@fault
def updated_before_reduced(cert, rng):
    cert = copy_of(cert)
    cls = rng.choice(on_grid(cert))
    buckets = [b for b in bucket_calls(cls) if is_shared(cert, b[0])]
    if not buckets:
        return None
    call, update, _ = rng.choice(buckets)
    step = step_of(cls)
    if update["stream"] != "compute":
        return None
    remove(step, update)
    insert_before(step, step["actions"][index_of(step, call) - 1], update)
    return cert


def copy_and_update(cert, rng):
    """A copy to break, a step of it, and an update in that, or None."""
    cert = copy_of(cert)
    cls = rng.choice(cert["classes"])
    updates = [u["update"] for u in cls["parameters"]
               if "update" in u and u["value"][1] > 0]
    return cert, step_of(cls), rng.choice(updates) if updates else None


@fault
def updated_twice(cert, rng):
    cert, step, update = copy_and_update(cert, rng)
    if update is None:
        return None
    insert_after(step, update, dict(update))
    return cert


@fault
def never_updated(cert, rng):
    cert, step, update = copy_and_update(cert, rng)
    if update is None:
        return None
    remove(step, update)
    return cert


def cut_places(cert):
    return [cut for p in cert["parameters"] for cut in p["cut"]
            if cut.get("axes") and len(cut["ranges"]) > 1]


@fault
def shards_overlap(cert, rng):
    cert = copy_of(cert)
    cut = choose(rng, cut_places(cert))
    if cut is None:
        return None
    i = rng.randrange(1, len(cut["ranges"]))
    if cut["ranges"][i][0] == 0:
        return None
    cut["ranges"][i][0] -= rng.randint(1, min(4, cut["ranges"][i][0]))
    return cert


@fault
def shard_offsets_by_floor(cert, rng):
    """All shards are as small as the smallest: the remainder is lost."""
    cert = copy_of(cert)
    cut = choose(rng, cut_places(cert))
    if cut is None:
        return None
    ranges = cut["ranges"]
    total = max(end for _, end in ranges)
    size = max(0, total // len(ranges) - rng.randint(0, 2))
    floored = [[i * size, (i + 1) * size] for i in range(len(ranges))]
    if floored == ranges:
        return None
    cut["ranges"] = floored
    return cert


@fault
def empty_shard_with_a_row(cert, rng):
    cert = copy_of(cert)
    cut = choose(rng, cut_places(cert))
    if cut is None:
        return None
    i = rng.randrange(len(cut["ranges"]))
    begin, end = cut["ranges"][i]
    cut["ranges"][i] = [begin, end + 1]
    return cert


# ---- Owners and servers ---------------------------------------------------------


def fetches(step):
    return [c for c in calls_of(step)
            if c["kind"] == "all_gather" and "parts" in c]


@fault
def missing_fetch(cert, rng):
    """Owners update their parts, but nobody gets them."""
    cert = copy_of(cert)
    number = choose(rng, [c["label"] for c in fetches(steps(cert)[0])])
    if number is None:
        return None
    for step in steps(cert):
        for call in fetches(step):
            if call["label"] == number:
                remove(step, call)
    return cert


@fault
def fetch_before_update(cert, rng):
    cert = copy_of(cert)
    places = [(c, f) for c in cert["classes"] if step_of(c)
              for f in fetches(step_of(c))
              if "launch" in step_of(c)["actions"]
              [index_of(step_of(c), f) - 1]]
    place = choose(rng, places)
    if place is None:
        return None
    cls, fetch = place
    step = step_of(cls)
    i = index_of(step, fetch)
    actions = step["actions"]
    actions[i - 1], actions[i] = actions[i], actions[i - 1]
    return cert


@fault
def owners_disagree(cert, rng):
    """Parts of push, update or fetch are another division than the rest's."""
    cert = copy_of(cert)
    everywhere = rng.random() < 0.5
    places = [i for i, a in enumerate(steps(cert)[0]["actions"])
              if len(a.get("parts", [])) > 1]
    place = choose(rng, places)
    if place is None:
        return None
    chosen = steps(cert) if everywhere else [rng.choice(steps(cert))]
    for step in chosen:
        parts = [a for a in step["actions"] if len(a.get("parts", [])) > 1]
        n = [i for i, a in enumerate(steps(cert)[0]["actions"])
             if len(a.get("parts", [])) > 1].index(place)
        if n >= len(parts) or parts[n]["parts"][-1][0] == 0:
            return None
        own = copy_of(parts[n]["parts"])
        own[-2][0] += 1
        own[-1][0] -= 1
        if own[-2][1] != 1 or own[-1][1] != 1:
            return None
        parts[n]["parts"] = own
    return cert


@fault
def parts_lose_the_remainder(cert, rng):
    cert = copy_of(cert)
    places = [c["label"] + c["kind"] for c in calls_of(steps(cert)[0])
              if len(c.get("parts", [])) > 1]
    place = choose(rng, places)
    if place is None:
        return None
    for step in steps(cert):
        for call in calls_of(step):
            if call["label"] + call["kind"] == place and "parts" in call:
                call["parts"] = copy_of(call["parts"])
                call["parts"][0 if call["parts"][0][0] else -1][0] -= 1
    return cert


@fault
def next_step_does_not_wait(cert, rng):
    """The wait for the previous step's mark is missing, or comes too late."""
    cert = copy_of(cert)
    places = [(s, a) for s in steps(cert) for a in s["actions"]
              if a.get("previous")]
    place = choose(rng, places)
    if place is None:
        return None
    step, wait = place
    remove(step, wait)
    if rng.random() < 0.5:
        record = next(i for i, a in enumerate(step["actions"])
                      if a.get("record") == wait["wait"])
        step["actions"].insert(rng.randrange(record + 1), wait)
    return cert if has_race(step) else None


@fault
def update_on_all_elements(cert, rng):
    """An owner updates what only others have reduced."""
    cert = copy_of(cert)
    places = [(s, a) for s in steps(cert) for a in s["actions"]
              if "launch" in a and "parts" in a]
    place = choose(rng, places)
    if place is None:
        return None
    _, launch = place
    del launch["parts"], launch["axes"]
    return cert
