//===- GridProgramTest.cpp - Data in and out of any cut ---------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that hands its inputs and variables on unchanged, its tensors cut
// in every way: over dimensions other than the first, over several axes in
// either order, unevenly, not at all. What its run writes must be what it was
// given, each element once.
//
//===----------------------------------------------------------------------===//

#include "core/Json.h"
#include "core/NpyFile.h"
#include "core/Safetensors.h"
#include "core/Tile.h"

#include "RankThreads.h"
#include "TestFolder.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace partita;

namespace {

constexpr std::int64_t kBatch = 6;

/// Lays tensors out in an arena that has room for the whole of each.
class Arena {
public:
  Tensor place(const char *name, DType type, Dims dims,
               std::vector<Split> splits) {
    std::int64_t offset = bytes;
    bytes += (elementsOf(dims) * std::int64_t(sizeOf(type)) + 63) / 64 * 64;
    return {name, type, std::move(dims), std::move(splits), {offset}};
  }
  std::int64_t bytes = 0;
};

/// Copies tiles from inputs to results that are cut alike.
class HandOn final : public RankProgram {
public:
  HandOn(Rank &rank, const Program &program)
      : RankProgram(rank), program(program) {}

  void step() override {
    for (std::size_t i = 0; i < program.gradients.size(); ++i)
      copy(program.variables[i].tensor, program.gradients[i]);
    *at<float>(program.loss.offsets[0]) = 0.5f;
    // One rank breaks its copy of a variable that others hold, too.
    if (program.name == "broken" && rank.index == 4)
      *at<float>(program.variables[1].tensor.offsets[0]) = -1.0f;
  }

  void eval() override {
    copy(program.inputs[2].tensor, *program.evalLoss);
    copy(program.inputs[3].tensor, *program.evalCorrect);
  }

  void predict() override {
    for (std::size_t i = 0; i < program.predictions.size(); ++i)
      copy(program.inputs[i].tensor, program.predictions[i]);
  }

private:
  void copy(const Tensor &from, const Tensor &to) {
    std::memcpy(at<char>(to.offsets[0]), at<char>(from.offsets[0]),
                tileOf(program, from, rank.index).elements() *
                    sizeOf(from.type));
  }

  const Program &program;
};

/// The program for a grid of axes a and b, of sizes 2 and 3 or both 1.
Program handOn(bool onGrid) {
  Program program;
  program.name = "hand on";
  program.grid = {{"a", onGrid ? 2 : 1}, {"b", onGrid ? 3 : 1}};
  program.globalBatch = kBatch;
  program.classOfRank.assign(program.ranks(), 0);
  auto cut = [&](std::vector<int> axes, std::vector<std::int64_t> bounds) {
    return onGrid ? Split(std::move(axes), std::move(bounds)) : Split();
  };
  Split none;

  Arena arena;
  // Batch and features cut; batch whole and two features cut in the order
  // against the ranks'; batch cut over both axes with an empty part; batch cut
  // over the inner axis.
  std::vector<Split> x = {cut({0}, {0, 4, 6}), none, cut({1}, {0, 1, 1, 5})};
  std::vector<Split> z = {none, cut({1, 0}, {0, 1, 2, 2, 4, 6, 7})};
  std::vector<Split> loss = {none, cut({1}, {0, 2, 3, 5}), cut({0}, {0, 1, 2})};
  std::vector<Split> hits = {cut({0, 1}, {0, 1, 2, 2, 3, 5, 6})};
  auto input = [&](const char *name, Dims dims, const std::vector<Split> &cuts,
                   bool isLabel) {
    Tensor tensor = arena.place(name, DType::f32, dims, cuts);
    program.inputs.push_back({tensor, isLabel});
  };
  input("x", {kBatch, 2, 5}, x, false);
  input("z", {kBatch, 7}, z, false);
  input("losses", {kBatch, 5, 2}, loss, true);
  input("hits", {kBatch, 5, 2}, hits, true);
  program.inputs.push_back({arena.place("classes", DType::i64, {kBatch, 7}, z),
                            /*isLabel=*/true, /*limit=*/9});
  program.predictions = {arena.place("x", DType::f32, {kBatch, 2, 5}, x),
                         arena.place("z", DType::f32, {kBatch, 7}, z)};
  program.evalLoss = arena.place("evalLoss", DType::f32, {kBatch, 5, 2}, loss);
  program.evalCorrect =
      arena.place("evalCorrect", DType::f32, {kBatch, 5, 2}, hits);
  program.loss = arena.place("loss", DType::f32, {}, {});

  auto variable = [&](const char *name, Dims dims,
                      const std::vector<Split> &cuts) {
    program.variables.push_back(
        {arena.place(name, DType::f32, dims, cuts), Role::parameter});
    program.gradients.push_back(arena.place(name, DType::f32, dims, cuts));
  };
  variable("both", {5, 4}, {cut({1}, {0, 2, 2, 5}), cut({0}, {0, 3, 4})});
  variable("columns", {4, 5}, {none, cut({1}, {0, 1, 3, 5})});
  variable("whole", {3}, {});
  variable("last", {2, 2, 7}, {none, none, cut({1, 0}, {0, 1, 2, 3, 4, 5, 7})});
  program.variables.push_back(
      {arena.place("filled", DType::f32, {4, 5}, {none, cut({0}, {0, 1, 5})}),
       Role::state, 2.5});
  program.arenaBytes = {arena.bytes};
  return program;
}

class GridProgram : public TestFolder {
protected:
  static constexpr std::int64_t kSamples = 13;

