//===- SPMDOps.td - One rank's program --------------------*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Collectives on tensors, and the scheduled form: buffers at fixed offsets of
// one arena, launches and communication on streams, events between them.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_SPMD_IR_SPMDOPS_TD
#define PARTITA_DIALECTS_SPMD_IR_SPMDOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def SPMD_Dialect : Dialect {
  let name = "spmd";
  let cppNamespace = "::partita::spmd";
  let summary = "the program of one rank";
  let description = [{
    Single program, multiple data. Ranks with the same local shapes form a
    class (`spmd.class`), each class has one static function per phase
    (`@step_c0`, `@eval_c0`, `@predict_c0`), attributes `spmd.class` and
    `spmd.phase`.

    Place in the lowering: `partition` produces nn operations on local shapes
    with collectives on tensors (entry state); `schedule` replaces tensors by
    buffers of one arena, operations by launches on streams, and orders the
    streams by events (exit state), which code generation prints.

        compute: launch A ── record 0 ── launch B ── wait 1 ── launch C
        comm:       wait 0 ── communicate ── record 1
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::partita::dist::DistDialect"];
}

def SPMD_Reduction : I32EnumAttr<"Reduction", "how ranks' values combine", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>,
    I32EnumAttrCase<"min", 2>, I32EnumAttrCase<"prod", 3>]> {
  let cppNamespace = "::partita::spmd";
  let genSpecializedAttr = 0;
}
def SPMD_ReductionAttr : EnumAttr<SPMD_Dialect, SPMD_Reduction, "reduction">;

def SPMD_Stream : I32EnumAttr<"Stream", "a queue of work in order", [
    I32EnumAttrCase<"compute", 0>, I32EnumAttrCase<"comm", 1>]> {
  let cppNamespace = "::partita::spmd";
  let genSpecializedAttr = 0;
}
def SPMD_StreamAttr : EnumAttr<SPMD_Dialect, SPMD_Stream, "stream">;

def SPMD_Purpose : I32EnumAttr<"Purpose", "what a buffer holds", [
    I32EnumAttrCase<"input", 0>, I32EnumAttrCase<"variable", 1>,
    I32EnumAttrCase<"gradient", 2>, I32EnumAttrCase<"bucket", 3>,
    I32EnumAttrCase<"result", 4>, I32EnumAttrCase<"temporary", 5>]> {
  let cppNamespace = "::partita::spmd";
  let genSpecializedAttr = 0;
}
def SPMD_PurposeAttr : EnumAttr<SPMD_Dialect, SPMD_Purpose, "purpose">;

class SPMD_Op<string mnemonic, list<Trait> traits = []>
    : Op<SPMD_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Rank classes
//===----------------------------------------------------------------------===//

