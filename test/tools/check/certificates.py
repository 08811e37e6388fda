#===- certificates.py - Certificates as Python values --------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Reads and writes certificates, and makes other right programs of them.

While a certificate is edited, calls and actions are named by the dictionaries
themselves, not by numbers: what is moved or removed is numbered when the text
is written.
"""

import json
import pickle


def copy_of(value):
    """A copy in which what was one dictionary stays one; faster than deepcopy.
    """
    return pickle.loads(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))


def load(path):
    cert = json.loads(path.read_text())
    for cls in cert["classes"]:
        step = phase_of(cls, "step")
        for phase in cls["phases"]:
            calls = [a for a in phase["actions"] if "call" in a]
            for action in phase["actions"]:
                if "move" in action:
                    action["move"] = calls[action["move"]]
        if step is None:
            continue
        calls = calls_of(step)
        for use in cls["parameters"]:
            use["calls"] = [calls[c] for c in use.get("calls", [])]
            use["fetches"] = [calls[c] for c in use.get("fetches", [])]
            if "update" in use:
                use["update"] = step["actions"][use["update"]]
    return cert


def text_of(cert):
    """The certificate with numbers in place of dictionaries."""
    cert = copy_of(cert)
    for cls in cert["classes"]:
        for phase in cls["phases"]:
            numbers = {id(c): i for i, c in enumerate(calls_of(phase))}
            actions = {id(a): i for i, a in enumerate(phase["actions"])}
            if phase["phase"] == "step":
                for use in cls["parameters"]:
                    for key in ("calls", "fetches"):
                        use[key] = [numbers[id(c)] for c in use.get(key, [])
                                    if id(c) in numbers]
                    if "update" in use:
                        use["update"] = actions.get(id(use["update"]))
                        if use["update"] is None:
                            del use["update"]
            for action in phase["actions"]:
                if "move" in action:
                    action["move"] = numbers.get(id(action["move"]))
                    if action["move"] is None:
                        del action["move"]
            for i, call in enumerate(calls_of(phase)):
                call["call"] = i
    return json.dumps(cert)


def phase_of(cls, name):
    return next((p for p in cls["phases"] if p["phase"] == name), None)


def step_of(cls):
    return phase_of(cls, "step")


def calls_of(phase):
    return [a for a in phase["actions"] if "call" in a]


def buffer_of(phase, call):
    return phase["buffers"][call["buffer"]]


WIDTHS = {"i1": 1, "i8": 1, "f16": 2, "bf16": 2, "f32": 4, "i32": 4,
          "f64": 8, "i64": 8}


def bytes_of(buffer):
    return (buffer["at"],
            buffer["at"] + buffer["count"] * WIDTHS[buffer["type"]])


def overlap(a, b):
    return a[0] < b[1] and b[0] < a[1]


def ranks_of(cls):
    ranks = []
    for entry in cls["ranks"]:
        step = entry[2] if len(entry) == 3 else 1
        ranks += range(entry[0], entry[1] + 1, step)
    return ranks


def axis_sizes(cert):
    return dict(cert["grid"])


def significant(cert, axes):
    return [a for a in axes if axis_sizes(cert)[a] > 1]


def coordinates(cert, rank):
    found = {}
    for name, size in reversed(cert["grid"]):
        found[name] = rank % size
        rank //= size
    return found


def in_one_group(cert, a, b, axes):
    first, second = coordinates(cert, a), coordinates(cert, b)
    return all(first[n] == second[n] for n in first if n not in axes)


def add_event(phase):
    return 1 + max([a[k] for a in phase["actions"] for k in ("record", "wait")
                    if k in a], default=-1)


def insert_after(phase, anchor, *new):
    i = index_of(phase, anchor)
    phase["actions"][i + 1:i + 1] = new


def insert_before(phase, anchor, *new):
    i = index_of(phase, anchor)
    phase["actions"][i:i] = new


def index_of(phase, action):
    return next(i for i, a in enumerate(phase["actions"]) if a is action)


def remove(phase, action):
    del phase["actions"][index_of(phase, action)]


def find_use(cls, call):
    return [u for u in cls["parameters"]
            if any(c is call for c in u.get("calls", []))]


# ---- Other right programs ------------------------------------------------


def one_class_per_rank(cert):
    """The same program, every rank being a class of its own."""
    cert = copy_of(cert)
    classes = []
    for cls in cert["classes"]:
        for rank in ranks_of(cls):
            own = copy_of(cls)
            own["name"] = f"r{rank}"
            own["ranks"] = [[rank, rank]]
            classes.append(own)
    cert["classes"] = sorted(classes, key=lambda c: c["ranks"][0][0])
    return cert


def bucket_calls(cls):
    """Calls that reduce buckets, with the launch that updates each."""
    found = []
    for call in calls_of(step_of(cls)):
        uses = [u for u in find_use(cls, call)
                if "update" in u and len(u["calls"]) == 1]
        if (call["kind"] == "all_reduce" and uses
                and call["buffer"] in uses[0]["update"]["reads"]):
            found.append((call, uses[0]["update"], uses))
    return found


def bucket_of(cls, number):
    """That of the call of this number, or None where a class has no such
    bucket: its parameters may all be empty, or their gradients have travelled
    before."""
    return next((b for b in bucket_calls(cls) if b[0]["call"] == number), None)


def is_simple(cls):
    """Whether each bucket is: record, wait, call, record; wait, update; and
    nothing goes on in the next step."""
    step = step_of(cls)
    if any(a.get("previous") for a in step["actions"]):
        return False
    for call, update, _ in bucket_calls(cls):
        i = index_of(step, call)
        ready, done = step["actions"][i - 1], step["actions"][i + 1]
        if ("wait" not in ready or done.get("record") is None
                or call["stream"] != "comm" or done["stream"] != "comm"
                or update["stream"] != "compute"):
            return False
    return True


def move_to_comm(cls, owner):
    """Updates on the communication stream, at the end of the step, and the
    next step begins when they have ended. `owner(call, update, uses)` changes
    the block and returns what follows the update."""
    step = step_of(cls)
    first = step["actions"][0]
    event = add_event(step)
    for call, update, uses in bucket_calls(cls):
        i = index_of(step, call)
        ready, done = step["actions"][i - 1], step["actions"][i + 1]
        for action in (ready, call, done, update):
            remove(step, action)
        # The update was where compute waited for the reduction.
        waits = [a for a in step["actions"] if a.get("wait") == done["record"]]
        for wait in waits:
            remove(step, wait)
        update["stream"] = "comm"
        behind = owner(call, update, uses)
        event += 1
        step["actions"] += [
            {"record": event, "stream": "compute"},
            {"wait": event, "stream": "comm"}, ready, call,
            *([update] if update in behind else []),
            *[a for a in behind if a is not update], done]
        insert_before(step, first, {"wait": done["record"],
                                    "stream": "compute", "previous": True})


def with_late_updates(cert):
    cert = copy_of(cert)
    for cls in cert["classes"]:
        move_to_comm(cls, lambda call, update, uses: [update])
    return cert


def shares(count, members):
    """Uneven parts: the first ones are larger."""
    parts = [count // members + (i < count % members) for i in range(members)]
    return [[p, 1] for p in parts]


def group_size(cert, axes):
    size = 1
    for axis in axes:
        size *= axis_sizes(cert)[axis]
    return size


def fetch_of(call, update, uses, parts):
    call["kind"] = "reduce_scatter"
    call["parts"] = parts
    fetch = {k: v for k, v in call.items()
             if k not in ("reduction", "algorithm")}
    fetch.update(kind="all_gather", label="fetch " + call["label"],
                 buffer=update["writes"][0])
    for use in uses:
        use["fetches"] = [fetch]
    return fetch


def with_owners(cert):
    """A parameter server whose owners are the workers."""
    cert = copy_of(cert)

    def owner(call, update, uses):
        parts = shares(call["count"], group_size(cert, call["axes"]))
        fetch = fetch_of(call, update, uses, parts)
        update["axes"], update["parts"] = call["axes"], parts
        return [update, fetch]

    for cls in cert["classes"]:
        move_to_comm(cls, owner)
    return cert


def with_servers(cert, servers):
    """A parameter server on ranks of its own."""
    cert = copy_of(cert)
    workers = group_size(cert, [name for name, _ in cert["grid"]])
    first = copy_of(cert["classes"][0])
    server = {"name": "servers", "ranks": [[workers, workers + servers - 1]],
              "servers": True, "arena": first["arena"],
              "persistent": first["persistent"], "parameters": [],
              "phases": []}
    step = step_of(first)
    phase = {"phase": "step", "inputs": [], "buffers": step["buffers"],
             "actions": []}
    server["phases"].append(phase)
    for buffer in phase["buffers"]:
        if buffer["purpose"] in ("input", "result"):
            buffer["purpose"] = "temporary"

    def owner(call, update, uses):
        parts = [[0, workers]] + shares(call["count"], servers)
        call["servers"] = servers
        fetch = fetch_of(call, update, uses, parts)
        for use in uses:
            del use["update"]
        return [fetch]

    for call, update, uses in bucket_calls(first):
        # The same call as the workers', then the update of the own part.
        update["stream"] = "comm"
        owner(call, update, uses)
        fetch = uses[0]["fetches"][0]
        update["axes"], update["parts"] = call["axes"], call["parts"]
        update["servers"] = servers
        for use in uses:
            use["update"] = update
        phase["actions"] += [call, update, fetch]
        server["parameters"] += uses
    for cls in cert["classes"]:
        move_to_comm(cls, owner)
    cert["classes"].append(server)
    cert["servers"] = servers
    return cert


def on_both_streams(cert, rng):
    """A reduction of a bucket on the compute stream. None without a place.
    Returns the certificate, and per class (call on comm, call on compute)."""
    cert = one_class_per_rank(cert)
    places = []
    names = [(c["label"], u["calls"]) for c, _, us in
             bucket_calls(cert["classes"][0]) for u in us[:1]]
    step = step_of(cert["classes"][0])

    def has_own_events(call):
        i = index_of(step, call)
        around = step["actions"][i - 1], step["actions"][i + 1]
        return "wait" in around[0] and "record" in around[1]

    labels = [label for label, calls in names if has_own_events(calls[0])]
    for i, x in enumerate(labels):
        for y in labels[i + 1:]:
            places.append((x, y))
    rng.shuffle(places)
    for x, y in places:
        pairs = []
        for cls in cert["classes"]:
            calls = {c["label"]: c for c in calls_of(step_of(cls))}
            pairs.append((calls[x], calls[y]))
        a, b = (significant(cert, c["axes"]) for c in pairs[0])
        if set(a) == set(b):
            continue
        for cls, (_, on_compute) in zip(cert["classes"], pairs):
            step = step_of(cls)
            i = index_of(step, on_compute)
            ready, done = step["actions"][i - 1], step["actions"][i + 1]
            remove(step, ready)
            remove(step, done)
            for wait in [w for w in step["actions"]
                         if w.get("wait") == done["record"]]:
                remove(step, wait)
            on_compute["stream"] = "compute"
        return cert, pairs
    return None


# ---- An order by brute force -----------------------------------------------


def uses_of(phase, action):
    """(bytes, is a write) of an action."""
    if "call" in action:
        return [(bytes_of(buffer_of(phase, action)), True)]
    if "host" in action:
        return [(bytes_of(b), action["host"] == "input")
                for b in phase["buffers"] if b["purpose"] == action["host"]]
    return ([(bytes_of(phase["buffers"][b]), False)
             for b in action.get("reads", [])] +
            [(bytes_of(phase["buffers"][b]), True)
             for b in action.get("writes", [])])


def has_race(phase):
    """Whether two uses of the same bytes on two streams are not ordered, by
    reachability over two steps."""
    nodes = []
    before = []
    last = {}
    events = {}
    previous = {}
    ended = 0
    for step in range(2):
        start = {"host": "input", "stream": "compute"}
        end = {"host": "result", "stream": "compute"}
        for action in [start, *phase["actions"], end]:
            # The host issues a step when compute has ended the one before.
            known = ended
            if action["stream"] in last:
                known |= before[last[action["stream"]]] | (
                    1 << last[action["stream"]])
            if "wait" in action:
                marks = previous if action.get("previous") else events
                if action["wait"] in marks:
                    mark = marks[action["wait"]]
                    known |= before[mark] | (1 << mark)
            last[action["stream"]] = len(nodes)
            if "record" in action:
                events[action["record"]] = len(nodes)
            nodes.append(action)
            before.append(known)
        previous, events = events, {}
        ended = before[last["compute"]] | (1 << last["compute"])
    uses = {"compute": [], "comm": []}
    for i, action in enumerate(nodes):
        for where, is_write in uses_of(phase, action):
            for j, other, other_writes in uses[
                    "comm" if action["stream"] == "compute" else "compute"]:
                if ((is_write or other_writes) and overlap(where, other)
                        and not before[i] >> j & 1):
                    return True
            if where[0] < where[1]:
                uses[action["stream"]].append((i, where, is_write))
    return False
