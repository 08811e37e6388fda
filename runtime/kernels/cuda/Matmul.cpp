//===- Matmul.cpp - Matrix products by cuBLAS -------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cuBLAS stores matrices by column. The row-major matrix y [m, n] is, read by
// column, its transpose [n, m]; so the product asked for is y' = b' a', and the
// flags of a and b keep their meaning.
//
//===----------------------------------------------------------------------===//

#include "Fill.h"
#include "KernelState.h"
#include "Libraries.h"

#include <limits>

using namespace partita;
using namespace partita::kernels;

namespace {
struct MatmulState final : Kernel::State {
  MatmulSizes sizes;
  std::int64_t count = 0;
};
} // namespace

static std::unique_ptr<Kernel::State> prepare(Device &device,
                                              const MatmulSizes &sizes) {
  checkMatmul("matmul", sizes);
  auto state = std::make_unique<MatmulState>();
  MatmulSizes &product = state->sizes;
  product = sizes;
  state->count = sizes.batch * sizes.m * sizes.n;
  if (state->count == 0 || sizes.k == 0)
    return state;
  // Matrices that lie behind each other and share b are one tall matrix.
  if (product.batch > 1 && product.strideB == 0 && !product.transA &&
      product.strideA == product.m * product.k) {
    product.m *= product.batch;
    product.batch = 1;
  }
  for (std::int64_t size : {product.batch, product.m, product.n, product.k})
    if (size > std::numeric_limits<int>::max())
      refuse("matmul", "found the product of " +
                           toString({product.batch, product.m, product.k}) +
                           " and " +
                           toString({product.batch, product.k, product.n}) +
                           ", expected sizes below 2^31; split the tensors "
                           "over more ranks");
  prepareCublas(device);
  return state;
}

Matmul::Matmul(Device &device, const MatmulSizes &sizes)
    : Kernel(prepare(device, sizes)) {}

void Matmul::operator()(Stream &stream, const float *a, const float *b,
                        float *y) const {
  const auto &product = as<MatmulState>(state);
  stream.run("matmul", [&] {
    const MatmulSizes &sizes = product.sizes;
    if (product.count == 0 || sizes.k == 0)
      return fill(stream, 0.0f, y, product.count);
    int m = static_cast<int>(sizes.m), n = static_cast<int>(sizes.n),
        k = static_cast<int>(sizes.k);
    const float zero = 0.0f;
    PARTITA_CHECK(cublasSgemmStridedBatched(
        cublasOf(stream), sizes.transB ? CUBLAS_OP_T : CUBLAS_OP_N,
        sizes.transA ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &sizes.alpha, b,
        sizes.transB ? k : n, sizes.strideB, a, sizes.transA ? m : k,
        sizes.strideA, &zero, y, n, sizes.m * sizes.n,
        static_cast<int>(sizes.batch)));
  });
}
