//===- WireFormat.h - Protobuf bytes without the weights -------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies the bytes of an ONNX model without its large tensor payloads, so that
// protobuf only ever sees the small rest: memory stays far below the model's
// size and protobuf's limit of 2 GB does not apply to it. The copy is made by a
// walker over the wire format that checks every length and every tag, so that
// damaged files are refused here, with the place of the fault.
//
// A payload is replaced by the tensor's `segment` field, which then holds where
// the payload begins and ends in the original bytes. Files with segments of
// their own are refused: no known exporter writes them, and they would point
// wherever the file's author likes.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IMPORT_WIREFORMAT_H
#define PARTITA_DIALECTS_NN_IMPORT_WIREFORMAT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace partita::nn::importer {

/// Payloads of this many bytes and more stay in the file.
constexpr size_t kPayloadLimit = 64;

/// Messages nested deeper than this are refused. Protobuf's own limit is 100.
constexpr unsigned kNestingLimit = 64;

/// Copy the serialised ModelProto `bytes`, leaving out raw_data and packed
/// float_data and double_data of kPayloadLimit bytes and more. The error says
/// what is wrong at which byte.
llvm::Expected<std::string> hollowModel(llvm::StringRef bytes);

} // namespace partita::nn::importer

#endif // PARTITA_DIALECTS_NN_IMPORT_WIREFORMAT_H
