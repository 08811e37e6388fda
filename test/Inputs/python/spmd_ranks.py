#===- spmd_ranks.py - runs partitioned programs on all ranks -------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Runs what partita-partition-program writes, all ranks in lockstep.

Read from the generic text. Collectives are not interpreted as messages: what
the ranks of a communicator hold is put together to the whole tensor - ranks
that hold the same element must agree - and each rank's new part is cut out.
Whatever is missing there, or has another shape than typed, is a Mismatch.
"""

import collections
import functools
import itertools
import json
import re

import numpy as np

import nn_numpy


class Mismatch(Exception):
    """A partitioned program that does not do what it says."""


# ---- Layouts ---------------------------------------------------------------


class Layout:
    """dims: (axes, block, table or None) of each dimension."""

    def __init__(self, dims, kind="", partial=(), varying=()):
        self.dims, self.kind = dims, kind
        self.partial, self.varying = partial, varying


@functools.lru_cache(None)
def parse_layout(text):
    """#dist.layout<[[a] by 2, [b] at [0:3, 3:8]], partial sum [c]>"""
    tokens = re.findall(r"\w+|[\[\],:]", text[len("#dist.layout<"):-1])
    place = 0

    def accept(token):
        nonlocal place
        if place < len(tokens) and tokens[place] == token:
            place += 1
            return True
        return False

    def items(read):
        nonlocal place
        found = []
        if not accept("["):
            raise ValueError(f"found {tokens[place]!r} in {text}")
        while not accept("]"):
            found.append(read())
            accept(",")
        return tuple(found)

    def word():
        nonlocal place
        place += 1
        return tokens[place - 1]

    def pair():
        begin = int(word())
        word()
        return begin, int(word())

    def dim():
        axes, block, table = items(word), 1, None
        if accept("by"):
            block = int(word())
        if accept("at"):
            table = items(pair)
        return axes, block, table

    layout = Layout(items(dim))
    while accept(","):
        if word() == "varying":
            layout.varying = items(word)
        else:
            layout.kind, layout.partial = word(), items(word)
    return layout


@functools.lru_cache(None)
def coordinates(grid):
    """Of every rank: its coordinate by axis. The last axis is the fastest."""
    names = [name for name, _ in grid]
    return [dict(zip(names, place)) for place in
            itertools.product(*[range(size) for _, size in grid])]


def cut_range(size, cut, grid, place):
    axes, block, table = cut
    sizes, part, parts = dict(grid), 0, 1
    for axis in axes:
        part, parts = part * sizes[axis] + place[axis], parts * sizes[axis]
    if table is not None and axes:
        return table[part]
    # Of so many blocks the first parts get one more.
    counts = [size // block // parts + (p < size // block % parts)
              for p in range(parts)]
    return block * sum(counts[:part]), block * sum(counts[:part + 1])


@functools.lru_cache(None)
def boxes_of(grid, layout_text, shape):
    """Of every rank: the slices of the whole tensor that it holds."""
    layout = parse_layout(layout_text)
    if len(layout.dims) != len(shape):
        raise Mismatch(f"{layout_text} of {shape}")
    return [tuple(slice(*cut_range(size, cut, grid, place))
                  for size, cut in zip(shape, layout.dims))
            for place in coordinates(grid)]


def shape_of_box(box):
    return tuple(s.stop - s.start for s in box)


COMBINE = {"sum": np.add, "max": np.maximum, "min": np.minimum,
           "prod": np.multiply}


def assemble(shape, parts, what):
    """The whole tensor and where it is known, from (box, array) pairs."""
    whole = np.zeros(shape, parts[0][1].dtype)
    known = np.zeros(shape, bool)
    for box, array in parts:
        if array.shape != shape_of_box(box):
            raise Mismatch(f"{what}: a part of shape {array.shape}, its layout "
                           f"says {shape_of_box(box)}")
        both = known[box]
        if both.any() and not np.array_equal(whole[box][both], array[both],
                                             equal_nan=True):
            raise Mismatch(f"{what}: ranks hold different values of {box}")
        whole[box] = array
        known[box] = True
    return whole, known


def all_reduce(grid, axes, kind, arrays):
    groups = collections.defaultdict(list)
    for rank, place in enumerate(coordinates(grid)):
        groups[tuple(c for axis, c in place.items()
                     if axis not in axes)].append(rank)
    results = [None] * len(arrays)
    for ranks in groups.values():
        if len({arrays[rank].shape for rank in ranks}) != 1:
            raise Mismatch("all_reduce: shapes differ")
        total = functools.reduce(COMBINE[kind], [arrays[r] for r in ranks])
        for rank in ranks:
            results[rank] = total
    return results


