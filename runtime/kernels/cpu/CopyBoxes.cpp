//===- CopyBoxes.cpp - Boxes from one tensor to another -------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The elements of all boxes are numbered through, and each thread copies an
// equal share of them: one large box and many small ones keep all threads
// busy. Runs that are contiguous in both places are copied at once.
//
//===----------------------------------------------------------------------===//

#include "../Boxes.h"
#include "Index.h"
#include "KernelState.h"
#include "Parallel.h"

#include <cstring>

using namespace partita;
using namespace partita::kernels;

namespace {

/// A box as rows: for every place on the outer axes, `count` runs.
struct Rows {
  /// The number of its first element among those of all boxes.
  std::int64_t first = 0;
  std::int64_t run = 1, count = 1;
  /// Elements from one run to the next.
  std::int64_t fromStep = 0, toStep = 0;
  Dims outer, outerFrom, outerTo;
  std::int64_t from = 0, to = 0;
};

struct CopyBoxesState final : Kernel::State {
  const char *name = "";
  std::size_t bytes = 1;
  std::int64_t total = 0;
  std::vector<Rows> boxes;
};

Rows rowsOf(BoxToCopy box) {
  Rows rows;
  rows.from = box.from;
  rows.to = box.to;
  auto pop = [&] {
    box.size.pop_back();
    box.fromStrides.pop_back();
    box.toStrides.pop_back();
  };
  if (!box.size.empty() && box.fromStrides.back() == 1 &&
      box.toStrides.back() == 1) {
    rows.run = box.size.back();
    pop();
  }
  if (!box.size.empty()) {
    rows.count = box.size.back();
    rows.fromStep = box.fromStrides.back();
    rows.toStep = box.toStrides.back();
    pop();
  }
  rows.outer = std::move(box.size);
  rows.outerFrom = std::move(box.fromStrides);
  rows.outerTo = std::move(box.toStrides);
  return rows;
}

/// Copies single elements that are a step apart.
template <typename Word>
void copyElements(const char *from, char *to, std::int64_t count,
                  std::int64_t fromStep, std::int64_t toStep) {
  const Word *source = reinterpret_cast<const Word *>(from);
  Word *target = reinterpret_cast<Word *>(to);
  for (std::int64_t i = 0; i < count; ++i)
    target[i * toStep] = source[i * fromStep];
}

void copyElements(std::size_t bytes, const char *from, char *to,
                  std::int64_t count, std::int64_t fromStep,
                  std::int64_t toStep) {
  switch (bytes) {
  case 1:
    return copyElements<std::uint8_t>(from, to, count, fromStep, toStep);
  case 2:
    return copyElements<std::uint16_t>(from, to, count, fromStep, toStep);
  case 4:
    return copyElements<std::uint32_t>(from, to, count, fromStep, toStep);
  default:
    return copyElements<std::uint64_t>(from, to, count, fromStep, toStep);
  }
}

/// Copies the elements [begin, end) of a box, counted row-major.
void copyPart(const Rows &box, std::size_t elementBytes, std::int64_t begin,
              std::int64_t end, const char *x, char *y) {
  auto bytes = static_cast<std::int64_t>(elementBytes);
  while (begin < end) {
    std::int64_t row = begin / box.run, column = begin - row * box.run;
    std::int64_t outer = row / box.count, inner = row - outer * box.count;
    const char *from =
        x + bytes * (box.from + offsetOf(outer, box.outer, box.outerFrom) +
                     inner * box.fromStep);
    char *to = y + bytes * (box.to + offsetOf(outer, box.outer, box.outerTo) +
                            inner * box.toStep);
    if (box.run == 1) {
      std::int64_t count = std::min(box.count - inner, end - begin);
      copyElements(elementBytes, from, to, count, box.fromStep, box.toStep);
      begin += count;
      continue;
    }
    for (; inner < box.count && begin < end; ++inner) {
      std::int64_t count = std::min(box.run - column, end - begin);
      std::memcpy(to + column * bytes, from + column * bytes,
                  static_cast<std::size_t>(count * bytes));
      begin += count;
      column = 0;
      from += box.fromStep * bytes;
      to += box.toStep * bytes;
    }
  }
}

} // namespace

static std::unique_ptr<Kernel::State>
prepare(const char *name, std::size_t elementBytes,
        const std::vector<BoxToCopy> &boxes) {
  auto state = std::make_unique<CopyBoxesState>();
  state->name = name;
  state->bytes = elementBytes;
  for (const BoxToCopy &box : simplify(name, elementBytes, boxes)) {
    state->boxes.push_back(rowsOf(box));
    state->boxes.back().first = state->total;
    state->total += elementsOf(box.size);
  }
  return state;
}

CopyBoxes::CopyBoxes(Device &, const char *name, std::size_t elementBytes,
                     const std::vector<BoxToCopy> &boxes)
    : Kernel(prepare(name, elementBytes, boxes)) {}

void CopyBoxes::operator()(Stream &stream, const void *x, void *y) const {
  const auto &copy = as<CopyBoxesState>(state);
  if (copy.total == 0)
    return;
  stream.run(copy.name, [&copy, x, y] {
    auto work = [&](std::int64_t begin, std::int64_t end, int) {
      auto box = std::upper_bound(
          copy.boxes.begin(), copy.boxes.end(), begin,
          [](std::int64_t at, const Rows &rows) { return at < rows.first; });
      for (--box; begin < end; ++box) {
        std::int64_t next =
            box + 1 == copy.boxes.end() ? copy.total : (box + 1)->first;
        std::int64_t stop = std::min(end, next);
        copyPart(*box, copy.bytes, begin - box->first, stop - box->first,
                 static_cast<const char *>(x), static_cast<char *>(y));
        begin = stop;
      }
    };
    parallelFor(copy.total, 1, work);
  });
}