  void SetUp() override {
    TestFolder::SetUp();
    std::filesystem::create_directories(path("data"));
    Program program = handOn(true);
    for (const Input &input : program.inputs) {
      Dims dims = input.tensor.dims;
      dims[0] = kSamples;
      std::string file = path("data/" + fileNameOf(input.tensor.name) + ".npy");
      NpyWriter writer(file, input.tensor.type, dims);
      if (input.limit > 0) {
        std::vector<std::int64_t> classes(elementsOf(dims));
        for (std::int64_t &value : classes)
          value = static_cast<std::int64_t>(generator() % 9);
        writer.append(classes.data(), classes.size() * 8);
      } else {
        std::vector<float> &values = data[input.tensor.name];
        for (std::int64_t i = 0; i < elementsOf(dims); ++i)
          values.push_back(input.tensor.name == "hits"
                               ? static_cast<float>(generator() % 2)
                               : anyFloat());
        writer.append(values.data(), values.size() * 4);
      }
      writer.commit();
    }
    SafetensorsWriter writer;
    for (const Tensor &tensor : program.gradients)
      writer.announce(tensor.name, tensor.type, tensor.dims);
    writer.begin(path("start.safetensors"));
    for (const Tensor &tensor : program.gradients) {
      std::vector<float> &values = weights[tensor.name];
      for (std::int64_t i = 0; i < elementsOf(tensor.dims); ++i)
        values.push_back(anyFloat());
      writer.append(values.data(), values.size() * 4);
    }
    writer.commit();
  }

  float anyFloat() {
    return std::uniform_real_distribution<float>(-1, 1)(generator);
  }

  /// Runs the program; returns its exit code and what it wrote to stderr.
  std::pair<int, std::string> run(Program program,
                                  const std::vector<std::string> &options) {
    // The program reads the tables when it runs.
    const Program &tables = program;
    program.make = [&tables](Rank &rank) {
      return std::make_unique<HandOn>(rank, tables);
    };
    std::vector<std::string> words = {"program", "--weights",
                                      path("start.safetensors"), "--quiet"};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char *> argv;
    for (std::string &word : words)
      argv.push_back(word.data());
    testing::internal::CaptureStderr();
    int code = runProgramOn(static_cast<int>(argv.size()), argv.data(), program,
                            threadBackend());
    return {code, testing::internal::GetCapturedStderr()};
  }

  static std::vector<float> floatsOf(const std::byte *bytes,
                                     std::size_t count) {
    std::vector<float> values(count);
    std::memcpy(values.data(), bytes, count * sizeof(float));
    return values;
  }

  std::vector<float> floatsIn(const std::string &npy) const {
    NpyFile file(path(npy));
    return floatsOf(file.data(), elementsOf(file.dims()));
  }

