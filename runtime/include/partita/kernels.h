//===- kernels.h - The heavy layers of an emitted program -------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One class per launch of the IR: the constructor takes the sizes and prepares
// everything that costs time or memory, the call takes a stream and pointers
// and allocates nothing. The cpu and the cuda back end implement the same
// classes; a program links exactly one of them.
//
// Rules that hold for every class:
//  - tensors are dense, row-major, float32 unless the parameter type says
//    otherwise; image-like tensors are [n, c, spatial...];
//  - inputs come first, then outputs; outputs are overwritten (never
//    accumulated into) and may not overlap inputs unless the class says so;
//  - any size may be 0: an empty output is a no-op, an output reduced from
//    nothing is filled with the neutral value (a filter gradient with 0);
//  - the call is equivalent to the formula in the class comment, run in order
//    on the stream. On the cpu a call on the compute stream returns when it is
//    done; on the gpu it returns when it is queued;
//  - results depend on the inputs only, never on timing, and are the same for
//    every call of one object;
//  - the constructor throws `Error` for sizes that contradict each other and
//    for what the library refuses;
//  - an object keeps no pointer of a call; it may be used from one stream at a
//    time. It must not outlive its device.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_H
#define PARTITA_KERNELS_H

#include "partita/device.h"
#include "partita/types.h"

#include <initializer_list>
#include <memory>
#include <vector>

namespace partita {

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// A convolution y = conv(x, w): x is [batch, inChannels, in...], w is
/// [outChannels, inChannels / groups, kernel...], y is
/// [batch, outChannels, out...] with one to three spatial dimensions and
///   out = (in + padLow + padHigh - dilation * (kernel - 1) - 1) / stride + 1
/// rounded down. Pads may differ between the two ends and may be negative
/// (the end is cropped).
struct ConvSizes {
  std::int64_t batch = 0;
  std::int64_t inChannels = 0;
  std::int64_t outChannels = 0;
  std::int64_t groups = 1;
  Dims in;
  Dims kernel;
  Dims strides;
  Dims dilations; ///< 1 means dense, as in ONNX.
  Dims padLow;
  Dims padHigh;

  /// Spatial sizes of y; 0 where the kernel does not fit.
  Dims out() const;
};

/// ConvSizes from the shapes of x and w, in ONNX's attribute order. Empty
/// strides and dilations mean 1 everywhere, empty pads mean 0; `pads` lists all
/// low ends and then all high ends. Throws `Error` when ranks
/// or channels contradict each other.
///   convSizes({64, 1, 28, 28}, {6, 1, 5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2})
ConvSizes convSizes(Dims x, Dims w, Dims strides = {}, Dims dilations = {},
                    Dims pads = {}, std::int64_t groups = 1);

/// A pooling window that slides over x [batch, channels, in...] and gives
/// y [batch, channels, out...], one to three spatial dimensions. `out` is
/// explicit, so that windows of ceil_mode may hang over the padded extent
/// [-padLow, in + padHigh).
struct PoolSizes {
  std::int64_t batch = 0;
  std::int64_t channels = 0;
  Dims in;
  Dims out;
  Dims kernel;
  Dims strides;
  Dims dilations; ///< 1 means dense, as in ONNX.
  Dims padLow;
  Dims padHigh;
};

/// PoolSizes from the shapes of x and y, in ONNX's attribute order; defaults
/// and errors as for `convSizes`.
///   poolSizes({64, 6, 28, 28}, {64, 6, 14, 14}, {2, 2}, {2, 2})
PoolSizes poolSizes(Dims x, Dims y, Dims kernel, Dims strides = {},
                    Dims dilations = {}, Dims pads = {});

/// y[b] = alpha * op(a[b]) * op(b[b]) for b in [0, batch): op(a) is [m, k],
/// stored as [k, m] when transA; op(b) is [k, n], stored as [n, k] when transB;
/// y is [batch, m, n], dense. Strides are elements between two matrices of a
/// batch, 0 to use one matrix for all.
struct MatmulSizes {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool transA = false;
  bool transB = false;
  std::int64_t strideA = 0;
  std::int64_t strideB = 0;
  float alpha = 1.0f;
};

//===----------------------------------------------------------------------===//
// What all kernels share
//===----------------------------------------------------------------------===//

/// Base of the kernel classes: owns the back end's prepared state. Movable,
/// not copyable.
class Kernel {
public:
  /// Bytes beside inputs and outputs that a call uses; kernels of one device
  /// share one workspace, so a program needs the largest, not the sum.
  std::size_t workspaceBytes() const;

