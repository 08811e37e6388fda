//===- KernelsBench.cpp - Times single kernels of the runtime -------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads one layer per line, prints the microseconds each of its kernels takes.
// compare feeds it and sets PyTorch's times beside them:
//
//   conv n ci h w co kernel stride pad groups   forward, input, filter gradient
//   max_pool n c h w kernel stride pad          forward, gradient
//   avg_pool n c h w kernel stride pad          forward, gradient
//   batch_norm n c h w                          forward, gradient
//   linear n in out                             forward, input, weight gradient
//   cross_entropy n classes                     loss and gradient
//   sum_channels n c h w                        forward
//   transpose b t h d                           forward, [0, 2, 1, 3]
//
//===----------------------------------------------------------------------===//

#include "partita/backend.h"
#include "partita/kernels.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <random>
#include <sstream>

using namespace partita;

namespace {

using Clock = std::chrono::steady_clock;
using Size = std::int64_t;

/// Runs enough rounds for a tenth of a second and returns the lower quartile
/// of their microseconds: what the machine does when nothing disturbs it.
template <typename Work> double microseconds(const Work &work) {
  auto time = [&] {
    Clock::time_point start = Clock::now();
    work();
    return std::chrono::duration<double, std::micro>(Clock::now() - start)
        .count();
  };
  work();
  double first = time();
  int rounds = std::clamp(static_cast<int>(100000.0 / (first + 1)), 5, 1000);
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i)
    times.push_back(time());
  std::sort(times.begin(), times.end());
  return times[times.size() / 4];
}

std::vector<float> tensor(Size count) {
  static std::mt19937 generator(1);
  std::uniform_real_distribution<float> distribution(-1.0f, 1.0f);
  std::vector<float> values(count);
  for (float &value : values)
    value = distribution(generator);
  return values;
}

/// The device of the measurements and one call per kind of layer.
class Bench {
public:
  Bench()
      : device(makeCpuDevice(0, 0, /*threads=*/1, failure)),
        stream(device->makeCompute()) {}

  /// Prints the times of the layer in `line`.
  void run(const std::string &line) {
    std::istringstream text(line);
    std::string kind;
    text >> kind;
    std::vector<Size> sizes;
    for (Size size; text >> size;)
      sizes.push_back(size);
    if (kind == "conv" && sizes.size() == 9)
      conv(sizes);
    else if (kind == "max_pool" && sizes.size() == 7)
      maxPool(sizes);
    else if (kind == "avg_pool" && sizes.size() == 7)
      avgPool(sizes);
    else if (kind == "batch_norm" && sizes.size() == 4)
      batchNorm(sizes);
    else if (kind == "linear" && sizes.size() == 3)
      linear(sizes);
    else if (kind == "cross_entropy" && sizes.size() == 2)
      crossEntropy(sizes);
    else if (kind == "sum_channels" && sizes.size() == 4)
      sumChannels(sizes);
    else if (kind == "transpose" && sizes.size() == 4)
      transpose(sizes);
    else
      throw Error("found the layer '" + line +
                  "', expected a kind and sizes "
                  "as the head of KernelsBench.cpp lists them");
    std::cout << '\n';
  }

private:
  template <typename Work> void print(const Work &work) {
    std::cout << microseconds(work) << ' ';
  }

  void conv(const std::vector<Size> &s) {
    Size n = s[0], ci = s[1], co = s[4], k = s[5], stride = s[6], pad = s[7];
    ConvSizes sizes =
        convSizes({n, ci, s[2], s[3]}, {co, ci / s[8], k, k}, {stride, stride},
                  {1, 1}, {pad, pad, pad, pad}, s[8]);
    auto x = tensor(n * ci * s[2] * s[3]), w = tensor(co * ci / s[8] * k * k);
    auto y = tensor(n * co * elementsOf(sizes.out()));
    ConvForward forward(*device, sizes, /*bias=*/false);
    ConvInputGrad inputGrad(*device, sizes);
    ConvFilterGrad filterGrad(*device, sizes);
    print([&] { forward(*stream, x.data(), w.data(), nullptr, y.data()); });
    print([&] { inputGrad(*stream, y.data(), w.data(), x.data()); });
    print([&] { filterGrad(*stream, x.data(), y.data(), w.data()); });
  }

  PoolSizes pool(const std::vector<Size> &s) {
    Size k = s[4], stride = s[5], pad = s[6];
    return poolSizes({s[0], s[1], s[2], s[3]},
                     {s[0], s[1], (s[2] + 2 * pad - k) / stride + 1,
                      (s[3] + 2 * pad - k) / stride + 1},
                     {k, k}, {stride, stride}, {}, {pad, pad, pad, pad});
  }