def move(grid, name, axes, source, target, shape, arrays):
    """Gathers what a communicator holds, combines what is partial and cuts
    the new parts out."""
    old, new = parse_layout(source), parse_layout(target)
    combined = [a for a in old.partial if a not in new.partial]
    if set(new.partial) - set(old.partial) or old.varying != new.varying \
            or set(combined) - set(axes):
        raise Mismatch(f"{name} over {axes} from {source} to {target}")
    # Within a communicator, values that vary or stay partial do not mix.
    fixed = [a for a, _ in grid if a not in axes or a in new.varying
             or a in new.partial]
    before, after = (boxes_of(grid, text, shape) for text in (source, target))
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for rank, place in enumerate(coordinates(grid)):
        groups[tuple(place[a] for a in fixed)][
            tuple(place[a] for a in combined)].append(rank)
    results = [None] * len(arrays)
    for addends in groups.values():
        wholes = [assemble(shape, [(before[r], arrays[r]) for r in ranks], name)
                  for ranks in addends.values()]
        total = functools.reduce(COMBINE.get(old.kind), [w for w, _ in wholes])
        known = functools.reduce(np.logical_and, [k for _, k in wholes])
        for rank in itertools.chain(*addends.values()):
            if not known[after[rank]].all():
                raise Mismatch(f"{name} over {axes} from {source} to {target}: "
                               f"nobody has all of {after[rank]}")
            results[rank] = total[after[rank]].copy()
    return results


def cut(grid, source, target, shape, rank, array):
    """spmd.slice: a part of what the rank has."""
    old = boxes_of(grid, source, shape)[rank]
    new = boxes_of(grid, target, shape)[rank]
    if array.shape != shape_of_box(old):
        raise Mismatch(f"slice of {array.shape} from {source}")
    if 0 in shape_of_box(new):
        return np.zeros(shape_of_box(new), array.dtype)
    if any(n.start < o.start or n.stop > o.stop for n, o in zip(new, old)):
        raise Mismatch(f"slice from {source} to {target}: {new} is not in "
                       f"{old}")
    return array[tuple(slice(n.start - o.start, n.stop - o.start)
                       for n, o in zip(new, old))]


# ---- Text ------------------------------------------------------------------


def split_top(text):
    """Parts between the commas that no bracket encloses."""
    parts, depth, begin = [], 0, 0
    for match in re.finditer(r"[<({\[]|(?<!-)>|[)}\]]|,", text):
        token = match[0]
        if token in "<({[":
            depth += 1
        elif token != ",":
            depth -= 1
        elif depth == 0:
            parts.append(text[begin:match.start()].strip())
            begin = match.end()
    last = text[begin:].strip()
    return parts + [last] if last else parts


@functools.lru_cache(None)
def parse_type(text):
    """tensor<2x3xf64> as (shape, element)."""
    match = re.fullmatch(r"tensor<((?:\d+x)*)(\w+)>", text)
    if not match:
        return None
    return tuple(int(d) for d in match[1].split("x")[:-1]), match[2]


DTYPES = {"i1": np.bool_, "f16": np.float64, "f32": np.float64,
          "f64": np.float64}


def dtype_of(element):
    return DTYPES.get(element, np.int64)


def number(text, is_float):
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("0x") and is_float:
        return float(np.uint64(int(text, 16)).view(np.float64))
    return float(text) if is_float else int(text, 0)


def parse_dense(text):
    value, type_ = re.fullmatch(r"dense<(.*)> : (tensor<\w+>)", text).groups()
    shape, element = parse_type(type_)
    if value == "":
        return np.zeros(shape, dtype_of(element))
    if value.startswith('"'):
        return np.frombuffer(bytes.fromhex(value[3:-1]),
                             dtype_of(element)).reshape(shape)
    if value.startswith("["):
        return np.array(json.loads(value), dtype_of(element))
    return np.full(shape, number(value, element.startswith("f")),
                   dtype_of(element))


@functools.lru_cache(None)
def parse_attribute(text):
    if text.startswith("#dist."):
        return text
    if match := re.fullmatch(r"array<i64(?:: (.*))?>", text):
        return tuple(int(v) for v in match[1].split(",")) if match[1] else ()
    if match := re.fullmatch(r"(\S+) : (\w+)", text):
        return number(match[1], match[2].startswith("f"))
    if match := re.fullmatch(r"#\w+<\w+ (\w+)>", text):
        return match[1]
    if text.startswith("["):
        return tuple(part.strip('"') for part in split_top(text[1:-1]))
    if text.startswith("dense<"):
        return parse_dense(text)
    if text in ("true", "false"):
        return text == "true"
    return parse_type(text) or text.strip('"')