  /// The back end's part, defined there.
  struct State;

protected:
  explicit Kernel(std::unique_ptr<State> state);
  Kernel(Kernel &&other) noexcept;
  Kernel &operator=(Kernel &&other) noexcept;
  ~Kernel();

  std::unique_ptr<State> state;
};

//===----------------------------------------------------------------------===//
// Convolution and matrix product
//===----------------------------------------------------------------------===//

/// y = conv(x, w) (+ bias[outChannels] when constructed with bias).
class ConvForward : public Kernel {
public:
  ConvForward(Device &device, const ConvSizes &sizes, bool bias);
  /// `bias` is ignored (may be null) when constructed without one.
  void operator()(Stream &stream, const float *x, const float *w,
                  const float *bias, float *y) const;
};

/// dx = gradient of <dy, conv(x, w)> by x; also the forward pass of a
/// transposed convolution.
class ConvInputGrad : public Kernel {
public:
  ConvInputGrad(Device &device, const ConvSizes &sizes);
  void operator()(Stream &stream, const float *dy, const float *w,
                  float *dx) const;
};

/// dw = gradient of <dy, conv(x, w)> by w, summed over the batch.
class ConvFilterGrad : public Kernel {
public:
  ConvFilterGrad(Device &device, const ConvSizes &sizes);
  void operator()(Stream &stream, const float *x, const float *dy,
                  float *dw) const;
};

/// See MatmulSizes. With k = 0 the result is 0.
class Matmul : public Kernel {
public:
  Matmul(Device &device, const MatmulSizes &sizes);
  void operator()(Stream &stream, const float *a, const float *b,
                  float *y) const;
};

//===----------------------------------------------------------------------===//
// Pooling and local response normalization
//===----------------------------------------------------------------------===//

/// y = maximum of the window's cells inside x; NaN wins. A window without any
/// cell gives -infinity.
class MaxPool : public Kernel {
public:
  MaxPool(Device &device, const PoolSizes &sizes);
  void operator()(Stream &stream, const float *x, float *y) const;
};

/// dx = sum of dy over the windows whose first maximum (in row-major order of
/// the window) is this cell.
class MaxPoolGrad : public Kernel {
public:
  MaxPoolGrad(Device &device, const PoolSizes &sizes);
  void operator()(Stream &stream, const float *x, const float *dy,
                  float *dx) const;
};

/// y = sum of the window's cells inside x, divided by the number of its cells
/// inside x or, when countIncludePad, inside the padded extent (cells beyond
/// it, reached by ceil_mode, never count). A window that counts no cell
/// gives 0.
class AvgPool : public Kernel {
public:
  AvgPool(Device &device, const PoolSizes &sizes, bool countIncludePad);
  void operator()(Stream &stream, const float *x, float *y) const;
};

/// dx = each dy spread over its window with the divisor of AvgPool.
class AvgPoolGrad : public Kernel {
public:
  AvgPoolGrad(Device &device, const PoolSizes &sizes, bool countIncludePad);
  void operator()(Stream &stream, const float *dy, float *dx) const;
};

/// y[n,c,i] = x[n,c,i] * (bias + alpha / size * sum x[n,c',i]^2)^-beta with c'
/// in [c - (size - 1) / 2, c + size / 2] (integer divisions, cut at the ends),
/// x seen as [n, c, inner].
class Lrn : public Kernel {
public:
  Lrn(Device &device, std::int64_t n, std::int64_t c, std::int64_t inner,
      std::int64_t size, float alpha, float beta, float bias);
  void operator()(Stream &stream, const float *x, float *y) const;
};

/// dx of Lrn.
class LrnGrad : public Kernel {
public:
  LrnGrad(Device &device, std::int64_t n, std::int64_t c, std::int64_t inner,
          std::int64_t size, float alpha, float beta, float bias);
  void operator()(Stream &stream, const float *x, const float *dy,
                  float *dx) const;
};

//===----------------------------------------------------------------------===//
// Reductions and normalization
//===----------------------------------------------------------------------===//

enum class ReduceKind { sum, max, min, prod };

/// y = scale * (reduction of x over `axes`); y has the kept axes in order. A
/// mean is a sum with scale 1/count. Empty reductions give scale times 0,
/// -infinity, +infinity or 1. No axes: y = scale * x. Sums and products are
/// accumulated so that their error does not grow with the count.
class Reduce : public Kernel {
public:
  Reduce(Device &device, ReduceKind kind, Dims shape, Dims axes,
         float scale = 1.0f);
  void operator()(Stream &stream, const float *x, float *y) const;
};

/// y = scale * sum over `axes` of (x - mean)^2; mean and y have the kept axes.
class Variance : public Kernel {
public:
  Variance(Device &device, Dims shape, Dims axes, float scale);
  void operator()(Stream &stream, const float *x, const float *mean,
                  float *y) const;
};

/// y = gamma * (x - mean) / sqrt(var + eps) + beta with x seen as
/// [outer, channels, inner] and the four statistics as [channels].
class Normalize : public Kernel {
public:
  Normalize(Device &device, std::int64_t outer, std::int64_t channels,
            std::int64_t inner, float eps);
  void operator()(Stream &stream, const float *x, const float *mean,
                  const float *var, const float *gamma, const float *beta,
                  float *y) const;
};

/// dbeta = sum dy, dgamma = sum dy * (x - mean) / sqrt(var + eps), over outer
/// and inner.
class NormalizeSums : public Kernel {
public:
  NormalizeSums(Device &device, std::int64_t outer, std::int64_t channels,
                std::int64_t inner, float eps);
  void operator()(Stream &stream, const float *dy, const float *x,
                  const float *mean, const float *var, float *dbeta,
                  float *dgamma) const;
};

/// dx = gamma / sqrt(var + eps) * (dy - scale * dbeta - xhat * scale * dgamma)
/// with xhat = (x - mean) / sqrt(var + eps) and scale = 1 / (number of elements
/// the statistics were taken over, on all ranks). dx may be dy.
class NormalizeGrad : public Kernel {
public:
  NormalizeGrad(Device &device, std::int64_t outer, std::int64_t channels,
                std::int64_t inner, float eps, float scale);
  void operator()(Stream &stream, const float *dy, const float *x,
                  const float *mean, const float *var, const float *gamma,
                  const float *dbeta, const float *dgamma, float *dx) const;
};

//===----------------------------------------------------------------------===//
// Softmax and losses
//===----------------------------------------------------------------------===//

/// Softmax (or, with log, log-softmax) over the middle of [outer, axis, inner].
class Softmax : public Kernel {
public:
  Softmax(Device &device, std::int64_t outer, std::int64_t axis,
          std::int64_t inner, bool log);
  void operator()(Stream &stream, const float *x, float *y) const;
};

/// dx of Softmax from its result y: y * (dy - sum y * dy), or, with log,
/// dy - exp(y) * sum dy.
class SoftmaxGrad : public Kernel {
public:
  SoftmaxGrad(Device &device, std::int64_t outer, std::int64_t axis,
              std::int64_t inner, bool log);
  void operator()(Stream &stream, const float *y, const float *dy,
                  float *dx) const;
};

/// losses[outer, inner] = -log softmax(logits)[label] over the middle of
/// logits [outer, classes, inner]; labels are [outer, inner]. A label outside
/// [0, classes) gives loss 0 (the data reader has refused it before, unless it
/// is the padding of a last batch).
class CrossEntropy : public Kernel {
public:
  CrossEntropy(Device &device, std::int64_t outer, std::int64_t classes,
               std::int64_t inner);
  void operator()(Stream &stream, const float *logits,
                  const std::int64_t *labels, float *losses) const;
};

/// dlogits = scale * (softmax(logits) - onehot(label)); 0 where the label is
/// outside [0, classes).
class CrossEntropyGrad : public Kernel {
public:
  CrossEntropyGrad(Device &device, std::int64_t outer, std::int64_t classes,
                   std::int64_t inner, float scale);
  void operator()(Stream &stream, const float *logits,
                  const std::int64_t *labels, float *dlogits) const;
};

/// hits[outer, inner] = 1 where the first maximum over the classes is the
/// label, else 0.
class Correct : public Kernel {
public:
  Correct(Device &device, std::int64_t outer, std::int64_t classes,
          std::int64_t inner);
  void operator()(Stream &stream, const float *logits,
                  const std::int64_t *labels, float *hits) const;
};

//===----------------------------------------------------------------------===//
// Look-ups
//===----------------------------------------------------------------------===//

/// The rows of table [outer, rows, inner] at `count` indices. The table holds
/// the rows [start, start + rows) of a whole one of `limit` rows; an index that
/// is negative counts from the end of the whole table.
struct GatherSizes {
  std::int64_t outer = 0;
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t count = 0;
  std::int64_t limit = 0;
  std::int64_t start = 0;
};

/// y[outer, count, inner]: y[o, j, i] = table[o, indices[j] - start, i], and 0
/// where the table does not hold that row. An index outside [-limit, limit)
/// is an `Error`: on the cpu the call throws it, on the gpu the next sync of
/// the device's streams. Elements of 4 bytes, or of `elementBytes` (1, 2, 8).
class Gather : public Kernel {
public:
  Gather(Device &device, const GatherSizes &sizes,
         std::size_t elementBytes = 4);
  void operator()(Stream &stream, const void *table,
                  const std::int64_t *indices, void *y) const;
  void operator()(Stream &stream, const void *table,
                  const std::int32_t *indices, void *y) const;
};

/// The gradient of Gather: dtable[o, v, i] = sum of dy[o, j, i] over all j with
/// indices[j] - start = v, in the order of j. Indices of rows that the table
/// does not hold are left out.
class ScatterAdd : public Kernel {
public:
  ScatterAdd(Device &device, const GatherSizes &sizes);
  void operator()(Stream &stream, const float *dy, const std::int64_t *indices,
                  float *dtable) const;
  void operator()(Stream &stream, const float *dy, const std::int32_t *indices,
                  float *dtable) const;
};

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

/// y's axis i is x's axis perm[i]; x has `shape`. Elements of 4 bytes.
class Transpose : public Kernel {
public:
  Transpose(Device &device, Dims shape, Dims perm);
  void operator()(Stream &stream, const void *x, void *y) const;
};

/// y[i...] = x[starts + i * steps...] for i in [0, sizes); steps may be
/// negative. x has `shape`. Elements of 4 bytes.
class Slice : public Kernel {
public:
  Slice(Device &device, Dims shape, Dims starts, Dims sizes, Dims steps);
  void operator()(Stream &stream, const void *x, void *y) const;
};

/// Per axis: `interior` values between neighbours, then `low` before and `high`
/// after; negative low and high crop. The gradient of Slice is a Pad. x has
/// `shape`.
class Pad : public Kernel {
public:
  Pad(Device &device, Dims shape, Dims low, Dims interior, Dims high,
      float value);
  void operator()(Stream &stream, const float *x, float *y) const;
};

/// y [outer, sum of parts] from parts x_i [outer, parts_i]: `parts` are sizes
/// on the concatenated axis times everything inside it. Elements of 4 bytes.
class Concat : public Kernel {
public:
  Concat(Device &device, std::int64_t outer, Dims parts);
  /// `inputs` has one pointer per part.
  void operator()(Stream &stream, std::initializer_list<const void *> inputs,
                  void *y) const;
};

/// y = 0 with probability ratio, else 1 / (1 - ratio), for the block of
/// `local` sizes that begins at `start` in a tensor of `global` sizes. The
/// value of an element depends only on (seed, id, step, global index), so every
/// split of the tensor gives the same mask: with g the row-major global index,
/// the element is dropped when
///   (philox4x32_10(counter = {lo(g / 4), hi(g / 4), lo(step), hi(step)},
///                  key = {lo(seed), hi(seed) ^ (id * 0x85EBCA6B)})[g % 4] >>
///                  8)
///   * 2^-24 < ratio
/// where lo and hi are the 32-bit halves.
class DropoutMask : public Kernel {
public:
  DropoutMask(Device &device, Dims local, Dims global, Dims start, float ratio,
              std::uint32_t id);
  void operator()(Stream &stream, std::uint64_t seed, std::uint64_t step,
                  float *y) const;
};

/// y[0..count) = value.
class Fill : public Kernel {
public:
  Fill(Device &device, std::int64_t count);
  void operator()(Stream &stream, float value, float *y) const;
};

/// y[i] = start + i for i in [0, count): the indices of a part that begins at
/// `start`. Exact up to 2^24.
class Iota : public Kernel {
public:
  Iota(Device &device, std::int64_t count, std::int64_t start);
  void operator()(Stream &stream, float *y) const;
};

/// Copies bytes; y may be x.
class Copy : public Kernel {
public:
  Copy(Device &device, std::size_t bytes);
  void operator()(Stream &stream, const void *x, void *y) const;
};

/// A box of elements to copy. Its sizes and, in the source and in the
/// destination, the place of its first element and the elements between
/// neighbours along each axis, all in elements.
struct BoxToCopy {
  Dims size;
  std::int64_t from = 0;
  Dims fromStrides;
  std::int64_t to = 0;
  Dims toStrides;
};

/// Copies boxes from x to y; they may not overlap in y. What lies between them
/// is left alone. Elements of 1, 2, 4 or 8 bytes. `name`, a string literal, is
/// what messages call the work.
class CopyBoxes : public Kernel {
public:
  CopyBoxes(Device &device, const char *name, std::size_t elementBytes,
            const std::vector<BoxToCopy> &boxes);
  void operator()(Stream &stream, const void *x, void *y) const;
};

} // namespace partita

#endif // PARTITA_KERNELS_H
