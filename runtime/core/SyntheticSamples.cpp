//===- SyntheticSamples.cpp - Samples made of random numbers ----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements the synthetic part of Samples.h. Labels are uniform; float
// inputs of a sample with one label are that label's template plus noise,
// both of unit variance, so that a model that learns shows a falling loss.
//
//===----------------------------------------------------------------------===//

#include "core/Purposes.h"
#include "core/Samples.h"
#include "partita/philox.h"

#include <cmath>
#include <cstring>

using namespace partita;

namespace {

/// How many batches there are before samples repeat.
constexpr std::int64_t kSyntheticBatches = 64;

/// Without a limit, integers are drawn from this many values.
constexpr std::int64_t kDefaultLimit = 2;

class SyntheticSource final : public SampleSource {
public:
  /// `labels` is the input that decides on the template, or null.
  SyntheticSource(const Program &program, std::size_t index,
                  const SyntheticSource *labels, std::uint64_t seed)
      : input(program.inputs[index]), labels(labels), seed(seed),
        purpose(kPurposeOfInputs + static_cast<std::uint32_t>(index)),
        templates(kPurposeOfTemplates + static_cast<std::uint32_t>(index)),
        count(kSyntheticBatches * program.globalBatch),
        sampleDims(input.tensor.dims.begin() + 1, input.tensor.dims.end()) {}

  std::int64_t samples() const override { return count; }

  void read(const std::vector<std::int64_t> &ids, const Tile &tile,
            std::byte *out) const override {
    Tile part{Dims(tile.start.begin() + 1, tile.start.end()),
              Dims(tile.size.begin() + 1, tile.size.end())};
    std::size_t bytes = sizeOf(input.tensor.type);
    for (std::int64_t id : ids) {
      // Values follow from the place in the whole sample, whatever the cut.
      forRuns(
          sampleDims, part,
          [&](std::int64_t inSample, std::int64_t inTile, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i)
              make(id, inSample + i, out + (inTile + i) * bytes);
          });
      out += part.elements() * bytes;
    }
  }

  /// The integer at an element of a sample.
  std::int64_t integerAt(std::int64_t id, std::int64_t element) const {
    Random4 random = philox(seed, purpose, element, id);
    std::uint64_t wide = std::uint64_t(random.word[0]) << 32 | random.word[1];
    std::int64_t limit = input.limit > 0 ? input.limit : kDefaultLimit;
    return static_cast<std::int64_t>(wide % static_cast<std::uint64_t>(limit));
  }

private:
  /// Writes the value of an element of a sample to `out`.
  void make(std::int64_t id, std::int64_t element, std::byte *out) const {
    switch (input.tensor.type) {
    case DType::i32:
      return put(out, static_cast<std::int32_t>(integerAt(id, element)));
    case DType::i64:
      return put(out, integerAt(id, element));
    case DType::f64:
      return put(out, double(floatAt(id, element)));
    default:
      return put(out, floatAt(id, element));
    }
  }

  template <typename T> static void put(std::byte *out, T value) {
    std::memcpy(out, &value, sizeof(T));
  }

  float floatAt(std::int64_t id, std::int64_t element) const {
    float value = unitOf(philox(seed, purpose, element, id).word[0]);
    if (!labels)
      return value;
    std::int64_t label = labels->integerAt(id, 0);
    return value + unitOf(philox(seed, templates, element, label).word[0]);
  }

  /// Uniform with mean 0 and variance 1.
  static float unitOf(std::uint32_t word) {
    constexpr float kWidth = 3.46410162f; // the square root of 12
    return (uniformOf(word) - 0.5f) * kWidth;
  }

  const Input &input;
  const SyntheticSource *labels;
  std::uint64_t seed;
  std::uint32_t purpose;
  std::uint32_t templates;
  std::int64_t count;
  Dims sampleDims;
};

} // namespace

DataSet partita::makeSynthetic(const Program &program, std::uint64_t seed) {
  DataSet data;
  data.name = "synthetic data";
  data.sources.resize(program.inputs.size());
  const SyntheticSource *labels = nullptr;
  auto make = [&](std::size_t index) {
    const Input &input = program.inputs[index];
    switch (input.tensor.type) {
    case DType::f32:
    case DType::f64:
    case DType::i32:
    case DType::i64:
      break;
    default:
      throw Error("cannot make up the input '" + input.tensor.name +
                  "' of type " + nameOf(input.tensor.type) +
                  ", expected f32, f64, i32 or i64; use --data");
    }
    auto source = std::make_unique<SyntheticSource>(
        program, index, input.isLabel ? nullptr : labels, seed);
    data.samples = source->samples();
    const SyntheticSource *made = source.get();
    data.sources[index] = std::move(source);
    return made;
  };
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const Input &input = program.inputs[i];
    if (!input.isLabel)
      continue;
    const SyntheticSource *made = make(i);
    bool onePerSample =
        elementsOf(input.tensor.dims) == input.tensor.dims[0] &&
        (input.tensor.type == DType::i64 || input.tensor.type == DType::i32);
    if (onePerSample && !labels)
      labels = made;
  }
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    if (!program.inputs[i].isLabel)
      make(i);
  return data;
}
