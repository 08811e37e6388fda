#===- server_faults.py - Faults of ranks that own parameters --------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Servers that update nothing, the wrong part, for the wrong group, too late,
or miss a call."""

from certificates import (calls_of, copy_of, index_of, one_class_per_rank,
                          ranks_of, remove, step_of)
from fault_kinds import choose, fault, on_grid


def servers(cert):
    return [c for c in cert["classes"] if c.get("servers")]


def served(cert, rng, wanted=lambda action: True, alone=False):
    """(certificate, class, action with servers); `alone` makes every rank a
    class of its own."""
    cert = one_class_per_rank(cert) if alone else copy_of(cert)
    places = [(c, a) for c in servers(cert) for a in step_of(c)["actions"]
              if a.get("servers") and wanted(a)]
    cls, action = choose(rng, places) or (None, None)
    return cert, cls, action


def is_update(action):
    return "launch" in action


def is_push(action):
    return action.get("kind") == "reduce_scatter"


def is_fetch(action):
    return action.get("kind") == "all_gather"


def parts_of(action):
    return [size for size, times in action["parts"] for _ in range(times)]


def bucket_of(cls, action):
    """Push, update and fetch of the bucket that the action belongs to."""
    step = step_of(cls)
    label = action.get("label", "").split(" ", 1)[-1]
    if not label:
        fetch = step["actions"][index_of(step, action) + 1]
        label = fetch["label"].split(" ", 1)[-1]
    group = action.get("group", 0)
    found = [a for a in calls_of(step) if a.get("group", 0) == group
             and a["label"].split(" ", 1)[-1] == label]
    update = step["actions"][index_of(step, found[-1]) - 1]
    return found + ([update] if is_update(update) else [])


@fault
def server_updates_nothing(cert, rng):
    cert, cls, update = served(cert, rng, is_update, rng.random() < 0.5)
    if update is None:
        return None
    remove(step_of(cls), update)
    return cert


@fault
def server_updates_another_part(cert, rng):
    cert, _, update = served(cert, rng, lambda a: is_update(a)
                             and a["servers"] > 1, rng.random() < 0.5)
    if update is None:
        return None
    parts = parts_of(update)
    give = rng.choice([i for i, size in enumerate(parts) if size])
    take = rng.choice([i for i in range(len(parts) - update["servers"],
                                        len(parts)) if i != give])
    moved = rng.randint(1, parts[give])
    parts[give] -= moved
    parts[take] += moved
    update["parts"] = [[size, 1] for size in parts]
    return cert


@fault
def two_servers_own_the_same_part(cert, rng):
    """One of them believes that its part reaches into another's."""
    cert, cls, action = served(cert, rng, lambda a: a["servers"] > 1,
                               alone=True)
    if action is None:
        return None
    parts = parts_of(action)
    owner = len(parts) - action["servers"] + rng.randrange(action["servers"])
    other = rng.choice([i for i in range(len(parts) - action["servers"],
                                         len(parts)) if i != owner])
    if parts[other] == 0:
        return None
    moved = rng.randint(1, parts[other])
    parts[owner] += moved
    parts[other] -= moved
    for each in bucket_of(cls, action):
        each["parts"] = [[size, 1] for size in parts]
    return cert


@fault
def server_misses_a_call(cert, rng):
    cert, cls, call = served(cert, rng, lambda a: not is_update(a),
                             rng.random() < 0.5)
    if call is None:
        return None
    remove(step_of(cls), call)
    return cert


@fault
def server_swaps_calls(cert, rng):
    """Two pushes, or a fetch and the push of another bucket."""
    cert, cls, first = served(cert, rng, lambda a: not is_update(a),
                              rng.random() < 0.5)
    if first is None:
        return None
    step = step_of(cls)
    others = [c for c in calls_of(step)
              if c.get("group", 0) == first.get("group", 0)
              and c["label"] != first["label"]]
    second = choose(rng, others)
    if second is None:
        return None
    i, k = index_of(step, first), index_of(step, second)
    step["actions"][i], step["actions"][k] = second, first
    return cert


@fault
def server_fetches_before_its_update(cert, rng):
    cert, cls, update = served(cert, rng, is_update, rng.random() < 0.5)
    if update is None:
        return None
    actions = step_of(cls)["actions"]
    i = index_of(step_of(cls), update)
    actions[i], actions[i + 1] = actions[i + 1], actions[i]
    return cert


@fault
def server_takes_one_group_for_another(cert, rng):
    """The calls of a bucket, of all buckets, or the parameters."""
    cert, cls, action = served(cert, rng, lambda a: a.get("group", 0) > 0)
    if action is None:
        return None
    kind = rng.randrange(3)
    if kind == 2:
        chosen = rng.choice([u["parameter"] for u in cls["parameters"]
                             if u["value"][1] > 0])
        changed = [u for u in cls["parameters"] if u["parameter"] == chosen]
    else:
        label = action.get("label", "").split(" ", 1)[-1]
        changed = [a for a in step_of(cls)["actions"] if a.get("servers")
                   and (kind == 0 or label in a.get("label", ""))]
    groups = sorted({a.get("group", 0) for a in changed})
    if len(groups) < 2:
        return None
    a, b = rng.sample(groups, 2)
    for each in changed:
        group = each.get("group", 0)
        each["group"] = {a: b, b: a}.get(group, group)
    return cert


@fault
def server_for_another_number_of_servers(cert, rng):
    cert, _, action = served(cert, rng, alone=rng.random() < 0.5)
    if action is None:
        return None
    action["servers"] += rng.choice([1, 2, -1])
    return cert if action["servers"] > 0 else None


@fault
def server_is_lost(cert, rng):
    cert = copy_of(cert)
    cls = choose(rng, servers(cert))
    if cls is None:
        return None
    if rng.random() < 0.3:
        cert["servers"] += rng.randint(1, 3)
        return cert
    ranks = ranks_of(cls)
    ranks.remove(rng.choice(ranks))
    cls["ranks"] = [[rank, rank] for rank in ranks]
    if not ranks:
        cert["classes"].remove(cls)
    if rng.random() < 0.5 and cert["servers"] > 1:
        cert["servers"] -= 1
    return cert


@fault
def server_keeps_a_parameter_elsewhere(cert, rng):
    cert = copy_of(cert)
    places = [u for c in servers(cert) for u in c["parameters"]
              if u["value"][1] > 8]
    use = choose(rng, places)
    if use is None:
        return None
    kind = rng.choice(["value", "gradient"])
    use[kind] = [use[kind][0] + rng.choice([-4, 4]), use[kind][1]]
    return cert if use[kind][0] >= 0 else None


@fault
def worker_updates_what_servers_own(cert, rng):
    cert = copy_of(cert)
    places = [(c, p, f) for c in on_grid(cert) if step_of(c)
              for p in calls_of(step_of(c)) if is_push(p) and p.get("servers")
              for f in calls_of(step_of(c)) if is_fetch(f) and f.get("servers")
              and f["label"].split(" ", 1)[-1] == p["label"].split(" ", 1)[-1]
              and p["count"]]
    cls, push, fetch = choose(rng, places) or (None, None, None)
    if push is None:
        return None
    step = step_of(cls)
    at = rng.choice([index_of(step, push) + 1, index_of(step, fetch) + 1])
    step["actions"].insert(at, {
        "launch": "nn.sgd", "stream": "comm",
        "reads": [fetch["buffer"], push["buffer"]],
        "writes": [fetch["buffer"]]})
    return cert
