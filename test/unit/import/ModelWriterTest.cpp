//===- ModelWriterTest.cpp - Tests of writing models -----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/ModelWriter.h"

#include "dialects/NN/Import/Safetensors.h"
#include "dialects/NN/Import/TensorData.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace onnx;
using namespace partita::nn::importer;

namespace {

class Files : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("partita-writer", folder));
  }
  void TearDown() override { sys::fs::remove_directories(folder); }

  std::string path(StringRef name) {
    SmallString<128> result(folder);
    sys::path::append(result, name);
    return std::string(result);
  }
  void write(StringRef name, StringRef bytes) {
    std::error_code error;
    raw_fd_ostream(path(name), error) << bytes;
    ASSERT_FALSE(error);
  }
  std::string read(StringRef name) {
    auto buffer = MemoryBuffer::getFile(path(name));
    return buffer ? (*buffer)->getBuffer().str() : "";
  }

  SmallString<128> folder;
};

ModelProto modelOf(int weights) {
  ModelProto model;
  model.set_ir_version(8);
  model.mutable_graph()->set_name("g");
  for (int i = 0; i < weights; ++i) {
    TensorProto &tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name("w" + std::to_string(i));
    tensor.set_data_type(TensorProto::FLOAT);
    tensor.add_dims(500);
  }
  return model;
}

TEST_F(Files, WritesWhatProtobufReads) {
  std::string a(2000, 'a'), b(2000, 'b');
  auto side = writeModel(modelOf(2), {a, b}, path("m.onnx"));
  ASSERT_TRUE(static_cast<bool>(side));
  EXPECT_EQ(*side, "");
  ModelProto model;
  ASSERT_TRUE(model.ParseFromString(read("m.onnx")));
  ASSERT_EQ(model.graph().initializer_size(), 2);
  EXPECT_EQ(model.graph().name(), "g");
  EXPECT_EQ(model.graph().initializer(0).raw_data(), a);
  EXPECT_EQ(model.graph().initializer(1).raw_data(), b);
}

TEST_F(Files, PutsWeightsBesideLargeModels) {
  std::string a(2000, 'a'), b(2000, 'b');
  auto side = writeModel(modelOf(2), {a, b}, path("m.onnx"), /*limit=*/1500);
  ASSERT_TRUE(static_cast<bool>(side));
  EXPECT_EQ(*side, path("m.onnx.data"));
  // The importer finds the weights again.
  mlir::MLIRContext context;
  auto file = ModelFile::open(path("m.onnx"), &context);
  ASSERT_TRUE(static_cast<bool>(file));
  const TensorProto &tensor = (*file)->getModel().graph().initializer(1);
  auto bytes = (*file)->mapBytes(tensor);
  ASSERT_TRUE(static_cast<bool>(bytes));
  EXPECT_EQ(*bytes, b);
}

TEST_F(Files, LeavesNothingAfterAFailure) {
  auto side = writeModel(modelOf(1), {"x"}, path("missing/m.onnx"));
  EXPECT_FALSE(static_cast<bool>(side));
  consumeError(side.takeError());
  std::error_code error;
  EXPECT_EQ(sys::fs::directory_iterator(folder, error),
            sys::fs::directory_iterator());
}

std::string safetensors(StringRef header, StringRef data) {
  std::string length(8, '\0');
  support::endian::write64le(length.data(), header.size());
  return length + header.str() + data.str();
}

TEST_F(Files, ReadsSafetensors) {
  write("w.safetensors", safetensors(R"({"__metadata__":{"format":"pt"},)"
                                     R"("a":{"dtype":"F32","shape":[2],)"
                                     R"("data_offsets":[0,8]}})",
                                     "01234567"));
  auto file = SafetensorsFile::open(path("w.safetensors"));
  ASSERT_TRUE(static_cast<bool>(file));
  ASSERT_EQ((*file)->getTensors().size(), 1u);
  EXPECT_EQ((*file)->getTensors().at("a").bytes, "01234567");
}

TEST_F(Files, RefusesDamagedSafetensors) {
  const std::pair<const char *, const char *> headers[] = {
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}})", "outside"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,8]}})",
       "4 bytes of data"},
      {R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
       "impossible shape"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],)"
       R"("data_offsets":[0,8]}})",
       "impossible shape"},
      {R"({"a":{"dtype":"Q7","shape":[2],"data_offsets":[0,8]}})",
       "unknown dtype"},
      {R"({"a":7})", "expected dtype"},
      {R"([1])", "no JSON object"},
      {R"({)", "no JSON"},
  };
  for (auto [header, text] : headers) {
    write("w.safetensors", safetensors(header, "01234567"));
    auto file = SafetensorsFile::open(path("w.safetensors"));
    ASSERT_FALSE(static_cast<bool>(file)) << header;
    EXPECT_NE(toString(file.takeError()).find(text), std::string::npos)
        << header;
  }
  write("w.safetensors", std::string(8, '\xff'));
  auto file = SafetensorsFile::open(path("w.safetensors"));
  ASSERT_FALSE(static_cast<bool>(file));
  consumeError(file.takeError());
}

} // namespace