  std::string textOf(const std::string &name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::mt19937 generator{3};
  std::map<std::string, std::vector<float>> data, weights;
};

TEST_F(GridProgram, WritesWhatItWasGiven) {
  auto [code, errors] =
      run(handOn(true), {"--data", path("data"), "--steps", "2", "--dump-step",
                         path("step.safetensors"), "--save", path("saved"),
                         "--eval", "--predict", path("out"), "--metrics",
                         path("metrics"), "--check-replicas"});
  ASSERT_EQ(code, 0) << errors;

  EXPECT_EQ(floatsIn("out/x.npy"), data["x"]);
  EXPECT_EQ(floatsIn("out/z.npy"), data["z"]);

  Safetensors saved(path("saved/parameters.safetensors"));
  Safetensors step(path("step.safetensors"));
  for (const auto &[name, values] : weights) {
    EXPECT_EQ(floatsOf(saved.find(name)->data, values.size()), values) << name;
    EXPECT_EQ(floatsOf(step.find("grad:" + name)->data, values.size()), values)
        << name;
  }
  EXPECT_EQ(floatsOf(saved.find("filled")->data, 20),
            std::vector<float>(20, 2.5f));

  double loss = 0, hits = 0;
  for (float value : data["losses"])
    loss += value / (kSamples * 10);
  for (float value : data["hits"])
    hits += value / (kSamples * 10);
  std::string metrics = textOf("metrics");
  auto figure = [&](const std::string &key) {
    std::size_t at = metrics.find("\"" + key + "\":");
    return at == std::string::npos
               ? std::nan("")
               : std::atof(metrics.c_str() + at + key.size() + 3);
  };
  EXPECT_NEAR(figure("eval_loss"), loss, 1e-8);
  EXPECT_NEAR(figure("eval_accuracy"), hits, 1e-8);
  EXPECT_EQ(figure("eval_samples"), kSamples);
}

TEST_F(GridProgram, StartsFromWhatItSaved) {
  ASSERT_EQ(run(handOn(true), {"--data", path("data"), "--steps", "1", "--save",
                               path("saved")})
                .first,
            0);
  std::filesystem::rename(path("saved/parameters.safetensors"),
                          path("start.safetensors"));
  // On one rank, which knows nothing of the cuts.
  ASSERT_EQ(run(handOn(false), {"--data", path("data"), "--steps", "1",
                                "--save", path("again")})
                .first,
            0);
  EXPECT_EQ(textOf("start.safetensors"),
            textOf("again/parameters.safetensors"));
}

TEST_F(GridProgram, SyntheticSamplesDoNotDependOnTheCut) {
  for (bool onGrid : {false, true}) {
    auto [code, errors] = run(handOn(onGrid), {"--synthetic", "--predict",
                                               path(onGrid ? "grid" : "one")});
    ASSERT_EQ(code, 0) << errors;
  }
  EXPECT_EQ(floatsIn("grid/x.npy").size(), 64u * kBatch * 10);
  EXPECT_EQ(floatsIn("grid/x.npy"), floatsIn("one/x.npy"));
  EXPECT_EQ(floatsIn("grid/z.npy"), floatsIn("one/z.npy"));
}

TEST_F(GridProgram, DifferingCopiesAreNamed) {
  // Ranks 1 and 4 hold the same columns; the others hold other ones.
  Program program = handOn(true);
  program.name = "broken";
  auto [code, errors] = run(
      program, {"--data", path("data"), "--steps", "1", "--check-replicas"});
  EXPECT_EQ(code, 1);
  EXPECT_TRUE(says(errors, "'columns' differs between ranks that should hold "
                           "equal copies"));
}

TEST_F(GridProgram, LabelsOutOfRangeAreNamedWhereverTheyAre) {
  std::vector<std::int64_t> classes(kSamples * 7, 0);
  classes[12 * 7 + 6] = 9;
  NpyWriter writer(path("data/classes.npy"), DType::i64, {kSamples, 7});
  writer.append(classes.data(), classes.size() * 8);
  writer.commit();
  auto [code, errors] = run(handOn(true), {"--data", path("data"), "--eval"});
  EXPECT_EQ(code, 1);
  EXPECT_TRUE(says(errors, "sample 12 of '" + path("data/classes.npy") +
                               "' has the label 9, expected 0 to 8"));
}

} // namespace
