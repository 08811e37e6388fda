//===- HandWrittenMlp.cpp - An emitted program, by hand ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plays an emitted program: a perceptron 16-24-8 with cross entropy and SGD
// with momentum, its batch split unevenly over 1 to 6 ranks, gradients summed
// in two buckets behind the backward pass. The number of ranks comes from
// PARTITA_TEST_RANKS, which a compiled program would have fixed.
//
//===----------------------------------------------------------------------===//

#include "partita/program.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace partita;

namespace {

constexpr std::int64_t kIn = 16, kHidden = 24, kClasses = 8, kBatch = 20;

// Offsets in the arena, in bytes. Local buffers are sized for the whole batch,
// so that all ranks share one layout.
constexpr std::int64_t kW1 = 0;
constexpr std::int64_t kB1 = kW1 + kHidden * kIn * 4;
constexpr std::int64_t kW2 = kB1 + kHidden * 4;
constexpr std::int64_t kB2 = kW2 + kClasses * kHidden * 4;
constexpr std::int64_t kParameters =
    kHidden * kIn + kHidden + kClasses * kHidden + kClasses;
constexpr std::int64_t kMoments = kParameters * 4;
constexpr std::int64_t kGradients = 2 * kMoments;
constexpr std::int64_t kX = 3 * kMoments;
constexpr std::int64_t kLabels = kX + kBatch * kIn * 4;
constexpr std::int64_t kH = kLabels + kBatch * 8;
constexpr std::int64_t kDh = kH + kBatch * kHidden * 4;
constexpr std::int64_t kLogits = kDh + kBatch * kHidden * 4;
constexpr std::int64_t kLosses = kLogits + kBatch * kClasses * 4;
constexpr std::int64_t kHits = kLosses + kBatch * 4;
constexpr std::int64_t kLoss = kHits + kBatch * 4;
constexpr std::int64_t kArena = kLoss + 64;

constexpr std::int64_t kBucket1 = kClasses * kHidden + kClasses;
constexpr std::int64_t kBucket0 = kHidden * kIn + kHidden;

/// Where the parts of the batch begin; rank 0 gets the larger share.
std::vector<std::int64_t> batchBounds(int ranks) {
  std::vector<std::int64_t> bounds{0};
  for (int rank = 0; rank < ranks; ++rank)
    bounds.push_back(bounds.back() + kBatch / ranks +
                     (rank < kBatch % ranks ? 1 : 0));
  return bounds;
}

int ranksWanted() {
  const char *text = std::getenv("PARTITA_TEST_RANKS");
  return text ? std::clamp(std::atoi(text), 1, 6) : 1;
}

/// y[n, out] = x[n, in] * w[out, in]^T + b
void linear(const float *x, const float *w, const float *b, float *y,
            std::int64_t n, std::int64_t in, std::int64_t out) {
  for (std::int64_t row = 0; row < n; ++row)
    for (std::int64_t o = 0; o < out; ++o) {
      float sum = b[o];
      for (std::int64_t i = 0; i < in; ++i)
        sum += x[row * in + i] * w[o * in + i];
      y[row * out + o] = sum;
    }
}

/// dw[out, in] = dy[n, out]^T * x[n, in]; db[out] = sum over n of dy
void linearGradients(const float *x, const float *dy, float *dw, float *db,
                     std::int64_t n, std::int64_t in, std::int64_t out) {
  for (std::int64_t o = 0; o < out; ++o) {
    db[o] = 0;
    for (std::int64_t i = 0; i < in; ++i)
      dw[o * in + i] = 0;
    for (std::int64_t row = 0; row < n; ++row) {
      float d = dy[row * out + o];
      db[o] += d;
      for (std::int64_t i = 0; i < in; ++i)
        dw[o * in + i] += d * x[row * in + i];
    }
  }
}

/// What step() communicates, in this order: what is sent, the layer it serves,
/// its place.
constexpr CallSite kStepCalls[] = {
    {"loss", "", 0},
    {"bucket 1: fc2.weight, fc2.bias", "", 1},
    {"bucket 0: fc1.weight, fc1.bias", "", 2},
};

class Mlp final : public RankProgram {
public:
  explicit Mlp(Rank &rank)
      : RankProgram(rank), data(rank.communicator({"data"})),
        n(batchBounds(data.size())[data.rank() + 1] -
          batchBounds(data.size())[data.rank()]) {}

