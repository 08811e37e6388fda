#===- faults.py - Ways to break a certificate ----------------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Every fault takes a certificate and a random generator, and returns a broken
copy, or None where the certificate has no place for it. Most are bugs that
other systems shipped. A fault that might be harmless is made only where a
brute-force search over the order of a step says that it is not.
"""

from certificates import (add_event, axis_sizes, bucket_calls, buffer_of,
                          bytes_of, calls_of, copy_of, find_use, has_race,
                          in_one_group, index_of, insert_after, insert_before,
                          on_both_streams, one_class_per_rank, overlap,
                          phase_of, ranks_of, remove, significant, step_of)

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


# ---- Gradients ---------------------------------------------------------------


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
    uses = [(i, u["parameter"]) for i, (_, _, us) in
            enumerate(bucket_calls(cert["classes"][0])) for u in us
            if u["gradient"][1] > 0]
    if not uses:
        return None
    bucket, parameter = rng.choice(uses)
    for cls in on_grid(cert):
        step = step_of(cls)
        call, _, _ = bucket_calls(cls)[bucket]
        if not is_shared(cert, call):
            return None
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


# ---- Buckets, shards and updates ----------------------------------------------


@fault
def bucket_misses_a_parameter(cert, rng):
    """A bucket ends before its last parameter, on all ranks alike."""
    cert = copy_of(cert)
    buckets = [i for i, (call, _, uses) in
               enumerate(bucket_calls(cert["classes"][0]))
               if is_shared(cert, call) and len(uses) > 1]
    bucket = choose(rng, buckets)
    if bucket is None:
        return None
    counts = set()
    for cls in on_grid(cert):
        step = step_of(cls)
        call, _, uses = bucket_calls(cls)[bucket]
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


@fault
def updated_twice(cert, rng):
    cert = copy_of(cert)
    cls = rng.choice(cert["classes"])
    updates = [u["update"] for u in cls["parameters"]
               if "update" in u and u["value"][1] > 0]
    if not updates:
        return None
    update = rng.choice(updates)
    insert_after(step_of(cls), update, dict(update))
    return cert


@fault
def never_updated(cert, rng):
    cert = copy_of(cert)
    cls = rng.choice(cert["classes"])
    updates = [u["update"] for u in cls["parameters"]
               if "update" in u and u["value"][1] > 0]
    if not updates:
        return None
    remove(step_of(cls), rng.choice(updates))
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


# ---- Calls of one rank ----------------------------------------------------------


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


@fault
def skipped_call(cert, rng):
    cert, phase, call = one_call(cert, rng)
    if cert is None:
        return None
    remove(phase, call)
    return cert


@fault
def additional_call(cert, rng):
    cert, phase, call = one_call(cert, rng)
    if cert is None:
        return None
    insert_after(phase, call, dict(call))
    return cert


@fault
def other_count(cert, rng):
    """One rank sends 2 elements less than the others, consistently."""
    cert, phase, call = one_call(
        cert, rng, lambda c: c["kind"] == "all_reduce" and c["count"] > 2)
    if cert is None:
        return None
    phase["buffers"].append(dict(buffer_of(phase, call),
                                 count=call["count"] - 2))
    call["buffer"] = len(phase["buffers"]) - 1
    call["count"] -= 2
    return cert


@fault
def other_reduction(cert, rng):
    cert, phase, call = one_call(cert, rng, lambda c: "reduction" in c)
    if cert is None:
        return None
    call["reduction"] = rng.choice(
        [r for r in ("sum", "max", "min", "prod") if r != call["reduction"]])
    return cert


@fault
def other_type(cert, rng):
    cert, phase, call = one_call(cert, rng, lambda c: c["type"] == "f32")
    if cert is None:
        return None
    phase["buffers"].append(dict(buffer_of(phase, call), type="i32"))
    call["buffer"] = len(phase["buffers"]) - 1
    call["type"] = "i32"
    return cert


@fault
def other_algorithm(cert, rng):
    cert, _, call = one_call(cert, rng, lambda c: c["kind"] == "all_reduce")
    if cert is None:
        return None
    call["algorithm"] = rng.choice(["tree", "ring", "hierarchical"])
    return cert


@fault
def other_kind(cert, rng):
    """An exchange on one rank where the others gather, and so on."""
    cert, _, call = one_call(
        cert, rng,
        lambda c: c["kind"] in ("all_to_all", "halo_exchange", "exchange"))
    if cert is None:
        return None
    call["kind"] = rng.choice([k for k in ("all_to_all", "halo_exchange",
                                           "exchange") if k != call["kind"]])
    return cert


@fault
def swapped_calls(cert, rng):
    """Two calls of different communicators change places on one rank, with
    all that belongs to them."""
    cert, cls = single(cert, rng)
    if cert is None:
        return None
    step = step_of(cls)
    calls = [c for c in calls_of(step) if is_shared(cert, c)]
    pairs = [(a, b) for a, b in zip(calls, calls[1:])
             if set(significant(cert, a["axes"]))
             != set(significant(cert, b["axes"]))]
    pair = choose(rng, pairs)
    if pair is None:
        return None
    i, j = (index_of(step, c) for c in pair)
    step["actions"][i], step["actions"][j] = pair[1], pair[0]
    return cert


@fault
def swapped_calls_of_one_communicator(cert, rng):
    cert, cls = single(cert, rng)
    if cert is None:
        return None
    step = step_of(cls)
    calls = [c for c in calls_of(step) if is_shared(cert, c)]
    pairs = [(a, b) for i, a in enumerate(calls) for b in calls[i + 1:i + 4]
             if a["axes"] == b["axes"] and a["label"] != b["label"]]
    pair = choose(rng, pairs)
    if pair is None:
        return None
    i, j = (index_of(step, c) for c in pair)
    step["actions"][i], step["actions"][j] = pair[1], pair[0]
    return cert


@fault
def wait_cycle(cert, rng):
    """Two communicators on two streams. Each of them has one order; but one
    rank lets the second wait for the first, another the first for the second.
    """
    found = on_both_streams(cert, rng)
    if found is None:
        return None
    cert, pairs = found
    classes = cert["classes"]
    choices = []
    for p in range(len(classes)):
        for q in range(len(classes)):
            on_comm, on_compute = pairs[p]
            shared = all(in_one_group(cert, ranks_of(classes[p])[0],
                                      ranks_of(classes[q])[0], c["axes"])
                         for c in (on_comm, on_compute))
            if p != q and shared:
                choices.append((p, q))
    if not choices:
        return None
    p, q = rng.choice(choices)
    # On rank p, what is on compute begins after what is on comm.
    step, (first, second) = step_of(classes[p]), pairs[p]
    event = add_event(step)
    insert_after(step, first, {"record": event, "stream": "comm"})
    insert_before(step, second, {"wait": event, "stream": "compute"})
    # On rank q the other way round, and issued in that order.
    step, (first, second) = step_of(classes[q]), pairs[q]
    event = add_event(step)
    i = index_of(step, first)
    block = step["actions"][i:i + 2]
    waits = [a for a in step["actions"][:index_of(step, second)]
             if a.get("wait") == block[1]["record"]]
    del step["actions"][i:i + 2]
    for wait in waits:
        remove(step, wait)
    insert_after(step, second, {"record": event, "stream": "compute"},
                 {"wait": event, "stream": "comm"}, *block, *waits)
    return cert


# ---- Messages ----------------------------------------------------------------------


def message_entries(cert):
    """(table, entry) of messages, of tables that are used."""
    used = {a["table"] for c in cert["classes"] for p in c["phases"]
            for a in p["actions"] if "table" in a}
    return [(t, e) for t, table in enumerate(cert["tables"]) if t in used
            for e in table.get("messages", []) if e["send"] or e["receive"]]


@fault
def wrong_neighbour(cert, rng):
    """A peer by its place in the group in place of its rank."""
    cert = copy_of(cert)
    places = [(side, run) for _, e in message_entries(cert)
              for side in ("send", "receive") for run in e[side]]
    place = choose(rng, places)
    if place is None:
        return None
    run = place[1]
    run[0] = rng.choice([d for d in (run[0] + 1, run[0] - 1, -run[0],
                                     2 * run[0]) if d != run[0]])
    return cert


@fault
def narrow_halo(cert, rng):
    """A move brings fewer elements, on both sides and in the buffer."""
    cert = copy_of(cert)
    tables = sorted({t for t, _ in message_entries(cert)})
    table = choose(rng, tables)
    if table is None:
        return None
    cert = one_class_per_rank(cert)
    entries = cert["tables"][table]["messages"]
    least = min(r[3] for e in entries for r in e["send"] + e["receive"])
    less = rng.randint(1, max(1, least // 2))
    if least <= less:
        return None
    for entry in entries:
        for run in entry["send"] + entry["receive"]:
            run[3] -= less
    for cls in on_grid(cert):
        rank = ranks_of(cls)[0]
        entry = next(e for e in entries
                     if rank in ranks_of({"ranks": e["ranks"]}))
        size = sum(r[2] * r[3] for r in entry["send"] + entry["receive"])
        for phase in cls["phases"]:
            for call in calls_of(phase):
                if call.get("table") == table:
                    phase["buffers"].append(
                        dict(buffer_of(phase, call), count=size))
                    for action in phase["actions"]:
                        if action.get("move") is call:
                            for key in ("reads", "writes"):
                                action[key] = [
                                    len(phase["buffers"]) - 1
                                    if b == call["buffer"] else b
                                    for b in action[key]]
                    call["buffer"] = len(phase["buffers"]) - 1
                    call["count"] = size
    return cert


@fault
def message_of_another_size(cert, rng):
    cert = copy_of(cert)
    places = [run for _, e in message_entries(cert)
              for run in e["send"] + e["receive"]]
    run = choose(rng, places)
    if run is None:
        return None
    run[3] += rng.choice([1, 2, 3])
    return cert


@fault
def lost_message(cert, rng):
    cert = copy_of(cert)
    places = [(e, side) for _, e in message_entries(cert)
              for side in ("send", "receive") if e[side]]
    place = choose(rng, places)
    if place is None:
        return None
    entry, side = place
    del entry[side][rng.randrange(len(entry[side]))]
    return cert


@fault
def table_of_another_move(cert, rng):
    cert, phase, call = one_call(
        cert, rng,
        lambda c: c["kind"] in ("all_to_all", "halo_exchange", "exchange"))
    if cert is None:
        return None
    others = [t for t, table in enumerate(cert["tables"])
              if "messages" in table and table != cert["tables"][call["table"]]]
    other = choose(rng, others)
    if other is None:
        return None
    call["table"] = other
    return cert


@fault
def parts_of_another_size(cert, rng):
    cert = copy_of(cert)
    used = {a["table"] for c in cert["classes"] for p in c["phases"]
            for a in p["actions"] if "table" in a}
    places = [run for t, table in enumerate(cert["tables"]) if t in used
              for e in table.get("parts", []) for run in e["parts"]]
    run = choose(rng, places)
    if run is None:
        return None
    run[0] += rng.choice([1, 2])
    return cert


# ---- Weights and ranks ----------------------------------------------------------------


@fault
def remainder_of_the_batch_lost(cert, rng):
    cert = copy_of(cert)
    places = [i for c in cert["classes"] for p in c["phases"]
              for i in p["inputs"] if i["samples"] > 0]
    place = choose(rng, places)
    if place is None:
        return None
    place["samples"] -= 1
    return cert


@fault
def mean_by_ranks(cert, rng):
    """Every rank takes the mean of its own samples, then ranks are averaged."""
    cert = copy_of(cert)
    cls = rng.choice(on_grid(cert))
    means = [a for a in step_of(cls)["actions"] if a.get("mean")]
    mean = choose(rng, means)
    if mean is None:
        return None
    mean = mean["mean"]
    ranks = 1
    for axis in mean["over"]:
        ranks *= axis_sizes(cert)[axis]
    kinds = [1 / mean["terms"], 1 / (ranks * mean["terms"])]
    scale = rng.choice(kinds)
    if abs(scale - mean["scale"]) < 1e-3 * scale:
        return None
    mean["scale"] = scale
    return cert


@fault
def rank_lost(cert, rng):
    cert, cls = single(cert, rng)
    if cert is None:
        return None
    cert["classes"].remove(cls)
    return cert


@fault
def rank_in_two_classes(cert, rng):
    cert, cls = single(cert, rng)
    if cert is None:
        return None
    other = rng.choice([c for c in cert["classes"] if c is not cls])
    other["ranks"] = other["ranks"] + cls["ranks"]
    return cert


@fault
def grid_of_another_size(cert, rng):
    cert = copy_of(cert)
    axis = rng.choice(cert["grid"])
    axis[1] = rng.choice([s for s in (1, 2, 3, 4, 6) if s != axis[1]])
    return cert


# ---- Events and memory ------------------------------------------------------------------


def phases_with(cert, key):
    return [(c, p) for c in cert["classes"] for p in c["phases"]
            if any(key in a for a in p["actions"])]


@fault
def removed_wait(cert, rng):
    cert = copy_of(cert)
    place = choose(rng, phases_with(cert, "wait"))
    if place is None:
        return None
    _, phase = place
    waits = [a for a in phase["actions"] if "wait" in a]
    rng.shuffle(waits)
    for wait in waits[:8]:
        i = index_of(phase, wait)
        remove(phase, wait)
        if has_race(phase):
            return cert
        phase["actions"].insert(i, wait)
    return None


@fault
def moved_record(cert, rng):
    """A record stands before what it is to mark the end of."""
    cert = copy_of(cert)
    place = choose(rng, phases_with(cert, "record"))
    if place is None:
        return None
    _, phase = place
    records = [a for a in phase["actions"] if "record" in a]
    rng.shuffle(records)
    for record in records[:8]:
        i = index_of(phase, record)
        before = [j for j in range(i) if "record" not in phase["actions"][j]
                  and "wait" not in phase["actions"][j]
                  and phase["actions"][j]["stream"] == record["stream"]]
        if not before:
            continue
        remove(phase, record)
        phase["actions"].insert(before[-1], record)
        if has_race(phase):
            return cert
        remove(phase, record)
        phase["actions"].insert(i, record)
    return None


@fault
def wait_for_what_is_never_recorded(cert, rng):
    cert = copy_of(cert)
    place = choose(rng, phases_with(cert, "wait"))
    if place is None:
        return None
    _, phase = place
    wait = rng.choice([a for a in phase["actions"] if "wait" in a])
    wait["wait"] = add_event(phase)
    return cert


@fault
def wait_before_record(cert, rng):
    cert = copy_of(cert)
    place = choose(rng, phases_with(cert, "wait"))
    if place is None:
        return None
    _, phase = place
    wait = choose(rng, [a for a in phase["actions"]
                        if "wait" in a and not a.get("previous")])
    if wait is None:
        return None
    record = next(a for a in phase["actions"]
                  if a.get("record") == wait["wait"])
    remove(phase, wait)
    insert_before(phase, record, wait)
    return cert


@fault
def recorded_twice(cert, rng):
    cert = copy_of(cert)
    place = choose(rng, phases_with(cert, "record"))
    if place is None:
        return None
    _, phase = place
    record = rng.choice([a for a in phase["actions"] if "record" in a])
    i = rng.randrange(len(phase["actions"]))
    phase["actions"].insert(i, dict(record))
    return cert


@fault
def shared_temporaries(cert, rng):
    """Two buffers get the same bytes though both are in use."""
    cert = copy_of(cert)
    phase = rng.choice(rng.choice(cert["classes"])["phases"])
    # The writes and reads of each temporary, by name and place.
    spans = {}
    for i, action in enumerate(phase["actions"]):
        for key, kind in (("writes", "w"), ("reads", "r")):
            for b in action.get(key, []):
                spans.setdefault(b, []).append((i, kind))
    names = [(b["name"], b["at"]) for b in phase["buffers"]]
    places = []
    for b, uses in spans.items():
        if (phase["buffers"][b]["purpose"] != "temporary"
                or names.count(names[b]) > 1 or not phase["buffers"][b]
                ["count"] or uses[0][1] != "w"):
            continue
        last = max((i for i, k in uses if k == "r"), default=-1)
        for c, others in spans.items():
            other = phase["buffers"][c]
            if (other["purpose"] == "temporary" and c != b
                    and other["name"] != phase["buffers"][b]["name"]
                    and names.count(names[c]) == 1 and other["count"]
                    and others[0][1] == "w"
                    and uses[0][0] < others[0][0] < last):
                places.append((b, c))
    place = choose(rng, places)
    if place is None:
        return None
    b, c = place
    phase["buffers"][c]["at"] = phase["buffers"][b]["at"]
    end = bytes_of(phase["buffers"][c])[1]
    cls = next(k for k in cert["classes"] if any(p is phase
                                                 for p in k["phases"]))
    cls["arena"] = max(cls["arena"], end)
    return cert


# ---- Owners and servers --------------------------------------------------------------------


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