@functools.lru_cache(None)
def parse_dictionary(text):
    entries = {}
    for part in split_top(text):
        key, _, value = part.partition(" = ")
        entries[key] = parse_attribute(value) if value else True
    return entries


class Op:
    def __init__(self, results, name, operands, attributes, types, body=None):
        self.results, self.name, self.operands = results, name, operands
        self.attributes, self.body = attributes, body
        self.shapes = [shape for shape, _ in types]
        self.elements = [element for _, element in types]


OPERATION = re.compile(
    r'(?:(%\w+)(?::(\d+))? = )?"([\w.]+)"\(([^)]*)\)'
    r"(?: <\{(.*)\}>)?( \(\{)?(?: \{(.*)\})?(?: : \((.*?)\) -> (.*))?")
REGION_END = re.compile(r"\}\)(?: \{(.*)\})? : \(.*?\) -> (.*)")


def split_types(text):
    if text.startswith("("):
        text = text[1:-1]
    return [parse_type(part) for part in split_top(text)]


class Function:
    """One class's program of one phase."""

    def __init__(self, header):
        a = parse_dictionary(header)
        self.arguments = self.dictionaries(a.get("arg_attrs"))
        self.results = self.dictionaries(a.get("res_attrs"))
        self.names, self.ops, self.returned = [], [], []

    @staticmethod
    def dictionaries(entries):
        """(layout, whole shape, element) of arguments or results."""
        found = []
        for entry in entries or ():
            a = parse_dictionary(entry[1:-1])
            found.append((a["dist.layout"],) + a["spmd.global"])
        return found


