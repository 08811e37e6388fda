//===- GatherOps.cpp - Look-ups by data and their gradients ---------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything about nn.gather and nn.scatter_add: result types, rules, gradients
// and iteration spaces, which the two share.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"

using namespace mlir;
using namespace partita::nn;

namespace {

bool isAxisOf(int64_t axis, ArrayRef<int64_t> shape) {
  return axis >= 0 && axis < static_cast<int64_t>(shape.size());
}

/// Shape of the rows of `table` along `axis` at `indices`.
SmallVector<int64_t> gatheredShape(ArrayRef<int64_t> table,
                                   ArrayRef<int64_t> indices, int64_t axis) {
  SmallVector<int64_t> shape(table.take_front(axis));
  llvm::append_range(shape, indices);
  llvm::append_range(shape, table.drop_front(axis + 1));
  return shape;
}

/// C1 and C2 of both operations; `table` is the table or its gradient.
template <typename OpT> LogicalResult verifyRows(OpT op, Value table) {
  auto axis = static_cast<int64_t>(op.getAxis());
  auto start = static_cast<int64_t>(op.getStart());
  auto limit = static_cast<int64_t>(op.getLimit());
  // C1
  if (!isAxisOf(axis, shapeOf(table)))
    return op.emitOpError()
           << "axis " << axis << " is no dimension of " << table.getType();
  // C2
  int64_t rows = shapeOf(table)[axis];
  if (start < 0 || rows > limit || start > limit - rows)
    return op.emitOpError()
           << "holds " << rows << " rows from row " << start
           << " on, expected rows inside the limit of " << limit;
  return success();
}

/// The loops over the indices' dimensions, the rows and the table's other
/// dimensions, and the maps of the three tensors.
struct RowMaps {
  IterationSpace space;
  TensorMap table, indices, rows;
};

RowMaps rowMaps(ArrayRef<int64_t> table, ArrayRef<int64_t> indices,
                int64_t axis, bool addsUp) {
  RowMaps maps;
  DimKind indexKind = addsUp ? DimKind::reduction : DimKind::parallel;
  for (auto [i, size] : llvm::enumerate(indices))
    maps.indices.push_back(
        direct(maps.space.addDim("i" + std::to_string(i), size, indexKind,
                                 i == 0 ? DimRole::batch : DimRole::domain)));
  // A part of the rows gives zeros for all others: the parts' results add up.
  int v = maps.space.addDim("v", table[axis],
                            addsUp ? DimKind::parallel : DimKind::reduction,
                            DimRole::model);
  int64_t others = 0;
  for (auto [i, size] : llvm::enumerate(table)) {
    if (static_cast<int64_t>(i) == axis) {
      maps.table.push_back(direct(v));
      llvm::append_range(maps.rows, maps.indices);
      continue;
    }
    int c = maps.space.addDim("c" + std::to_string(others++), size,
                              DimKind::parallel, DimRole::model);
    maps.table.push_back(direct(c));
    maps.rows.push_back(direct(c));
  }
  return maps;
}

} // namespace

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

void GatherOp::build(OpBuilder &builder, OperationState &state, Value table,
                     Value indices, int64_t axis) {
  build(builder, state, table, indices, builder.getI64IntegerAttr(axis),
        builder.getI64IntegerAttr(shapeOf(table)[axis]),
        builder.getI64IntegerAttr(0), Attribute());
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (!adaptor.getAxisAttr()) {
    if (loc)
      mlir::emitError(*loc) << "'nn.gather' needs an axis";
    return failure();
  }
  auto table = tensorType(adaptor.getTable());
  int64_t axis = adaptor.getAxis();
  // C1, which the result's type depends on.
  if (!isAxisOf(axis, table.getShape())) {
    if (loc)
      mlir::emitError(*loc)
          << "'nn.gather' axis " << axis << " is no dimension of " << table;
    return failure();
  }
  types.push_back(RankedTensorType::get(
      gatheredShape(table.getShape(), shapeOf(adaptor.getIndices()), axis),
      table.getElementType()));
  return success();
}

Value GatherOp::getPlacedValue() { return getTable(); }

LogicalResult GatherOp::verify() { return verifyRows(*this, getTable()); }

LogicalResult GatherOp::buildVjp(OpBuilder &b, ValueRange dy,
                                 ArrayRef<bool> wanted,
                                 SmallVectorImpl<Value> &grads) {
  grads.append(2, Value());
  if (dy[0] && wanted[0])
    grads[0] = b.create<ScatterAddOp>(
        getLoc(), getTable().getType(), dy[0], getIndices(), getAxisAttr(),
        getLimitAttr(), getStartAttr(), getLayoutAttr());
  return success();
}

IterationSpace GatherOp::getIterationSpace() {
  RowMaps maps = rowMaps(shapeOf(getTable()), shapeOf(getIndices()), getAxis(),
                         /*addsUp=*/false);
  maps.space.operands = {maps.table, maps.indices};
  maps.space.results = {maps.rows};
  return maps.space;
}

//===----------------------------------------------------------------------===//
// Scatter-add
//===----------------------------------------------------------------------===//

Value ScatterAddOp::getPlacedValue() { return getDtable(); }

LogicalResult ScatterAddOp::verify() {
  if (failed(verifyRows(*this, getDtable())))
    return failure();
  auto table = tensorType(getDtable());
  // C3
  auto expected = RankedTensorType::get(
      gatheredShape(table.getShape(), shapeOf(getIndices()), getAxis()),
      table.getElementType());
  if (getDy().getType() == expected)
    return success();
  return emitOpError() << "adds up dy of type " << getDy().getType()
                       << ", expected " << expected
                       << ", what gathering from the result gives";
}

LogicalResult ScatterAddOp::buildVjp(OpBuilder &b, ValueRange grad,
                                     ArrayRef<bool> wanted,
                                     SmallVectorImpl<Value> &grads) {
  grads.append(2, Value());
  if (grad[0] && wanted[0])
    grads[0] = b.create<GatherOp>(getLoc(), getDy().getType(), grad[0],
                                  getIndices(), getAxisAttr(), getLimitAttr(),
                                  getStartAttr(), getLayoutAttr());
  return success();
}

IterationSpace ScatterAddOp::getIterationSpace() {
  RowMaps maps = rowMaps(shapeOf(getDtable()), shapeOf(getIndices()), getAxis(),
                         /*addsUp=*/true);
  maps.space.operands = {maps.rows, maps.indices};
  maps.space.results = {maps.table};
  return maps.space;
}
