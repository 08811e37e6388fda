//===- EveryKernel.cu - A program that uses the whole cuda runtime --------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written as an emitted program is: it has a kernel of its own, every class of
// partita/kernels.h, events and communication. Building it shows that all of
// this compiles with nvcc and links with the real libraries.
//
//===----------------------------------------------------------------------===//

#include "partita/cuda.h"
#include "partita/kernels.h"
#include "partita/program.h"

using namespace partita;

namespace {

constexpr std::int64_t kBatch = 4, kClasses = 8;

__global__ void reluKernel(const float *x, float *y, std::int64_t n) {
  for (std::int64_t i = cuda::firstIndex(); i < n; i += cuda::indexStride())
    y[i] = fmaxf(x[i], 0.0f);
}

void relu(Stream &stream, const float *x, float *y, std::int64_t n) {
  stream.run("relu", [=, &stream] {
    cuda::launch(reluKernel, cuda::blocksFor(n), cuda::kThreads, 0, stream, x,
                 y, n);
  });
}

class EveryKernel final : public RankProgram {
public:
  explicit EveryKernel(Rank &rank) : RankProgram(rank) {}

  void step() override {
    conv(compute, x, w, c, y);
    convInputGrad(compute, y, w, y);
    convFilterGrad(compute, x, y, w);
    relu(compute, y, y, kBatch * kClasses);
    maxPool(compute, x, y);
    maxPoolGrad(compute, x, y, y);
    avgPool(compute, x, y);
    avgPoolGrad(compute, y, y);
    lrn(compute, x, y);
    lrnGrad(compute, x, x, y);
    matmul(compute, x, w, y);
    reduce(compute, x, c);
    variance(compute, x, c, c);
    normalize(compute, x, c, c, c, c, y);
    normalizeSums(compute, x, x, c, c, c, c);
    normalizeGrad(compute, y, x, c, c, c, c, c, y);
    softmax(compute, x, y);
    softmaxGrad(compute, y, x, y);
    crossEntropy(compute, x, labels, loss);
    crossEntropyGrad(compute, x, labels, y);
    correct(compute, x, labels, loss);
    gather(compute, x, labels, y);
    scatterAdd(compute, x, labels, y);
    transpose(compute, x, y);
    slice(compute, x, y);
    pad(compute, x, y);
    concat(compute, {x, x}, y);
    dropoutMask(compute, rank.seed, rank.stepIndex, y);
    fill(compute, 0.0f, c);
    compute.record(ready);
    comm.wait(ready);
    data.allReduce(comm, c, kClasses, Reduction::sum);
    comm.record(summed);
    compute.wait(summed);
    copy(compute, c, w);
  }

private:
  float *x = at<float>(0), *w = at<float>(1024), *c = at<float>(2048);
  float *y = at<float>(3072), *loss = at<float>(8192);
  std::int64_t *labels = at<std::int64_t>(9216);

  Communicator &data = rank.communicator({"data"});
  Event ready{device}, summed{device};

  ConvSizes convOf =
      convSizes({kBatch, 8, 4, 4}, {8, 8, 3, 3}, {}, {}, {1, 1, 1, 1});
  PoolSizes poolOf =
      poolSizes({kBatch, 8, 4, 4}, {kBatch, 8, 2, 2}, {2, 2}, {2, 2});
  ConvForward conv{device, convOf, /*bias=*/true};
  ConvInputGrad convInputGrad{device, convOf};
  ConvFilterGrad convFilterGrad{device, convOf};
  MaxPool maxPool{device, poolOf};
  MaxPoolGrad maxPoolGrad{device, poolOf};
  AvgPool avgPool{device, poolOf, /*countIncludePad=*/false};
  AvgPoolGrad avgPoolGrad{device, poolOf, /*countIncludePad=*/false};
  Lrn lrn{device, kBatch, kClasses, 1, 5, 1e-4f, 0.75f, 1.0f};
  LrnGrad lrnGrad{device, kBatch, kClasses, 1, 5, 1e-4f, 0.75f, 1.0f};
  Matmul matmul{device, MatmulSizes{1, kBatch, kClasses, 8}};
  Reduce reduce{device, ReduceKind::sum, {kBatch, kClasses}, {0}};
  Variance variance{device, {kBatch, kClasses}, {0}, 0.25f};
  Normalize normalize{device, kBatch, kClasses, 1, 1e-5f};
  NormalizeSums normalizeSums{device, kBatch, kClasses, 1, 1e-5f};
  NormalizeGrad normalizeGrad{device, kBatch, kClasses, 1, 1e-5f, 0.25f};
  Softmax softmax{device, kBatch, kClasses, 1, /*log=*/false};
  SoftmaxGrad softmaxGrad{device, kBatch, kClasses, 1, /*log=*/false};
  CrossEntropy crossEntropy{device, kBatch, kClasses, 1};
  CrossEntropyGrad crossEntropyGrad{device, kBatch, kClasses, 1, 0.25f};
  Correct correct{device, kBatch, kClasses, 1};
  GatherSizes gatherOf{1, kBatch, kClasses, kBatch, /*limit=*/kBatch};
  Gather gather{device, gatherOf};
  ScatterAdd scatterAdd{device, gatherOf};
  Transpose transpose{device, {kBatch, kClasses}, {1, 0}};
  Slice slice{device, {kBatch, kClasses}, {0, 1}, {kBatch, 2}, {1, 3}};
  Pad pad{device, {kBatch, kClasses}, {0, 1}, {0, 0}, {0, 1}, 0.0f};
  Concat concat{device, kBatch, {kClasses, kClasses}};
  DropoutMask dropoutMask{
      device,  {kBatch, kClasses}, {kBatch, kClasses}, {0, 0}, 0.5f,
      /*id=*/1};
  Fill fill{device, kClasses};
  Copy copy{device, kClasses * sizeof(float)};
};

} // namespace

int main(int argc, char **argv) {
  Program program;
  program.name = "every-kernel";
  program.target = "cuda";
  program.grid = {{"data", 1}};
  program.globalBatch = kBatch;
  program.classOfRank = {0};
  program.arenaBytes = {16384};
  program.persistentBytes = {0};
  program.inputs = {{{"x", DType::f32, {kBatch, kClasses}, {}, {0}}}};
  program.loss = {"loss", DType::f32, {}, {}, {8192}};
  program.make = [](Rank &rank) { return std::make_unique<EveryKernel>(rank); };
  return runProgram(argc, argv, program);
}