  void step() override {
    // ---- forward ----
    forward();
    layer("loss", "loss");
    compute.run("loss", [this] {
      float sum = 0;
      for (std::int64_t row = 0; row < n; ++row)
        sum += losses[row];
      *loss = sum / kBatch;
    });
    compute.record(lossReady);
    comm.wait(lossReady);
    data.allReduce(comm, loss, 1, Reduction::sum, kStepCalls[0]);

    // ---- backward ----
    // logits become their own gradient: (softmax - onehot) / batch
    compute.run("cross entropy gradient", [this] {
      for (std::int64_t row = 0; row < n; ++row) {
        float *z = logits + row * kClasses;
        float total = losses[row] + z[labels[row]]; // log sum exp
        for (std::int64_t c = 0; c < kClasses; ++c)
          z[c] = (std::exp(z[c] - total) - (c == labels[row])) / kBatch;
      }
    });
    layer("fc2", "backward");
    compute.run("fc2 gradients", [this] {
      linearGradients(h, logits, gradients + kBucket0,
                      gradients + kBucket0 + kClasses * kHidden, n, kHidden,
                      kClasses);
    });
    // ---- bucket 1: fc2.weight fc2.bias, ready after fc2 ----
    compute.record(bucket1Ready);
    comm.wait(bucket1Ready);
    data.allReduce(comm, gradients + kBucket0, kBucket1, Reduction::sum,
                   kStepCalls[1]);
    comm.record(bucket1Summed);

    layer("relu", "backward");
    compute.run("relu gradient", [this] {
      for (std::int64_t row = 0; row < n; ++row)
        for (std::int64_t i = 0; i < kHidden; ++i) {
          float sum = 0;
          for (std::int64_t c = 0; c < kClasses; ++c)
            sum += logits[row * kClasses + c] * w2[c * kHidden + i];
          dh[row * kHidden + i] = h[row * kHidden + i] > 0 ? sum : 0;
        }
    });
    layer("fc1", "backward");
    compute.run("fc1 gradients", [this] {
      linearGradients(x, dh, gradients, gradients + kHidden * kIn, n, kIn,
                      kHidden);
    });
    // ---- bucket 0: fc1.weight fc1.bias, ready after fc1 ----
    compute.record(bucket0Ready);
    comm.wait(bucket0Ready);
    data.allReduce(comm, gradients, kBucket0, Reduction::sum, kStepCalls[2]);
    comm.record(bucket0Summed);

    // ---- update ----
    layer("bucket 1: fc2.weight, fc2.bias", "update");
    compute.wait(bucket1Summed);
    update(kBucket0, kBucket1);
    layer("bucket 0: fc1.weight, fc1.bias", "update");
    compute.wait(bucket0Summed);
    update(0, kBucket0);
  }

  void eval() override {
    checkReplicas();
    forward();
  }
  void predict() override { forward(); }

private:
  /// Parameters and moments must have the same bits on all ranks: then their
  /// minimum and their maximum over the ranks are these bits.
  void checkReplicas() {
    std::int64_t bytes = 2 * kParameters * sizeof(float);
    std::vector<std::int32_t> bits(2 * kParameters), least, most;
    std::memcpy(bits.data(), w1, bytes);
    least = most = bits;
    data.allReduce(compute, least.data(), 2 * kParameters, Reduction::min);
    data.allReduce(compute, most.data(), 2 * kParameters, Reduction::max);
    if (least != bits || most != bits)
      throw Error("the parameters differ between the ranks");
  }

  void forward() {
    layer("fc1");
    compute.run("fc1", [this] { linear(x, w1, b1, h, n, kIn, kHidden); });
    layer("relu");
    compute.run("relu", [this] {
      for (std::int64_t i = 0; i < n * kHidden; ++i)
        h[i] = std::max(h[i], 0.0f);
    });
    layer("fc2");
    compute.run("fc2",
                [this] { linear(h, w2, b2, logits, n, kHidden, kClasses); });
    compute.run("cross entropy", [this] {
      for (std::int64_t row = 0; row < n; ++row) {
        const float *z = logits + row * kClasses;
        const float *top = std::max_element(z, z + kClasses);
        float sum = 0;
        for (std::int64_t c = 0; c < kClasses; ++c)
          sum += std::exp(z[c] - *top);
        losses[row] = *top + std::log(sum) - z[labels[row]];
        hits[row] = top - z == labels[row] ? 1.0f : 0.0f;
      }
    });
  }