class Program:
    """All ranks' programs of one module, by phase."""

    def __init__(self, text):
        self.ranks, self.functions = {}, collections.defaultdict(dict)
        self.lines = iter(text.splitlines())
        for line in self.lines:
            line = line.strip()
            if line.startswith('"spmd.class"'):
                a = parse_dictionary(re.search(r"<\{(.*)\}>", line)[1])
                self.ranks[a["sym_name"]] = a["ranks"]
            elif line.startswith('"func.func"'):
                self.read_function(line)
            elif match := re.search(r"dist\.grid = #dist\.grid<(.*?)>", line):
                self.grid = tuple(
                    (name, int(size)) for name, size in
                    re.findall(r"(\w+) = (\d+)", match[1]))

    def read_function(self, line):
        function = Function(re.search(r"<\{(.*)\}>", line)[1])
        for line in self.lines:
            line = line.strip()
            if line.startswith("^bb0"):
                function.names = re.findall(r"%\w+", line)
            elif line.startswith("})"):
                a = parse_dictionary(re.search(r"\{(.*)\}", line[2:])[1])
                break
            else:
                self.read_operation(line, function)
        self.functions[a["spmd.phase"]][a["spmd.class"].lstrip("@")] = function

    def read_operation(self, line, function):
        match = OPERATION.fullmatch(line)
        if not match:
            raise ValueError("no operation: " + line)
        result, count, name, operands, first, region, rest, _, types = \
            match.groups()
        operands = re.findall(r"%[\w#]+", operands)
        if name == "func.return":
            function.returned = operands
            return
        a = dict(parse_dictionary(first or ""))
        body = None
        if region:
            body, rest, types = self.read_region()
        a.update(parse_dictionary(rest or ""))
        names = [f"{result}#{i}" for i in range(int(count))] \
            if count else [result]
        function.ops.append(Op(names, name, operands, a, split_types(types),
                               body))

    def read_region(self):
        names, steps, yielded = [], [], []
        for line in self.lines:
            line = line.strip()
            if match := REGION_END.fullmatch(line):
                return (names, steps, yielded), match[1], match[2]
            if line.startswith("^bb0"):
                names = re.findall(r"%\w+", line)
                continue
            match = OPERATION.fullmatch(line)
            operands = re.findall(r"%\w+", match[4])
            if match[3] == "nn.yield":
                yielded = operands
            else:
                steps.append((match[1], match[3], operands))
        raise ValueError("a region without end")

    # ---- Running -----------------------------------------------------------

    def run(self, phase, inputs):
        """Whole results for whole inputs."""
        classes = self.functions[phase]
        of_rank = {}
        for symbol, ranks in self.ranks.items():
            for rank in ranks:
                if rank in of_rank:
                    raise Mismatch(f"rank {rank} is in two classes")
                of_rank[rank] = classes[symbol]
        functions = [of_rank[r] for r in range(len(coordinates(self.grid)))]
        values = []
        for rank, function in enumerate(functions):
            held = {}
            for name, array, (layout, shape, _) in zip(
                    function.names, inputs, function.arguments):
                held[name] = array[boxes_of(self.grid, layout, shape)[rank]]
            values.append(held)
        self.run_ranks(functions, values)
        results = []
        for i, (layout, shape, _) in enumerate(functions[0].results):
            boxes = boxes_of(self.grid, layout, shape)
            parts = [(boxes[r], values[r][f.returned[i]])
                     for r, f in enumerate(functions)]
            whole, known = assemble(shape, parts, f"result {i}")
            if not known.all():
                raise Mismatch(f"result {i}: nobody has all of it")
            results.append(whole)
        return results

    def run_ranks(self, functions, values):
        places = [0] * len(functions)
        while True:
            meeting = []
            for rank, function in enumerate(functions):
                place = places[rank]
                while place < len(function.ops):
                    op = function.ops[place]
                    if op.name.startswith("spmd.") and op.name != "spmd.slice":
                        break
                    self.run_op(op, rank, values[rank])
                    place += 1
                places[rank] = place
                if place < len(function.ops):
                    meeting.append(function.ops[place])
            if not meeting:
                return
            if len(meeting) != len(functions):
                raise Mismatch("some ranks communicate, others are done")
            self.communicate(meeting, values)
            places = [place + 1 for place in places]

    def communicate(self, ops, values):
        first = ops[0]
        if any(op.name != first.name or op.attributes != first.attributes
               for op in ops):
            raise Mismatch("ranks disagree about a collective")
        a, arrays = first.attributes, [
            held[op.operands[0]] for op, held in zip(ops, values)]
        if first.name == "spmd.all_reduce":
            results = all_reduce(self.grid, a["axes"], a["reduction"], arrays)
        else:
            results = move(self.grid, first.name, a["axes"], a["from"],
                           a["to"], a["global"][0], arrays)
        for op, held, result in zip(ops, values, results):
            if result.shape != op.shapes[0]:
                raise Mismatch(f"{op.name} gives {result.shape}, typed "
                               f"{op.shapes[0]}")
            held[op.results[0]] = result

    def run_op(self, op, rank, held):
        operands, a = [held[name] for name in op.operands], op.attributes
        if op.name == "spmd.slice":
            result = cut(self.grid, a["from"], a["to"], a["global"][0], rank,
                         operands[0])
            if result.shape != op.shapes[0]:
                raise Mismatch(f"slice gives {result.shape}, typed "
                               f"{op.shapes[0]}")
            held[op.results[0]] = result
            return
        name = op.name[len("nn."):]
        if "layout" in a:
            a = self.placed(name, a, op, rank, operands)
        try:
            results = nn_numpy.evaluate(name, operands, a, op.shapes,
                                        op.elements, op.body)
        except ValueError as error:
            raise Mismatch(f"nn.{name} on rank {rank}: {error}") from error
        held.update(zip(op.results, results))

    def placed(self, name, a, op, rank, operands):
        """Attributes with the start of the part that this rank holds."""
        shape = {"dropout_mask": lambda: a["global_shape"],
                 "iota": lambda: (a["size"],),
                 "gather": lambda: operands[0].shape,
                 "scatter_add": lambda: op.shapes[0]}[name]()
        if name in ("gather", "scatter_add"):
            # The other dimensions' sizes are local; only the rows count.
            axis = a["axis"]
            cut_ = parse_layout(a["layout"]).dims[axis]
            place = coordinates(self.grid)[rank]
            begin, end = cut_range(a["limit"], cut_, self.grid, place)
            if end - begin != shape[axis]:
                raise Mismatch(f"nn.{name}: {shape[axis]} rows, its layout "
                               f"says {end - begin}")
            return dict(a, start=a.get("start", 0) + begin)
        box = boxes_of(self.grid, a["layout"], shape)[rank]
        if shape_of_box(box) != op.shapes[0]:
            raise Mismatch(f"nn.{name} of {op.shapes[0]}, its layout says "
                           f"{shape_of_box(box)}")
        start = tuple(s.start for s in box)
        return dict(a, start=start)
