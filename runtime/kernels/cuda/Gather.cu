//===- Gather.cu - Rows of a table by index, and their gradient -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gathering gives each element of y a thread. The gradient first sorts the
// places by index, so that each element of the table is summed by one thread,
// in the order of the places and without atomics. The sort is a merge sort in
// which every element finds its new place by itself, from the number of smaller
// elements in the run that its own is merged with.
//
//===----------------------------------------------------------------------===//

#include "KernelState.h"
#include "device/cuda/CudaDevice.h"

#include <limits>

using namespace partita;
using namespace partita::kernels;

namespace {

/// What the word of a watch holds as long as all indices are legal.
constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

/// A word of host memory where kernels leave an index that no table has. The
/// host looks at it when it waits for the GPU.
class IndexWatch final : public CudaDevice::Watched {
public:
  IndexWatch(CudaDevice &device, const GatherSizes &sizes)
      : device(device), sizes(sizes) {
    void *memory = nullptr;
    PARTITA_CHECK(
        cudaHostAlloc(&memory, sizeof(std::int64_t), cudaHostAllocDefault));
    found = static_cast<std::int64_t *>(memory);
    *found = kNone;
    device.watch(*this);
  }
  IndexWatch(const IndexWatch &) = delete;
  IndexWatch &operator=(const IndexWatch &) = delete;
  ~IndexWatch() {
    device.unwatch(*this);
    cudaFreeHost(found);
  }

  void poll() override {
    std::int64_t index = *static_cast<volatile std::int64_t *>(found);
    if (index != kNone)
      refuse("gather", "found the index " + std::to_string(index) + ", " +
                           indexComplaint(sizes));
  }
  void abandon() noexcept override {}

