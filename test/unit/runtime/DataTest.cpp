//===- DataTest.cpp - Samples and batches -----------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a folder may hold, conversions, the range check, synthetic samples and
// reading ahead.
//
//===----------------------------------------------------------------------===//

#include "core/Loader.h"
#include "core/NpyFile.h"

#include "TestFolder.h"

#include <cstring>
#include <set>

using namespace partita;

namespace {

class DataTest : public TestFolder {
protected:
  void SetUp() override {
    TestFolder::SetUp();
    program.name = "test";
    program.grid = {{"data", 2}};
    program.globalBatch = 5;
    program.classOfRank = {0, 0};
    program.arenaBytes = {4096};
    Split batch(0, {0, 3, 5});
    program.inputs.push_back({{"in/x", DType::f32, {5, 4}, {batch}, {0}}});
    program.inputs.push_back(
        {{"y", DType::i64, {5}, {batch}, {256}}, true, 10});
  }

  template <typename T>
  void save(const std::string &name, DType type, const Dims &dims,
            const std::vector<T> &values) {
    NpyWriter writer(path(name), type, dims);
    writer.append(values.data(), values.size() * sizeof(T));
    writer.commit();
  }

  template <typename T>
  static std::vector<T> valuesOf(const std::vector<std::byte> &bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  /// Twelve samples: x counts up, labels are the sample's index modulo 10.
  void saveGood() {
    std::vector<float> x(48);
    std::vector<std::int64_t> y(12);
    for (int i = 0; i < 48; ++i)
      x[i] = static_cast<float>(i);
    for (int i = 0; i < 12; ++i)
      y[i] = i % 10;
    save("in_x.npy", DType::f32, {12, 4}, x);
    save("labels.npy", DType::i64, {12}, y);
  }

  Program program;
};

TEST_F(DataTest, RanksGetTheirRows) {
  saveGood();
  DataSet data = openFolder(program, folder, true);
  EXPECT_EQ(data.samples, 12);
  auto idsOf = [](std::int64_t batch) {
    return std::vector<std::int64_t>{batch, 7, 3, 11, 2};
  };
  Loader loader(program, data, /*rank=*/1, /*batches=*/3, idsOf);
  for (int batch = 0; batch < 3; ++batch) {
    const Batch &read = loader.next();
    EXPECT_EQ(valuesOf<float>(read.inputs[0]),
              (std::vector<float>{44, 45, 46, 47, 8, 9, 10, 11}));
    EXPECT_EQ(valuesOf<std::int64_t>(read.inputs[1]),
              (std::vector<std::int64_t>{1, 2}));
  }
  Loader first(program, data, /*rank=*/0, /*batches=*/100, idsOf);
  for (int batch = 0; batch < 9; ++batch)
    EXPECT_EQ(valuesOf<std::int64_t>(first.next().inputs[1]),
              (std::vector<std::int64_t>{batch, 7, 3}));
  // 91 batches are left unread; the end must not wait for them.
}

TEST_F(DataTest, BytesBecomeFloatsAndLabels) {
  std::vector<std::uint8_t> x(48, 255), y(12, 9);
  x[0] = 51;
  save("in_x.npy", DType::u8, {12, 4}, x);
  save("labels.npy", DType::u8, {12}, y);
  DataSet data = openFolder(program, folder, true);
  Loader loader(program, data, 0, 1, [](std::int64_t) {
    return std::vector<std::int64_t>{0, 1, 2, 3, 4};
  });
  const Batch &batch = loader.next();
  EXPECT_EQ(valuesOf<float>(batch.inputs[0])[0], 51.0f / 255.0f);
  EXPECT_EQ(valuesOf<float>(batch.inputs[0])[1], 1.0f);
  EXPECT_EQ(valuesOf<std::int64_t>(batch.inputs[1]),
            (std::vector<std::int64_t>{9, 9, 9}));
}

TEST_F(DataTest, OtherDimensionsAreCutToo) {
  saveGood();
  program.inputs[0].tensor.splits = {Split(), Split(0, {0, 1, 4})};
  DataSet data = openFolder(program, folder, true);
  Loader loader(program, data, 1, 1, [](std::int64_t) {
    return std::vector<std::int64_t>{0, 1, 2, 3, 4};
  });
  EXPECT_EQ(valuesOf<float>(loader.next().inputs[0]),
            (std::vector<float>{1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18,
                                19}));
}

TEST_F(DataTest, LabelsOutOfRangeAreNamed) {
  saveGood();
  save("labels.npy", DType::i32, {12},
       std::vector<std::int32_t>{0, 1, 2, 3, -1, 5, 6, 7, 8, 9, 0, 1});
  DataSet data = openFolder(program, folder, true);
  Loader loader(program, data, 0, 2, [](std::int64_t batch) {
    return std::vector<std::int64_t>{0, batch == 1 ? 4 : 1, 2, 3, 4};
  });
  loader.next();
  EXPECT_EQ(messageOf([&] { loader.next(); }),
            "sample 4 of '" + path("labels.npy") +
                "' has the label -1, expected 0 to 9");
}

TEST_F(DataTest, IndicesMayCountFromTheEnd) {
  saveGood();
  program.inputs[1].isLabel = false;
  std::filesystem::remove(path("labels.npy"));
  std::vector<std::int32_t> values = {-10, 9, 2, 3, 4, 5, 6, 7, -11, 9, 0, 1};
  save("y.npy", DType::i32, {12}, values);
  DataSet data = openFolder(program, folder, true);
  Loader loader(program, data, 0, 2, [](std::int64_t batch) {
    return std::vector<std::int64_t>{batch * 8, 1, 2, 3, 4};
  });
  EXPECT_EQ(valuesOf<std::int64_t>(loader.next().inputs[1])[0], -10);
  EXPECT_EQ(messageOf([&] { loader.next(); }),
            "sample 8 of '" + path("y.npy") +
                "' has the value -11, expected -10 to 9");
}

TEST_F(DataTest, EverythingThatIsMissingIsListed) {
  std::string message = messageOf([&] { openFolder(program, folder, true); });
  EXPECT_TRUE(says(message, "'" + path("in_x.npy") +
                                "' is missing, expected [samples, 4] of f32"));
  EXPECT_TRUE(says(message, "'" + path("labels.npy") +
                                "' is missing, expected [samples] of i64"));
  EXPECT_TRUE(says(messageOf([&] { openFolder(program, path("no"), true); }),
                   "is not a folder"));
}

TEST_F(DataTest, WhatDoesNotFitIsListed) {
  saveGood();
  save("labels.npy", DType::i64, {2}, std::vector<std::int64_t>{1, 2});
  EXPECT_TRUE(
      says(messageOf([&] { openFolder(program, folder, true); }),
           "labels.npy' has 2 samples, and '" + path("in_x.npy") + "' has 12"));
  save("in_x.npy", DType::f32, {2, 2, 2}, std::vector<float>(8));
  EXPECT_TRUE(says(messageOf([&] { openFolder(program, folder, true); }),
                   "holds [2, 2, 2] of f32, expected [samples, 4] of f32"));
}

TEST_F(DataTest, PredictionNeedsNoLabels) {
  saveGood();
  std::filesystem::remove(path("labels.npy"));
  DataSet data = openFolder(program, folder, /*withLabels=*/false);
  EXPECT_FALSE(data.sources[1]);
  EXPECT_EQ(data.samples, 12);
}

TEST_F(DataTest, SeveralLabelsHaveTheirOwnFiles) {
  program.inputs.push_back(program.inputs[1]);
  program.inputs.back().tensor.name = "../z";
  EXPECT_EQ(dataFileOf(program, program.inputs[1]), "y.npy");
  EXPECT_EQ(dataFileOf(program, program.inputs[2]), "_._z.npy");
}

TEST_F(DataTest, SyntheticSamplesDependOnSeedAndSampleOnly) {
  DataSet data = makeSynthetic(program, 1), other = makeSynthetic(program, 2);
  Tile whole{{0, 0}, {5, 4}}, part{{3, 2}, {2, 2}};
  std::vector<std::byte> a(3 * 16), b(16 / 2), c(16);
  data.sources[0]->read({8, 9, 4}, whole, a.data());
  data.sources[0]->read({9}, part, b.data());
  EXPECT_EQ(std::memcmp(a.data() + 16 + 8, b.data(), 8), 0);
  other.sources[0]->read({9}, whole, c.data());
  EXPECT_NE(std::memcmp(a.data() + 16, c.data(), 16), 0);

  std::set<std::int64_t> labels;
  for (std::int64_t id = 0; id < 200; ++id) {
    std::int64_t label = -1;
    data.sources[1]->read({id}, {{0}, {1}},
                          reinterpret_cast<std::byte *>(&label));
    labels.insert(label);
  }
  EXPECT_EQ(labels.size(), 10u);
  EXPECT_EQ(*labels.begin(), 0);
}

} // namespace
