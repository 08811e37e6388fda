//===- Gather.cpp - Rows of a table by index, and their gradient ----------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gathering copies rows. The gradient first sorts the places by index, so that
// each row of the table is summed by one thread, in the order of the places,
// and written once.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"
#include "Parallel.h"

#include <cstring>

using namespace partita;
using namespace partita::kernels;

namespace {

struct GatherState final : Kernel::State {
  GatherSizes sizes;
  std::size_t elementBytes = 4;

  /// The row of the table that an index means; outside [0, rows) when the
  /// table does not hold it.
  std::int64_t rowOf(std::int64_t index) const {
    return (index < 0 ? index + sizes.limit : index) - sizes.start;
  }
  bool isHeld(std::int64_t row) const { return row >= 0 && row < sizes.rows; }
  bool isLegal(std::int64_t index) const {
    return index >= -sizes.limit && index < sizes.limit;
  }
};

/// Elements of a row whose sums are kept in registers and the first cache.
constexpr std::int64_t kStrip = 64;

template <typename Index>
void gather(const GatherState &state, const std::byte *table,
            const Index *indices, std::byte *y) {
  const GatherSizes &sizes = state.sizes;
  for (std::int64_t j = 0; j < sizes.count; ++j)
    if (!state.isLegal(indices[j]))
      refuse("gather", "found the index " + std::to_string(indices[j]) +
                           " at place " + std::to_string(j) + ", " +
                           indexComplaint(sizes));
  auto bytes = static_cast<std::size_t>(sizes.inner) * state.elementBytes;
  parallelFor(
      sizes.outer * sizes.count, sizes.inner,
      [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t at = begin; at < end; ++at) {
          std::int64_t outer = at / sizes.count;
          std::int64_t row = state.rowOf(indices[at - outer * sizes.count]);
          std::byte *to = y + at * bytes;
          // Rows without elements may have no address.
          if (bytes == 0)
            break;
          if (state.isHeld(row))
            std::memcpy(to, table + (outer * sizes.rows + row) * bytes, bytes);
          else
            std::memset(to, 0, bytes);
        }
      });
}

/// The places of the indices, sorted by row: those of row v are
/// places[begins[v]] to places[begins[v + 1] - 1], in increasing order.
struct PlacesByRow {
  std::int64_t *begins;
  std::int64_t *places;

  static std::size_t bytes(const GatherSizes &sizes) {
    return (sizes.rows + 1 + sizes.count) * sizeof(std::int64_t);
  }

  template <typename Index>
  PlacesByRow(const GatherState &state, const Index *indices)
      : begins(static_cast<std::int64_t *>(workspace(bytes(state.sizes)))),
        places(begins + state.sizes.rows + 1) {
    const GatherSizes &sizes = state.sizes;
    std::fill_n(begins, sizes.rows + 1, 0);
    forEachHeld(state, indices,
                [&](std::int64_t row, std::int64_t) { ++begins[row + 1]; });
    for (std::int64_t v = 0; v < sizes.rows; ++v)
      begins[v + 1] += begins[v];
    // Each begin walks to the end of its row, and is then moved back by one.
    forEachHeld(state, indices, [&](std::int64_t row, std::int64_t place) {
      places[begins[row]++] = place;
    });
    for (std::int64_t v = sizes.rows; v > 0; --v)
      begins[v] = begins[v - 1];
    begins[0] = 0;
  }

private:
  template <typename Index, typename Visit>
  static void forEachHeld(const GatherState &state, const Index *indices,
                          const Visit &visit) {
    for (std::int64_t j = 0; j < state.sizes.count; ++j)
      if (std::int64_t row = state.rowOf(indices[j]);
          state.isLegal(indices[j]) && state.isHeld(row))
        visit(row, j);
  }
};

template <typename Index>
void scatterAdd(const GatherState &state, const float *dy, const Index *indices,
                float *dtable) {
  const GatherSizes &sizes = state.sizes;
  PlacesByRow sorted(state, indices);
  std::int64_t inner = sizes.inner;
  // A frequent index makes one row long, so rows count as all of them do on
  // average.
  std::int64_t elements =
      inner * (1 + sizes.count / std::max<std::int64_t>(sizes.rows, 1));
  parallelFor(sizes.outer * sizes.rows, elements,
              [&](std::int64_t begin, std::int64_t end, int) {
                for (std::int64_t at = begin; at < end; ++at) {
                  std::int64_t outer = at / sizes.rows,
                               row = at - outer * sizes.rows;
                  const float *from = dy + outer * sizes.count * inner;
                  float *to = dtable + at * inner;
                  for (std::int64_t i = 0; i < inner; i += kStrip) {
                    std::int64_t width = std::min(kStrip, inner - i);
                    double sums[kStrip] = {};
                    for (std::int64_t k = sorted.begins[row];
                         k < sorted.begins[row + 1]; ++k) {
                      const float *term = from + sorted.places[k] * inner + i;
#pragma omp simd
                      for (std::int64_t w = 0; w < width; ++w)
                        sums[w] += term[w];
                    }
                    for (std::int64_t w = 0; w < width; ++w)
                      to[i + w] = static_cast<float>(sums[w]);
                  }
                }
              });
}

} // namespace

static std::unique_ptr<GatherState> prepare(const char *kernel,
                                            const GatherSizes &sizes,
                                            std::size_t elementBytes = 4) {
  checkGather(kernel, sizes, elementBytes);
  auto state = std::make_unique<GatherState>();
  state->sizes = sizes;
  state->elementBytes = elementBytes;
  return state;
}

static std::unique_ptr<Kernel::State> prepareScatter(const GatherSizes &sizes) {
  auto state = prepare("scatter_add", sizes);
  state->workspace = PlacesByRow::bytes(sizes);
  return reserved(std::move(state));
}

Gather::Gather(Device &, const GatherSizes &sizes, std::size_t elementBytes)
    : Kernel(prepare("gather", sizes, elementBytes)) {}

template <typename Index>
static void runGather(const GatherState &state, Stream &stream,
                      const void *table, const Index *indices, void *y) {
  stream.run("gather", [&state, table, indices, y] {
    gather(state, static_cast<const std::byte *>(table), indices,
           static_cast<std::byte *>(y));
  });
}

void Gather::operator()(Stream &stream, const void *table,
                        const std::int64_t *indices, void *y) const {
  runGather(as<GatherState>(state), stream, table, indices, y);
}

void Gather::operator()(Stream &stream, const void *table,
                        const std::int32_t *indices, void *y) const {
  runGather(as<GatherState>(state), stream, table, indices, y);
}

ScatterAdd::ScatterAdd(Device &, const GatherSizes &sizes)
    : Kernel(prepareScatter(sizes)) {}

template <typename Index>
static void runScatter(const GatherState &state, Stream &stream,
                       const float *dy, const Index *indices, float *dtable) {
  stream.run("scatter_add", [&state, dy, indices, dtable] {
    scatterAdd(state, dy, indices, dtable);
  });
}

void ScatterAdd::operator()(Stream &stream, const float *dy,
                            const std::int64_t *indices, float *dtable) const {
  runScatter(as<GatherState>(state), stream, dy, indices, dtable);
}

void ScatterAdd::operator()(Stream &stream, const float *dy,
                            const std::int32_t *indices, float *dtable) const {
  runScatter(as<GatherState>(state), stream, dy, indices, dtable);
}
