//===- ModelWriter.h - Writes a model of any size --------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Protobuf serialises whole messages in memory, up to 2 GB. The writer puts the
// message together by hand around the initializers' bytes, which go from one
// file mapping to the new file.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IMPORT_MODELWRITER_H
#define PARTITA_DIALECTS_NN_IMPORT_MODELWRITER_H

#include "onnx.pb.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace partita::nn::importer {

/// Files beyond this size cannot be parsed by protobuf.
constexpr uint64_t kMessageLimit = (uint64_t(1) << 31) - 1;

/// Write `model` to `path`. `payloads` has an entry per initializer of its
/// graph: the bytes of raw_data, or empty when the message holds the data
/// itself. Past `limit` bytes the payloads go to a side file beside `path`,
/// whose name is returned. Written beside and renamed.
llvm::Expected<std::string>
writeModel(const ::onnx::ModelProto &model,
           const std::vector<llvm::StringRef> &payloads, llvm::StringRef path,
           uint64_t limit = kMessageLimit);

} // namespace partita::nn::importer

#endif // PARTITA_DIALECTS_NN_IMPORT_MODELWRITER_H
