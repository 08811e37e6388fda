//===- WireFormatTest.cpp - Tests of the hollow copy -----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/WireFormat.h"

#include "onnx.pb.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace onnx;
using namespace partita::nn::importer;

namespace {

/// A model with one float initializer of `count` elements in raw_data.
ModelProto modelWithWeight(int count) {
  ModelProto model;
  model.set_ir_version(8);
  TensorProto &weight = *model.mutable_graph()->add_initializer();
  weight.set_name("w");
  weight.set_data_type(TensorProto::FLOAT);
  weight.add_dims(count);
  weight.set_raw_data(std::string(count * sizeof(float), 'v'));
  return model;
}

std::string faultOf(StringRef bytes) {
  Expected<std::string> hollow = hollowModel(bytes);
  return hollow ? "" : toString(hollow.takeError());
}

TEST(WireFormat, LeavesOutLargePayloads) {
  ModelProto model = modelWithWeight(1000);
  std::string bytes = model.SerializeAsString();
  Expected<std::string> hollow = hollowModel(bytes);
  ASSERT_TRUE(static_cast<bool>(hollow));
  EXPECT_LT(hollow->size(), 100u);
  ModelProto read;
  ASSERT_TRUE(read.ParseFromString(*hollow));
  const TensorProto &weight = read.graph().initializer(0);
  EXPECT_FALSE(weight.has_raw_data());
  ASSERT_TRUE(weight.has_segment());
  // The segment points at the payload in the original bytes.
  EXPECT_EQ(bytes.substr(weight.segment().begin(), 4000),
            model.graph().initializer(0).raw_data());
  EXPECT_EQ(weight.segment().end() - weight.segment().begin(), 4000);
}

TEST(WireFormat, KeepsSmallPayloads) {
  std::string bytes = modelWithWeight(4).SerializeAsString();
  Expected<std::string> hollow = hollowModel(bytes);
  ASSERT_TRUE(static_cast<bool>(hollow));
  EXPECT_EQ(*hollow, bytes);
}

TEST(WireFormat, LeavesOutPackedFloats) {
  ModelProto model = modelWithWeight(4);
  TensorProto &weight = *model.mutable_graph()->mutable_initializer(0);
  weight.clear_raw_data();
  for (int i = 0; i < 1000; ++i)
    weight.add_float_data(static_cast<float>(i));
  Expected<std::string> hollow = hollowModel(model.SerializeAsString());
  ASSERT_TRUE(static_cast<bool>(hollow));
  EXPECT_LT(hollow->size(), 100u);
}

TEST(WireFormat, RefusesPackedFloatsOfAnotherType) {
  ModelProto model = modelWithWeight(4);
  TensorProto &weight = *model.mutable_graph()->mutable_initializer(0);
  weight.set_data_type(TensorProto::DOUBLE);
  weight.clear_raw_data();
  for (int i = 0; i < 1000; ++i)
    weight.add_float_data(static_cast<float>(i));
  EXPECT_NE(faultOf(model.SerializeAsString()).find("data type 11"),
            std::string::npos);
}

TEST(WireFormat, RefusesTruncation) {
  std::string bytes = modelWithWeight(1000).SerializeAsString();
  // A cut between two fields of the model leaves a valid, shorter message.
  for (size_t size = 3; size < bytes.size(); size += 7)
    EXPECT_NE(faultOf(StringRef(bytes).take_front(size)), "") << size;
}

TEST(WireFormat, RefusesPayloadsInPieces) {
  ModelProto model = modelWithWeight(1000);
  std::string twice = model.graph().initializer(0).SerializeAsString();
  TensorProto more;
  more.set_raw_data(std::string(100, 'x'));
  twice += more.SerializeAsString();
  // graph { initializer { ... } }
  std::string graph = "\x2a";
  for (uint64_t n = twice.size();; n >>= 7) {
    graph += static_cast<char>(n >= 0x80 ? (n | 0x80) : n);
    if (n < 0x80)
      break;
  }
  graph += twice;
  std::string bytes = "\x3a";
  for (uint64_t n = graph.size();; n >>= 7) {
    bytes += static_cast<char>(n >= 0x80 ? (n | 0x80) : n);
    if (n < 0x80)
      break;
  }
  bytes += graph;
  EXPECT_NE(faultOf(bytes).find("several pieces"), std::string::npos);
}

TEST(WireFormat, RefusesDeepNesting) {
  ModelProto model;
  GraphProto *graph = model.mutable_graph();
  for (int i = 0; i < 40; ++i) {
    NodeProto *node = graph->add_node();
    graph = node->add_attribute()->mutable_g();
  }
  EXPECT_NE(faultOf(model.SerializeAsString()).find("nested deeper"),
            std::string::npos);
}

TEST(WireFormat, RefusesSegmentsOfTheFile) {
  ModelProto model = modelWithWeight(4);
  model.mutable_graph()->mutable_initializer(0)->mutable_segment()->set_begin(
      0);
  EXPECT_NE(faultOf(model.SerializeAsString()).find("segments"),
            std::string::npos);
}

} // namespace
