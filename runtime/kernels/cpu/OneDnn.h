//===- OneDnn.h - The one place that knows oneDNN's versions ----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// oneDNN 2.x describes an operation by a descriptor of its own, 3.x passes the
// same values to the primitive descriptor. Nothing outside OneDnn.cpp notices.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_KERNELS_CPU_ONEDNN_H
#define PARTITA_KERNELS_CPU_ONEDNN_H

#include "partita/types.h"

#include <oneapi/dnnl/dnnl.hpp>

namespace partita::kernels {

/// The cpu engine of the process.
const dnnl::engine &oneDnnEngine();

/// A dense row-major float32 tensor.
dnnl::memory::desc plainDesc(const Dims &shape);
/// A float32 tensor with the given strides in elements.
dnnl::memory::desc stridedDesc(const Dims &shape, const Dims &strides);
/// A float32 tensor whose layout oneDNN chooses.
dnnl::memory::desc anyDesc(const Dims &shape);

/// A convolution as oneDNN wants it: the filter has a leading axis of groups
/// when there are several, `dilations` count the skipped cells.
struct OneDnnConv {
  dnnl::memory::desc x, w, bias, y;
  Dims strides, dilations, padLow, padHigh;
  bool hasBias = false;
};

/// What a primitive is built from and the layouts it chose. The primitive's
/// scratchpad is the caller's.
struct OneDnnPrimitive {
  dnnl::primitive primitive;
  dnnl::memory::desc x, w, y, scratchpad;
  std::string implementation; ///< oneDNN's name of the code behind it.
};

/// Each throws `dnnl::error` where oneDNN has no implementation.
OneDnnPrimitive makeConvForward(const OneDnnConv &conv);
OneDnnPrimitive makeConvInputGrad(const OneDnnConv &conv);
OneDnnPrimitive makeConvFilterGrad(const OneDnnConv &conv);

/// y = alpha * a * b; a is `x`, b is `w` in the result.
OneDnnPrimitive makeMatmul(const dnnl::memory::desc &a,
                           const dnnl::memory::desc &b,
                           const dnnl::memory::desc &y, float alpha);

/// A fixed sequence of primitives over the caller's tensors and intermediate
/// ones in the thread's workspace. Built once, then run any number of times
/// without allocating tensors.
class OneDnnSequence {
public:
  /// An intermediate or caller's tensor of this sequence.
  using Slot = int;

  /// The next pointer given to `run`.
  Slot addTensor(const dnnl::memory::desc &desc);
  /// A tensor in the workspace.
  Slot addIntermediate(const dnnl::memory::desc &desc);

  /// Adds a reorder of `slot` into the layout and returns where it goes, or
  /// `slot` itself when it has that layout already.
  Slot reordered(Slot slot, const dnnl::memory::desc &desc);
  /// Where a primitive may write a result of this layout that is to end in
  /// `slot`: `slot` itself, or an intermediate to be reordered into it.
  Slot stagedFor(Slot slot, const dnnl::memory::desc &desc);
  /// Adds a reorder between two different slots.
  void addReorder(Slot from, Slot to);

  /// Adds a primitive: pairs of DNNL_ARG_* and slot, plus its scratchpad.
  void add(const OneDnnPrimitive &primitive,
           const std::vector<std::pair<int, Slot>> &arguments);

  std::size_t workspaceBytes() const { return bytes; }

  /// Runs the sequence on the calling thread's workspace; `tensors` in the
  /// order of `addTensor`.
  void run(const void *const *tensors) const;

private:
  struct Tensor {
    dnnl::memory memory;
    std::ptrdiff_t offset; ///< In the workspace, or -1 - index of the caller's.
  };
  struct Step {
    dnnl::primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;
  };

  Slot addSlot(const dnnl::memory::desc &desc, std::ptrdiff_t offset);

  std::vector<Tensor> slots;
  std::vector<Step> steps;
  std::ptrdiff_t tensorCount = 0;
  std::size_t bytes = 0;
};

} // namespace partita::kernels

#endif // PARTITA_KERNELS_CPU_ONEDNN_H
