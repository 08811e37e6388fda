#===- call_faults.py - Wrong calls ---------------------------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Calls of single ranks, messages, weights, ranks, events and memory.
"""

from certificates import (add_event, axis_sizes, buffer_of, bytes_of, calls_of,
                          copy_of, has_race, in_one_group, index_of,
                          insert_after, insert_before, on_both_streams,
                          one_class_per_rank, ranks_of, remove, significant,
                          step_of)
from fault_kinds import (fault, on_grid, choose, is_shared, single, one_call)


# ---- Calls of one rank ----------------------------------------------------------


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
    between = step["actions"][i + 1:index_of(step, second)]
    if any("call" in a and set(significant(cert, a["axes"])) ==
           set(significant(cert, first["axes"])) for a in between):
        return None
    block = step["actions"][i:i + 2]
    waits = []
    for k, action in enumerate(step["actions"][:index_of(step, second)]):
        if action.get("wait") != block[1]["record"]:
            continue
        waits.append(action)
        # The update that waited comes along.
        if step["actions"][k + 1].get("launch") in ("nn.sgd", "nn.adam"):
            waits.append(step["actions"][k + 1])
    del step["actions"][i:i + 2]
    for wait in waits:
        remove(step, wait)
    insert_after(step, second, {"record": event, "stream": "compute"},
                 {"wait": event, "stream": "comm"}, *block, *waits)
    return cert


# ---- Messages -------------------------------------------------------------------


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


# ---- Weights and ranks ----------------------------------------------------------


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


# ---- Events and memory ----------------------------------------------------------


def phases_with(cert, key):
    return [(c, p) for c in cert["classes"] for p in c["phases"]
            if any(key in a for a in p["actions"])]


def copy_and_phase(cert, rng, key):
    """A copy to break, and one of its phases with such an action, or None."""
    cert = copy_of(cert)
    place = choose(rng, phases_with(cert, key))
    return cert, place[1] if place else None


@fault
def removed_wait(cert, rng):
    cert, phase = copy_and_phase(cert, rng, "wait")
    if phase is None:
        return None
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
    cert, phase = copy_and_phase(cert, rng, "record")
    if phase is None:
        return None
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
    cert, phase = copy_and_phase(cert, rng, "wait")
    if phase is None:
        return None
    wait = rng.choice([a for a in phase["actions"] if "wait" in a])
    wait["wait"] = add_event(phase)
    return cert


@fault
def wait_before_record(cert, rng):
    cert, phase = copy_and_phase(cert, rng, "wait")
    if phase is None:
        return None
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
    cert, phase = copy_and_phase(cert, rng, "record")
    if phase is None:
        return None
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