  void maxPool(const std::vector<Size> &s) {
    PoolSizes sizes = pool(s);
    auto x = tensor(s[0] * s[1] * s[2] * s[3]), dx = x;
    auto y = tensor(s[0] * s[1] * elementsOf(sizes.out));
    MaxPool forward(*device, sizes);
    MaxPoolGrad gradient(*device, sizes);
    print([&] { forward(*stream, x.data(), y.data()); });
    print([&] { gradient(*stream, x.data(), y.data(), dx.data()); });
  }

  void avgPool(const std::vector<Size> &s) {
    PoolSizes sizes = pool(s);
    auto x = tensor(s[0] * s[1] * s[2] * s[3]);
    auto y = tensor(s[0] * s[1] * elementsOf(sizes.out));
    AvgPool forward(*device, sizes, /*countIncludePad=*/false);
    AvgPoolGrad gradient(*device, sizes, /*countIncludePad=*/false);
    print([&] { forward(*stream, x.data(), y.data()); });
    print([&] { gradient(*stream, y.data(), x.data()); });
  }

  void batchNorm(const std::vector<Size> &s) {
    Size n = s[0], c = s[1], inner = s[2] * s[3];
    float scale = 1.0f / static_cast<float>(n * inner);
    auto x = tensor(n * c * inner), y = x, dx = x;
    std::vector<float> mean(c), var(c), gamma(c, 1.0f), beta(c), sums(2 * c);
    Reduce means(*device, ReduceKind::sum, {n, c, inner}, {0, 2}, scale);
    Variance variances(*device, {n, c, inner}, {0, 2}, scale);
    Normalize normalize(*device, n, c, inner, 1e-5f);
    NormalizeSums gradientSums(*device, n, c, inner, 1e-5f);
    NormalizeGrad gradient(*device, n, c, inner, 1e-5f, scale);
    print([&] {
      means(*stream, x.data(), mean.data());
      variances(*stream, x.data(), mean.data(), var.data());
      normalize(*stream, x.data(), mean.data(), var.data(), gamma.data(),
                beta.data(), y.data());
    });
    print([&] {
      gradientSums(*stream, y.data(), x.data(), mean.data(), var.data(),
                   sums.data(), sums.data() + c);
      gradient(*stream, y.data(), x.data(), mean.data(), var.data(),
               gamma.data(), sums.data(), sums.data() + c, dx.data());
    });
  }

  void linear(const std::vector<Size> &s) {
    Size n = s[0], in = s[1], out = s[2];
    auto x = tensor(n * in), w = tensor(out * in), y = tensor(n * out);
    Matmul forward(*device, {1, n, out, in, false, true, 0, 0, 1.0f});
    Matmul inputGrad(*device, {1, n, in, out, false, false, 0, 0, 1.0f});
    Matmul weightGrad(*device, {1, out, in, n, true, false, 0, 0, 1.0f});
    print([&] { forward(*stream, x.data(), w.data(), y.data()); });
    print([&] { inputGrad(*stream, y.data(), w.data(), x.data()); });
    print([&] { weightGrad(*stream, y.data(), x.data(), w.data()); });
  }

  void crossEntropy(const std::vector<Size> &s) {
    auto x = tensor(s[0] * s[1]), dx = x, losses = tensor(s[0]);
    std::vector<std::int64_t> labels(s[0], 1);
    CrossEntropy forward(*device, s[0], s[1], 1);
    CrossEntropyGrad gradient(*device, s[0], s[1], 1, 1.0f);
    print([&] { forward(*stream, x.data(), labels.data(), losses.data()); });
    print([&] { gradient(*stream, x.data(), labels.data(), dx.data()); });
  }

  void sumChannels(const std::vector<Size> &s) {
    auto x = tensor(s[0] * s[1] * s[2] * s[3]), y = tensor(s[1]);
    Reduce sum(*device, ReduceKind::sum, s, {0, 2, 3});
    print([&] { sum(*stream, x.data(), y.data()); });
  }

  void transpose(const std::vector<Size> &s) {
    auto x = tensor(s[0] * s[1] * s[2] * s[3]), y = x;
    Transpose kernel(*device, s, {0, 2, 1, 3});
    print([&] { kernel(*stream, x.data(), y.data()); });
  }

  Failure failure;
  std::unique_ptr<Device> device;
  std::unique_ptr<Stream> stream;
};

} // namespace

int main() {
  try {
    Bench bench;
    for (std::string line; std::getline(std::cin, line);)
      bench.run(line);
  } catch (const Error &error) {
    std::cerr << "KernelsBench: " << error.what() << '\n';
    return 1;
  }
}
