//===- Matmul.cpp - Matrix products by oneDNN -----------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One oneDNN product over strided operands, so transposes and broadcasts cost
// nothing beforehand.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"
#include "OneDnn.h"

#include <algorithm>
#include <optional>

using namespace partita;
using namespace partita::kernels;
using Slot = OneDnnSequence::Slot;

namespace {
struct MatmulState final : Kernel::State {
  /// None where the result is empty or a sum of nothing.
  std::optional<OneDnnSequence> sequence;
  std::int64_t count = 0;
};
} // namespace

/// One operand of [batch, rows, columns]; `stride` 0 shares one matrix.
static dnnl::memory::desc operandDesc(std::int64_t batch, std::int64_t rows,
                                      std::int64_t columns, bool transposed,
                                      std::int64_t stride) {
  std::int64_t matrices = stride == 0 ? 1 : batch;
  // A batch of one needs some stride that does not overlap.
  std::int64_t apart = matrices == 1 ? rows * columns : stride;
  if (transposed)
    return stridedDesc({matrices, rows, columns}, {apart, 1, rows});
  return stridedDesc({matrices, rows, columns}, {apart, columns, 1});
}

static std::unique_ptr<Kernel::State> prepare(const MatmulSizes &sizes) {
  checkMatmul("matmul", sizes);
  auto state = std::make_unique<MatmulState>();
  state->count = sizes.batch * sizes.m * sizes.n;
  if (state->count == 0 || sizes.k == 0)
    return state;
  auto a =
      operandDesc(sizes.batch, sizes.m, sizes.k, sizes.transA, sizes.strideA);
  auto b =
      operandDesc(sizes.batch, sizes.k, sizes.n, sizes.transB, sizes.strideB);
  auto y = plainDesc({sizes.batch, sizes.m, sizes.n});
  try {
    OneDnnPrimitive product = makeMatmul(a, b, y, sizes.alpha);
    state->sequence.emplace();
    Slot aSlot = state->sequence->addTensor(a);
    Slot bSlot = state->sequence->addTensor(b);
    Slot ySlot = state->sequence->addTensor(y);
    state->sequence->add(product, {{DNNL_ARG_SRC, aSlot},
                                   {DNNL_ARG_WEIGHTS, bSlot},
                                   {DNNL_ARG_DST, ySlot}});
  } catch (const dnnl::error &error) {
    throw Error("matmul: oneDNN refuses the product of " +
                toString({sizes.batch, sizes.m, sizes.k}) + " and " +
                toString({sizes.batch, sizes.k, sizes.n}) + ": " +
                error.what());
  }
  state->workspace = state->sequence->workspaceBytes();
  return reserved(std::move(state));
}

Matmul::Matmul(Device &, const MatmulSizes &sizes) : Kernel(prepare(sizes)) {}

void Matmul::operator()(Stream &stream, const float *a, const float *b,
                        float *y) const {
  const auto &product = as<MatmulState>(state);
  stream.run("matmul", [&product, a, b, y] {
    if (!product.sequence) {
      std::fill(y, y + product.count, 0.0f);
      return;
    }
    const void *tensors[] = {a, b, y};
    product.sequence->run(tensors);
  });
}