  /// Pinned memory has the same address on the GPU.
  std::int64_t *word() const { return found; }

private:
  CudaDevice &device;
  GatherSizes sizes;
  std::int64_t *found = nullptr;
};

struct GatherState final : Kernel::State {
  GatherSizes sizes;
  std::size_t elementBytes = 4;
  std::unique_ptr<IndexWatch> watch;
};

struct ScatterState final : Kernel::State {
  GatherSizes sizes;
};

/// The row of the table that an index means; outside [0, rows) when the table
/// does not hold it.
__device__ std::int64_t rowOf(const GatherSizes &sizes, std::int64_t index) {
  return (index < 0 ? index + sizes.limit : index) - sizes.start;
}

__device__ bool isLegal(const GatherSizes &sizes, std::int64_t index) {
  return index >= -sizes.limit && index < sizes.limit;
}

template <typename Word, typename Index>
__global__ void gatherKernel(GatherSizes sizes, std::int64_t elements,
                             const Word *table, const Index *indices, Word *y,
                             std::int64_t *found) {
  for (std::int64_t i = cuda::firstIndex(); i < elements;
       i += cuda::indexStride()) {
    std::int64_t at = i / sizes.inner, within = i - at * sizes.inner;
    std::int64_t outer = at / sizes.count;
    std::int64_t index = indices[at - outer * sizes.count];
    std::int64_t row = rowOf(sizes, index);
    bool legal = isLegal(sizes, index);
    if (!legal)
      *found = index;
    y[i] = legal && row >= 0 && row < sizes.rows
               ? table[(outer * sizes.rows + row) * sizes.inner + within]
               : Word(0);
  }
}

//===----------------------------------------------------------------------===//
// Places by row
//===----------------------------------------------------------------------===//

/// Elements that a block sorts by counting.
constexpr int kTile = cuda::kThreads;

/// The row of each place; places whose row the table does not hold come last.
struct Sorted {
  int *rows;
  int *places;
};

/// Sorts each tile of kTile places by their row, equal ones by place.
template <typename Index>
__global__ void sortTilesKernel(GatherSizes sizes, const Index *indices,
                                Sorted to) {
  __shared__ int rows[kTile];
  std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kTile;
  std::int64_t left = sizes.count - begin;
  int size = left < kTile ? static_cast<int>(left) : kTile;
  int own = static_cast<int>(threadIdx.x);
  if (own < size) {
    std::int64_t index = indices[begin + own];
    std::int64_t row = rowOf(sizes, index);
    bool held = isLegal(sizes, index) && row >= 0 && row < sizes.rows;
    rows[own] = static_cast<int>(held ? row : sizes.rows);
  }
  __syncthreads();
  if (own >= size)
    return;
  int rank = 0;
  for (int i = 0; i < size; ++i)
    rank += rows[i] < rows[own] || (rows[i] == rows[own] && i < own) ? 1 : 0;
  to.rows[begin + rank] = rows[own];
  to.places[begin + rank] = static_cast<int>(begin + own);
}

/// How many of the sorted rows are less than `row`, or not greater.
__device__ std::int64_t countBefore(const int *rows, std::int64_t size, int row,
                                    bool equalToo) {
  std::int64_t low = 0, high = size;
  while (low < high) {
    std::int64_t middle = low + (high - low) / 2;
    if (rows[middle] < row || (equalToo && rows[middle] == row))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Merges neighbouring sorted runs of `width` places.
__global__ void mergeKernel(Sorted from, Sorted to, std::int64_t count,
                            std::int64_t width) {
  for (std::int64_t i = cuda::firstIndex(); i < count;
       i += cuda::indexStride()) {
    std::int64_t run = i / width;
    bool isSecond = run % 2 != 0;
    std::int64_t other = (isSecond ? run - 1 : run + 1) * width;
    std::int64_t size = count - other < width ? count - other : width;
    int row = from.rows[i];
    std::int64_t place = i;
    if (size > 0) {
      std::int64_t before =
          countBefore(from.rows + other, size, row, /*equalToo=*/isSecond);
      place = isSecond ? i - width + before : i + before;
    }
    to.rows[place] = row;
    to.places[place] = from.places[i];
  }
}

/// begins[v] is where the places of row v begin, for v up to `rows`.
__global__ void beginsKernel(const int *sorted, std::int64_t count,
                             std::int64_t rows, int *begins) {
  for (std::int64_t v = cuda::firstIndex(); v <= rows; v += cuda::indexStride())
    begins[v] = static_cast<int>(
        countBefore(sorted, count, static_cast<int>(v), /*equalToo=*/false));
}

__global__ void sumRowsKernel(GatherSizes sizes, std::int64_t elements,
                              const int *begins, const int *places,
                              const float *dy, float *dtable) {
  for (std::int64_t i = cuda::firstIndex(); i < elements;
       i += cuda::indexStride()) {
    std::int64_t at = i / sizes.inner, within = i - at * sizes.inner;
    std::int64_t outer = at / sizes.rows, row = at - outer * sizes.rows;
    const float *from = dy + outer * sizes.count * sizes.inner + within;
    double sum = 0.0;
    for (int k = begins[row]; k < begins[row + 1]; ++k)
      sum += from[places[k] * sizes.inner];
    dtable[i] = static_cast<float>(sum);
  }
}

/// The parts of the workspace.
struct Space {
  Sorted now, next;
  int *begins;

  static std::size_t bytes(const GatherSizes &sizes) {
    return 4 * aligned(sizes.count * sizeof(int)) +
           aligned((sizes.rows + 1) * sizeof(int));
  }

  Space(const GatherSizes &sizes, void *memory) {
    auto *at = static_cast<std::byte *>(memory);
    auto take = [&at](std::int64_t count) {
      int *part = reinterpret_cast<int *>(at);
      at += aligned(count * sizeof(int));
      return part;
    };
    now.rows = take(sizes.count);
    now.places = take(sizes.count);
    next.rows = take(sizes.count);
    next.places = take(sizes.count);
    begins = take(sizes.rows + 1);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

static std::unique_ptr<Kernel::State> prepareGather(Device &device,
                                                    const GatherSizes &sizes,
                                                    std::size_t elementBytes) {
  checkGather("gather", sizes, elementBytes);
  auto state = std::make_unique<GatherState>();
  state->sizes = sizes;
  state->elementBytes = elementBytes;
  state->watch =
      std::make_unique<IndexWatch>(static_cast<CudaDevice &>(device), sizes);
  return state;
}

template <typename Word, typename Index>
static void launchGather(const GatherState &gather, Stream &stream,
                         const void *table, const Index *indices, void *y) {
  const GatherSizes &sizes = gather.sizes;
  std::int64_t elements = sizes.outer * sizes.count * sizes.inner;
  cuda::launch(gatherKernel<Word, Index>, cuda::blocksFor(elements),
               cuda::kThreads, 0, stream, sizes, elements,
               static_cast<const Word *>(table), indices,
               static_cast<Word *>(y), gather.watch->word());
}

template <typename Index>
static void runGather(const GatherState &gather, Stream &stream,
                      const void *table, const Index *indices, void *y) {
  stream.run("gather", [&] {
    switch (gather.elementBytes) {
    case 1:
      return launchGather<std::uint8_t>(gather, stream, table, indices, y);
    case 2:
      return launchGather<std::uint16_t>(gather, stream, table, indices, y);
    case 4:
      return launchGather<std::uint32_t>(gather, stream, table, indices, y);
    default:
      return launchGather<std::uint64_t>(gather, stream, table, indices, y);
    }
  });
}

Gather::Gather(Device &device, const GatherSizes &sizes,
               std::size_t elementBytes)
    : Kernel(prepareGather(device, sizes, elementBytes)) {}

void Gather::operator()(Stream &stream, const void *table,
                        const std::int64_t *indices, void *y) const {
  runGather(as<GatherState>(state), stream, table, indices, y);
}

void Gather::operator()(Stream &stream, const void *table,
                        const std::int32_t *indices, void *y) const {
  runGather(as<GatherState>(state), stream, table, indices, y);
}

//===----------------------------------------------------------------------===//
// Scatter-add
//===----------------------------------------------------------------------===//

static std::unique_ptr<Kernel::State> prepareScatter(Device &device,
                                                     const GatherSizes &sizes) {
  checkGather("scatter_add", sizes);
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  if (sizes.count > kMost || sizes.rows >= kMost)
    refuse("scatter_add", "found " + std::to_string(sizes.count) +
                              " indices and " + std::to_string(sizes.rows) +
                              " rows, expected less than 2^31 of both");
  auto state = std::make_unique<ScatterState>();
  state->sizes = sizes;
  state->workspace = Space::bytes(sizes);
  return reserved(device, std::move(state));
}

template <typename Index>
static void runScatter(const ScatterState &scatter, Stream &stream,
                       const float *dy, const Index *indices, float *dtable) {
  stream.run("scatter_add", [&] {
    const GatherSizes &sizes = scatter.sizes;
    Space space(sizes, workspace(stream, scatter.workspace));
    auto tiles = static_cast<unsigned>((sizes.count + kTile - 1) / kTile);
    cuda::launch(sortTilesKernel<Index>, tiles, kTile, 0, stream, sizes,
                 indices, space.now);
    for (std::int64_t width = kTile; width < sizes.count; width *= 2) {
      cuda::launch(mergeKernel, cuda::blocksFor(sizes.count), cuda::kThreads, 0,
                   stream, space.now, space.next, sizes.count, width);
      std::swap(space.now, space.next);
    }
    cuda::launch(beginsKernel, cuda::blocksFor(sizes.rows + 1), cuda::kThreads,
                 0, stream, space.now.rows, sizes.count, sizes.rows,
                 space.begins);
    std::int64_t elements = sizes.outer * sizes.rows * sizes.inner;
    cuda::launch(sumRowsKernel, cuda::blocksFor(elements), cuda::kThreads, 0,
                 stream, sizes, elements, space.begins, space.now.places, dy,
                 dtable);
  });
}

ScatterAdd::ScatterAdd(Device &device, const GatherSizes &sizes)
    : Kernel(prepareScatter(device, sizes)) {}

void ScatterAdd::operator()(Stream &stream, const float *dy,
                            const std::int64_t *indices, float *dtable) const {
  runScatter(as<ScatterState>(state), stream, dy, indices, dtable);
}

void ScatterAdd::operator()(Stream &stream, const float *dy,
                            const std::int32_t *indices, float *dtable) const {
  runScatter(as<ScatterState>(state), stream, dy, indices, dtable);
}
