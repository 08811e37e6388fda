//===- CopyBoxes.cu - Boxes from one tensor to another ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One launch for all boxes: their elements are numbered through, and a thread
// finds the box of its element by bisection. The descriptors lie in device
// memory, where any number of them has room.
//
//===----------------------------------------------------------------------===//

#include "../Boxes.h"
#include "AxisMap.h"
#include "KernelState.h"

#include <optional>

using namespace partita;
using namespace partita::kernels;

namespace {

/// A box as the kernel reads it.
struct DeviceBox {
  /// The number of its first element among those of all boxes.
  std::int64_t first;
  std::int64_t from, to;
  std::int64_t axes;
  std::int64_t size[kMostAxes];
  std::int64_t fromStride[kMostAxes];
  std::int64_t toStride[kMostAxes];
};

struct CopyBoxesState final : Kernel::State {
  const char *name = "";
  std::size_t bytes = 1;
  std::int64_t total = 0;
  int count = 0;
  std::optional<Memory> memory;
  /// In that memory.
  const DeviceBox *boxes = nullptr;
};

template <typename Word>
__global__ void copyBoxesKernel(const DeviceBox *boxes, int count,
                                std::int64_t total, const Word *x, Word *y) {
  for (std::int64_t i = cuda::firstIndex(); i < total;
       i += cuda::indexStride()) {
    // The last box that begins at or before the element.
    int low = 0, high = count;
    while (high - low > 1) {
      int middle = (low + high) / 2;
      if (boxes[middle].first <= i)
        low = middle;
      else
        high = middle;
    }
    const DeviceBox &box = boxes[low];
    std::int64_t rest = i - box.first, from = box.from, to = box.to;
    for (int axis = static_cast<int>(box.axes) - 1; axis >= 0; --axis) {
      std::int64_t next = rest / box.size[axis];
      std::int64_t at = rest - next * box.size[axis];
      from += at * box.fromStride[axis];
      to += at * box.toStride[axis];
      rest = next;
    }
    y[to] = x[from];
  }
}

template <typename Word>
void launchCopy(const CopyBoxesState &copy, Stream &stream, const void *x,
                void *y) {
  cuda::launch(copyBoxesKernel<Word>, cuda::blocksFor(copy.total),
               cuda::kThreads, 0, stream, copy.boxes, copy.count, copy.total,
               static_cast<const Word *>(x), static_cast<Word *>(y));
}

} // namespace

static std::unique_ptr<Kernel::State>
prepare(Device &device, const char *name, std::size_t elementBytes,
        const std::vector<BoxToCopy> &boxes) {
  auto state = std::make_unique<CopyBoxesState>();
  state->name = name;
  state->bytes = elementBytes;
  std::vector<DeviceBox> descriptors;
  for (const BoxToCopy &box : simplify(name, elementBytes, boxes)) {
    if (box.size.size() > kMostAxes)
      refuse(name, "found " + std::to_string(box.size.size()) +
                       " axes that cannot be merged, expected at most " +
                       std::to_string(kMostAxes) +
                       "; compile with --target cpu, which has no limit");
    DeviceBox made{};
    made.first = state->total;
    made.from = box.from;
    made.to = box.to;
    made.axes = static_cast<std::int64_t>(box.size.size());
    for (std::size_t axis = 0; axis < box.size.size(); ++axis) {
      made.size[axis] = box.size[axis];
      made.fromStride[axis] = box.fromStrides[axis];
      made.toStride[axis] = box.toStrides[axis];
    }
    descriptors.push_back(made);
    state->total += elementsOf(box.size);
  }
  state->count = static_cast<int>(descriptors.size());
  if (!descriptors.empty()) {
    std::size_t bytes = descriptors.size() * sizeof(DeviceBox);
    std::byte *data = state->memory.emplace(device, bytes).data();
    device.copyIn(data, descriptors.data(), bytes);
    state->boxes = reinterpret_cast<const DeviceBox *>(data);
  }
  return state;
}

CopyBoxes::CopyBoxes(Device &device, const char *name, std::size_t elementBytes,
                     const std::vector<BoxToCopy> &boxes)
    : Kernel(prepare(device, name, elementBytes, boxes)) {}

void CopyBoxes::operator()(Stream &stream, const void *x, void *y) const {
  const auto &copy = as<CopyBoxesState>(state);
  if (copy.total == 0)
    return;
  stream.run(copy.name, [&] {
    switch (copy.bytes) {
    case 1:
      return launchCopy<std::uint8_t>(copy, stream, x, y);
    case 2:
      return launchCopy<std::uint16_t>(copy, stream, x, y);
    case 4:
      return launchCopy<std::uint32_t>(copy, stream, x, y);
    default:
      return launchCopy<std::uint64_t>(copy, stream, x, y);
    }
  });
}
