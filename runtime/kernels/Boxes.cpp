//===- Boxes.cpp - Boxes to copy, brought to their simplest form ----------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Boxes.h.
//
//===----------------------------------------------------------------------===//

#include "Boxes.h"

#include "Sizes.h"

using namespace partita;
using namespace partita::kernels;

/// The box with as few axes as can be.
static BoxToCopy mergeAxes(const BoxToCopy &box) {
  BoxToCopy merged;
  merged.from = box.from;
  merged.to = box.to;
  for (std::size_t axis = 0; axis < box.size.size(); ++axis) {
    std::int64_t size = box.size[axis];
    if (size == 1)
      continue;
    std::int64_t from = box.fromStrides[axis], to = box.toStrides[axis];
    bool follows = !merged.size.empty() &&
                   merged.fromStrides.back() == size * from &&
                   merged.toStrides.back() == size * to;
    if (follows) {
      merged.size.back() *= size;
      merged.fromStrides.back() = from;
      merged.toStrides.back() = to;
      continue;
    }
    merged.size.push_back(size);
    merged.fromStrides.push_back(from);
    merged.toStrides.push_back(to);
  }
  return merged;
}

/// Whether a box is one run of elements in both places.
static bool isRun(const BoxToCopy &box) {
  return box.size.empty() || (box.size.size() == 1 && box.fromStrides[0] == 1 &&
                              box.toStrides[0] == 1);
}

std::vector<BoxToCopy> kernels::simplify(const char *kernel,
                                         std::size_t elementBytes,
                                         const std::vector<BoxToCopy> &boxes) {
  if (elementBytes != 1 && elementBytes != 2 && elementBytes != 4 &&
      elementBytes != 8)
    refuse(kernel, "found elements of " + std::to_string(elementBytes) +
                       " bytes, expected 1, 2, 4 or 8");
  std::vector<BoxToCopy> simple;
  for (const BoxToCopy &box : boxes) {
    checkShape(kernel, box.size);
    if (box.fromStrides.size() != box.size.size() ||
        box.toStrides.size() != box.size.size())
      refuse(kernel, "a box of sizes " + toString(box.size) + " has strides " +
                         toString(box.fromStrides) + " and " +
                         toString(box.toStrides) +
                         ", expected one for each axis");
    if (elementsOf(box.size) == 0)
      continue;
    BoxToCopy merged = mergeAxes(box);
    if (!simple.empty() && isRun(merged) && isRun(simple.back())) {
      std::int64_t before = elementsOf(simple.back().size);
      if (simple.back().from + before == merged.from &&
          simple.back().to + before == merged.to) {
        simple.back().size = {before + elementsOf(merged.size)};
        simple.back().fromStrides = simple.back().toStrides = {1};
        continue;
      }
    }
    simple.push_back(std::move(merged));
  }
  return simple;
}
