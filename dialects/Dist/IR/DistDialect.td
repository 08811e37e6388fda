//===- DistDialect.td - Grids, splits and layouts ---------*- tablegen -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Attributes that say how a program is distributed. They annotate nn
// operations and variables; the dialect has no operations.
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_DIST_IR_DISTDIALECT_TD
#define PARTITA_DIALECTS_DIST_IR_DISTDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::partita::dist";
  let summary = "process grids, splits of layers, layouts of tensors";
  let description = [{
    P processes form a grid with named axes. A layer's split assigns axes to
    its iteration dimensions; a tensor's layout follows from it.

    Place in the lowering: `plan` adds `dist.grid` to the module, `dist.split`
    to every operation and `dist.sync` to every parameter; `partition` turns
    them into local shapes and collectives, and keeps `#dist.layout` on what
    the program exchanges with its surroundings (inputs, outputs, variables).
    `dist.servers` on the module counts ranks beside the grid that own the
    parameters of `parameter_server` (Servers.h).

        data = 4, rows of a [64, 10] tensor:     rank 0  rows  0..15
          #dist.layout<[[data], []]>             rank 1  rows 16..31  ...
  }];
  let useDefaultAttributePrinterParser = 1;
}

class Dist_Attr<string name, string attrMnemonic>
    : AttrDef<Dist_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dist_GridAttr : Dist_Attr<"Grid", "grid"> {
  let summary = "the process grid: named axes and their sizes";
  let description = [{
    Ranks are numbered row-major: the last axis varies fastest.

        #dist.grid<node = 2, data = 4>

    Constraints: (C1) axis names are identifiers and distinct; (C2) sizes are
    positive.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes,
                        ArrayRefParameter<"int64_t">:$sizes);
  let extraClassDeclaration = [{
    /// Number of ranks: the product of the sizes.
    int64_t getNumRanks() const;
    /// Index of `axis`, or -1.
    int findAxis(::llvm::StringRef axis) const;
    /// Size of `axis`; 1 for an axis the grid does not have.
    int64_t getAxisSize(::llvm::StringRef axis) const;
    /// Coordinate of `rank` on the axis number `axis`.
    int64_t getCoordinate(int64_t rank, int axis) const;
  }];
}

def Dist_SplitAttr : Dist_Attr<"Split", "split"> {
  let summary = "grid axes for the iteration dimensions of a layer";
  let description = [{
    Dimensions not named stay whole. Axes on one dimension split it in order,
    the first coarsest. Parts are dealt out as in #dist.layout: balanced, in
    blocks, or by a table.

        dist.split = #dist.split<n = [data], co = [model]>
        dist.split = #dist.split<m = [data] by 16>
        dist.split = #dist.split<n = [data] at [0:3, 3:6, 6:9, 9:10]>

    Constraints: (C1) dimension names are distinct; (C2) no axis is used
    twice; (C3) no list of axes is empty; (C4) one positive block size per
    dimension; (C5) a table holds pairs.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$dims,
                        ArrayRefParameter<"::mlir::ArrayAttr">:$axes,
                        ArrayRefParameter<"int64_t">:$blocks,
                        ArrayRefParameter<"::mlir::DenseI64ArrayAttr">:$ranges);
  let extraClassDeclaration = [{
    /// A split into balanced parts.
    static SplitAttr getBalanced(::mlir::MLIRContext *context,
                                 ::llvm::ArrayRef<::mlir::StringAttr> dims,
                                 ::llvm::ArrayRef<::mlir::ArrayAttr> axes);
    /// Index of `dim` in the lists, or -1.
    int find(::llvm::StringRef dim) const;
    /// The axes that split `dim`; empty when it stays whole.
    ::llvm::ArrayRef<::mlir::Attribute> getAxesOf(::llvm::StringRef dim) const;
  }];
}

def Dist_LayoutAttr : Dist_Attr<"Layout", "layout"> {
  let summary = "where the elements of a tensor live";
  let description = [{
    One list of axes per dimension. An axis that splits no dimension either
    replicates the tensor (not mentioned), or holds a `partial` value that
    combines by sum, max, min or prod, or a value of its own (`varying`).

        #dist.layout<[[data], []]>              rows split, columns whole
        #dist.layout<[[]], partial sum [data]>  a gradient before reduction

    Parts are balanced in blocks of `by` elements (1 unless said): the first
    `blocks mod parts` parts hold one block more.

        #dist.layout<[[data] by 16, []]>        samples of 16 rows each

    Other parts are given by a table of ranges, one per part. Ranges that
    overlap say that ranks hold their neighbours' rows too (a halo).

        #dist.layout<[[data] at [0:3, 3:6, 6:9, 9:10], []]>
        #dist.layout<[[], [], [rows] at [0:5, 3:8], []]>

    Constraints: (C1) no axis is used twice; (C2) the partial kind is sum,
    max, min or prod and given exactly when there are partial axes; (C3) one
    positive block size per dimension; (C4) a table holds pairs and belongs to
    a dimension with axes.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::ArrayAttr">:$dims,
                        ArrayRefParameter<"int64_t">:$blocks,
                        ArrayRefParameter<"::mlir::DenseI64ArrayAttr">:$ranges,
                        "::mlir::StringAttr":$partialKind,
                        ArrayRefParameter<"::mlir::StringAttr">:$partial,
                        ArrayRefParameter<"::mlir::StringAttr">:$varying);
  let extraClassDeclaration = [{
    /// Every dimension whole, every axis replicating.
    static LayoutAttr getReplicated(::mlir::MLIRContext *context,
                                    unsigned rank);
    bool isReplicated() const;
    /// Whether dimension `dim` is split.
    bool isSplit(unsigned dim) const { return !getDims()[dim].empty(); }
    bool isPartial() const { return !getPartial().empty(); }
    /// The axes of dimension `dim`.
    ::llvm::ArrayRef<::mlir::Attribute> getAxesOf(unsigned dim) const {
      return getDims()[dim].getValue();
    }
  }];
}

def Dist_SyncMethod : I32EnumAttr<"SyncMethod", "how a gradient is combined", [
    I32EnumAttrCase<"all_reduce", 0>, I32EnumAttrCase<"parameter_server", 1>,
    I32EnumAttrCase<"factor_broadcast", 2>]> {
  let cppNamespace = "::partita::dist";
}

def Dist_Algorithm : I32EnumAttr<"Algorithm", "how an all_reduce travels", [
    I32EnumAttrCase<"automatic", 0>, I32EnumAttrCase<"direct", 1>,
    I32EnumAttrCase<"ring", 2>, I32EnumAttrCase<"tree", 3>,
    I32EnumAttrCase<"hierarchical", 4>]> {
  let cppNamespace = "::partita::dist";
}

def Dist_SyncAttr : Dist_Attr<"Sync", "sync"> {
  let summary = "how the gradient of a parameter is combined over ranks";
  let description = [{
        dist.sync = #dist.sync<all_reduce [data]>
        dist.sync = #dist.sync<all_reduce [node, data] by hierarchical>
        dist.sync = #dist.sync<parameter_server [data]>
        dist.sync = #dist.sync<factor_broadcast [data]>

    The axes are those over which each rank's gradient is a partial sum.

    - all_reduce: every rank gets the sum and makes the update.
    - parameter_server: each rank of the group owns an equal share of the
      parameters: it gets the sum for its share, updates it, and the others
      fetch it (Li et al., OSDI'14; shares of all layers as in Poseidon, Zhang
      et al., ATC'17, section 4).
    - factor_broadcast: the gradient is a product of two matrices, one row of
      each per sample; ranks gather the rows and multiply (Xie et al., UAI'16;
      Poseidon, section 3.2). No axes are left to sum over.

    Constraints: (C1) axes are distinct; (C2) only an all_reduce has an
    algorithm.
  }];
  let parameters = (ins "::partita::dist::SyncMethod":$method,
                        ArrayRefParameter<"::mlir::StringAttr">:$axes,
                        "::partita::dist::Algorithm":$algorithm);
}

#endif // PARTITA_DIALECTS_DIST_IR_DISTDIALECT_TD