def SPMD_ClassOp : SPMD_Op<"class", [Symbol]> {
  let summary = "the ranks that run one static program";
  let description = [{
    After scheduling, `arena_bytes` is the size of the arena of these ranks
    and `persistent_bytes` the part of it that outlives a step.

        spmd.class @c0 ranks [0, 1] {arena_bytes = 8192 : i64,
                                     persistent_bytes = 4096 : i64}

    The attribute `servers` marks ranks that own parameters and do nothing
    else; they come after all ranks of the grid. Their functions are made by the
    schedule phase.

    Constraints: (C1) ranks are not negative and increase; (C2) the
    persistent part is not larger than the arena; (C3) the ranks of servers are
    behind those of the grid.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$ranks,
                       OptionalAttr<I64Attr>:$arena_bytes,
                       OptionalAttr<I64Attr>:$persistent_bytes);
  let assemblyFormat = "$sym_name `ranks` $ranks attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Collectives on tensors
//===----------------------------------------------------------------------===//

// Other ranks take part in collectives: one whose result a rank does not need,
// because its part is empty, must neither vanish nor become one with another.
// Hence their memory effects.
defvar SPMD_CollectiveEffects = MemoryEffects<[MemRead, MemWrite]>;

def SPMD_AllReduceOp : SPMD_Op<"all_reduce", [SPMD_CollectiveEffects,
                                              SameOperandsAndResultType]> {
  let summary = "combine a partial value over grid axes, result on all";
  let description = [{
        before   rank 0: [1 2]   rank 1: [3 4]
        after    rank 0: [4 6]   rank 1: [4 6]     (sum over the axis)

    Constraints: (C1) at least one axis; (C2) every axis is one of the
    module's grid, none twice.
  }];
  let arguments = (ins SPMD_ReductionAttr:$reduction, AnyRankedTensor:$x,
                       StrArrayAttr:$axes);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$reduction $x `over` $axes attr-dict `:` type($x)";
  let hasVerifier = 1;
}

// Moves change where the elements of a value live. `from` and `to` say it for
// the whole tensor `global`; types are this rank's parts.
def SPMD_Layout
    : Attr<CPred<"::llvm::isa<::partita::dist::LayoutAttr>($_self)">,
           "a #dist.layout"> {
  let storageType = "::partita::dist::LayoutAttr";
  let returnType = "::partita::dist::LayoutAttr";
  let convertFromStorage = "$_self";
}
class SPMD_MoveOp<string mnemonic, Trait effects = SPMD_CollectiveEffects>
    : SPMD_Op<mnemonic, [effects]> {
  let arguments = (ins AnyRankedTensor:$x, SPMD_Layout:$from,
                       SPMD_Layout:$to, TypeAttr:$global,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$axes);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = [{
    $x (`over` $axes^)? `from` $from `to` $to `of` $global attr-dict
    `:` type($x) `->` type($y)
  }];
  let hasVerifier = 1;
}

def SPMD_SliceOp : SPMD_MoveOp<"slice", Pure> {
  let summary = "keep a part of what the rank has; no communication";
  let description = [{
        from [[]]            rank 0: [1 2 3]   rank 1: [1 2 3]
        to   [[row]]         rank 0: [1 2]     rank 1: [3]

    Constraints: (C1) both layouts have the rank of `global`, and the types are
    parts of it; (C2) no axes, for nothing is sent; (C3) on every rank the new
    part lies in the old one.
  }];
}

def SPMD_AllGatherOp : SPMD_MoveOp<"all_gather"> {
  let summary = "undo the cut of one dimension over some axes";
  let description = [{
        from [[row]]         rank 0: [1 2]     rank 1: [3]
        to   [[]]            rank 0: [1 2 3]   rank 1: [1 2 3]

    Constraints: (C1) as spmd.slice; (C2) at least one axis, each of the
    module's grid, none twice; (C3) one dimension changes, and the axes are the
    last ones of its cut.
  }];
}

def SPMD_ReduceScatterOp : SPMD_MoveOp<"reduce_scatter"> {
  let summary = "combine a partial value, each rank keeping a part";
  let description = [{
        from [[]] partial    rank 0: [1 2 3]   rank 1: [4 5 6]
        to   [[row]]         rank 0: [5 7]     rank 1: [9]

    `from` is partial over the axes, by the kind it names.

    Constraints: (C1), (C2) as spmd.all_gather; (C3) `from` is partial over
    the axes, which `to` has as the last ones of one dimension's cut.
  }];
}

def SPMD_AllToAllOp : SPMD_MoveOp<"all_to_all"> {
  let summary = "move axes from the cut of one dimension to another's";
  let description = [{
        from [[row], []]     rank 0: [1 2]     rank 1: [3 4]
        to   [[], [row]]     rank 0: [1; 3]    rank 1: [2; 4]

    Constraints: (C1), (C2) as spmd.all_gather; (C3) one dimension's cut loses
    the axes, another's gains them.
  }];
}

def SPMD_HaloExchangeOp : SPMD_MoveOp<"halo_exchange"> {
  let summary = "get the neighbours' rows that a window reaches";
  let description = [{
        from [[row]]                rank 0: [1 2]     rank 1: [3 4]
        to   [[row] at [0:3, 1:4]]  rank 0: [1 2 3]   rank 1: [2 3 4]

    Widths come from the ranges: they may differ between sides and ranks, and
    reach further than the neighbour.

    Constraints: (C1), (C2) as spmd.all_gather; (C3) every dimension keeps its
    axes.
  }];
}

def SPMD_ExchangeOp : SPMD_MoveOp<"exchange"> {
  let summary = "any other change: each rank gets the elements it lacks";
  let description = [{
    Each rank receives each element that it lacks from one rank that has it,
    all at once.

    Constraints: (C1), (C2) as spmd.all_gather; (C3) no partial axes change.
  }];
}

//===----------------------------------------------------------------------===//
// The scheduled form
//===----------------------------------------------------------------------===//

def SPMD_BufferOp : SPMD_Op<"buffer", []> {
  let summary = "a part of the arena at a fixed offset";
  let description = [{
    `purpose` tells input, variable, gradient, bucket, result and temporary
    apart; `name` is the input's, variable's or result's name, or what the
    buffer holds. `global` and `layout` say of which whole tensor the buffer is
    this rank's part (inputs, variables and results).

        %x = spmd.buffer input "x" at 0 of tensor<64x784xf32>
            {layout = #dist.layout<[[data], []]>} : memref<16x784xf32>

    On servers a variable is the part of the workers of a `group`, and `axes`
    are those over which they share it.

    Constraints: (C1) the offset is a multiple of 64 and not negative;
    (C2) the type is a static memref with identity layout; (C3) inputs,
    variables and results have `global` and `layout`.
  }];
  let arguments = (ins SPMD_PurposeAttr:$purpose, StrAttr:$name,
    I64Attr:$offset, OptionalAttr<TypeAttr>:$global,
    OptionalAttr<AnyAttr>:$layout);
  let results = (outs AnyMemRef:$buffer);
  let assemblyFormat = [{
    $purpose $name `at` $offset (`of` $global^)? attr-dict
    `:` type($buffer)
  }];
  let hasVerifier = 1;
}

def SPMD_LaunchOp : SPMD_Op<"launch", [AttrSizedOperandSegments,
                                       NoTerminator]> {
  let summary = "one kernel on a stream";
  let description = [{
    `kernel` is the nn operation's name (or "copy"); `params` are that
    operation's attributes. A fused kernel carries its scalar body, whose block arguments
    are the elements of `inputs`. Outputs may alias inputs only where the
    kernel works element by element.

        spmd.launch "nn.relu" on compute (%x) -> (%y)
            : (memref<8x4xf32>) -> memref<8x4xf32>

    With `parts` and `axes` a rank works on its own part only of each operand,
    all of which are flat: the update of what it owns. The comm stream runs
    such updates between the calls that bring gradients and take parameters.

    Constraints: (C1) the kernel's name is not empty; (C2) there is at least
    one output; (C3) `parts` has an entry for each rank of the communicator over
    `axes`, and for each of its `servers`, which add up to the elements of each
    operand.
  }];
  let arguments = (ins StrAttr:$kernel, SPMD_StreamAttr:$stream,
    Variadic<AnyMemRef>:$inputs, Variadic<AnyMemRef>:$outputs,
    OptionalAttr<DictionaryAttr>:$params);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{
    $kernel `on` $stream `(` $inputs `)` `->` `(` $outputs `)`
    ($params^)? attr-dict-with-keyword
    `:` functional-type($inputs, $outputs) ($body^)?
  }];
  let hasVerifier = 1;
}

def SPMD_CommunicateOp : SPMD_Op<"communicate", []> {
  let summary = "a collective in place on a buffer";
  let description = [{
    Every rank of the communicator over `axes` issues the same communications
    in the same order. `label` says what is sent and why now.

        spmd.communicate "all_reduce" sum %b on comm over ["data"]
            label "bucket 0: fc3.weight" : memref<850xf32>

    The buffer of a move is its staging buffer, which launches of "spmd.pack"
    fill and "spmd.unpack" empty. These three carry the same `move`: what is
    moved between which layouts.

        spmd.communicate "halo_exchange" sum %s on comm over ["row"]
            label "conv1 reads x" {move = {from = #dist.layout<...>,
            to = #dist.layout<...>, global = tensor<8x16x32x32xf32>}}
            : memref<1024xf32>

    With `parts` a reduce_scatter leaves each rank the sum of its part of a flat
    buffer, and an all_gather takes each rank's part to all: gradients go to
    the ranks that own shares of the parameters, and parameters come back.

        spmd.communicate "reduce_scatter" sum %b on comm over ["data"]
            label "push bucket 0: fc3.weight" {parts = array<i64: 432, 418>}
            : memref<850xf32>

    With `servers` these are a push and a fetch: the communicator has so many
    server ranks behind the ranks over the axes, and the parts of the latter are
    empty. A server that serves several groups says by `group` for which one it
    is.

        spmd.communicate "reduce_scatter" sum %b on comm over ["data"]
            label "push bucket 0: fc3.weight"
            {parts = array<i64: 0, 0, 850>, servers = 1} : memref<850xf32>

    Constraints: (C1) the kind is all_reduce, reduce_scatter, all_gather,
    all_to_all, halo_exchange or exchange; (C2) at least one axis, each one of
    the module's grid, none twice; (C3) all kinds but all_reduce have a `move`
    with `from`, `to` and `global`, or `parts`; (C4) only an all_reduce has an
    `algorithm`: direct, ring, tree or hierarchical; (C5) `parts` has an entry
    for each rank of the communicator, which add up to the buffer's elements;
    (C6) `servers` is positive and stands beside `parts`, which are 0 for all
    ranks but the servers.
  }];
  let arguments = (ins StrAttr:$kind, SPMD_ReductionAttr:$reduction,
    AnyMemRef:$buffer, SPMD_StreamAttr:$stream, StrArrayAttr:$axes,
    StrAttr:$label, OptionalAttr<DictionaryAttr>:$move);
  let assemblyFormat = [{
    $kind $reduction $buffer `on` $stream `over` $axes `label` $label
    attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
}

def SPMD_RecordOp : SPMD_Op<"record", []> {
  let summary = "mark the point a stream has reached";
  let description = [{
    Constraints: (C1) the event is not negative; (C2) each event of a function
    is recorded once.
  }];
  let arguments = (ins I64Attr:$event, SPMD_StreamAttr:$stream);
  let assemblyFormat = "$event `on` $stream attr-dict";
  let hasVerifier = 1;
}

def SPMD_WaitOp : SPMD_Op<"wait", []> {
  let summary = "let a stream wait until an event has been reached";
  let description = [{
    With `previous` it is the mark of the previous run of the function that is
    waited for, so that what one step has sent may arrive while the next one
    computes; the first run does not wait. Between runs of different functions
    everything ends.

    Constraints: (C1) the event was recorded earlier in the function; (C2) with
    `previous` it is recorded later.
  }];
  let arguments = (ins I64Attr:$event, SPMD_StreamAttr:$stream);
  let assemblyFormat = "$event `on` $stream attr-dict";
  let hasVerifier = 1;
}

def SPMD_YieldOp : SPMD_Op<"yield", [Pure, Terminator,
                                     ParentOneOf<["LaunchOp"]>]> {
  let summary = "the elements a fused launch stores";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // PARTITA_DIALECTS_SPMD_IR_SPMDOPS_TD