  /// SGD with momentum 0.9.
  void update(std::int64_t first, std::int64_t count) {
    float lr = rank.lr;
    compute.run("update", [=] {
      for (std::int64_t i = first; i < first + count; ++i) {
        moments[i] = 0.9f * moments[i] + gradients[i];
        w1[i] -= lr * moments[i]; // parameters lie in bucket order
      }
    });
  }

  Communicator &data;
  const std::int64_t n;

  Event lossReady{device};
  Event bucket0Ready{device}, bucket0Summed{device};
  Event bucket1Ready{device}, bucket1Summed{device};

  float *w1 = at<float>(kW1);                       // [24, 16] fc1.weight
  float *b1 = at<float>(kB1);                       // [24] fc1.bias
  float *w2 = at<float>(kW2);                       // [8, 24] fc2.weight
  float *b2 = at<float>(kB2);                       // [8] fc2.bias
  float *moments = at<float>(kMoments);             // of all parameters
  float *gradients = at<float>(kGradients);         // of all parameters
  float *x = at<float>(kX);                         // [batch, 16] input, n:data
  std::int64_t *labels = at<std::int64_t>(kLabels); // [batch], n:data
  float *h = at<float>(kH);                         // [batch, 24], n:data
  float *dh = at<float>(kDh);                       // [batch, 24], n:data
  float *logits = at<float>(kLogits);               // [batch, 8], n:data
  float *losses = at<float>(kLosses);               // [batch], n:data
  float *hits = at<float>(kHits);                   // [batch], n:data
  float *loss = at<float>(kLoss); // [] mean over the global batch
};

} // namespace

int main(int argc, char **argv) {
  int ranks = ranksWanted();
  std::vector<std::int64_t> bounds = batchBounds(ranks);
  Split samples(0, bounds);

  Program p;
  p.name = "mlp";
  p.grid = {{"data", ranks}};
  p.globalBatch = kBatch;
  // Class 0 has the larger local batch, class 1 the smaller one.
  for (int rank = 0; rank < ranks; ++rank)
    p.classOfRank.push_back(rank < kBatch % ranks || kBatch % ranks == 0 ? 0
                                                                         : 1);
  p.arenaBytes = {kArena, kArena};
  p.persistentBytes = {kX, kX};
  p.semantics = "exact up to reduction order";
  // The wait for bucket 0 is one for everything sent before it, the loss, too.
  p.overlapsSteps = true;
  p.hyper = {"sgd with momentum", 0.05};

  p.inputs.push_back({{"x", DType::f32, {kBatch, kIn}, {samples}, {kX, kX}}});
  p.inputs.push_back(
      {{"y", DType::i64, {kBatch}, {samples}, {kLabels, kLabels}},
       /*isLabel=*/true,
       /*limit=*/kClasses});
  auto parameter = [&](const char *name, Dims dims, std::int64_t offset) {
    Tensor tensor{name, DType::f32, dims, {}, {offset, offset}};
    p.variables.push_back({tensor, Role::parameter});
    std::int64_t moment = kMoments + offset, gradient = kGradients + offset;
    p.variables.push_back({{std::string(name) + ".momentum",
                            DType::f32,
                            dims,
                            {},
                            {moment, moment}},
                           Role::optimizer,
                           0.0});
    p.gradients.push_back({name, DType::f32, dims, {}, {gradient, gradient}});
  };
  parameter("fc1.weight", {kHidden, kIn}, kW1);
  parameter("fc1.bias", {kHidden}, kB1);
  parameter("fc2.weight", {kClasses, kHidden}, kW2);
  parameter("fc2.bias", {kClasses}, kB2);
  p.loss = {"loss", DType::f32, {}, {}, {kLoss, kLoss}};
  p.evalLoss =
      Tensor{"losses", DType::f32, {kBatch}, {samples}, {kLosses, kLosses}};
  p.evalCorrect =
      Tensor{"hits", DType::f32, {kBatch}, {samples}, {kHits, kHits}};
  p.predictions.push_back({"logits",
                           DType::f32,
                           {kBatch, kClasses},
                           {samples},
                           {kLogits, kLogits}});
  p.make = [](Rank &rank) { return std::make_unique<Mlp>(rank); };
  return runProgram(argc, argv, p);
}
