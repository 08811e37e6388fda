//===- ExternalData.h - Tensors in side files ------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ONNX lets a tensor's data live in a file beside the model. The name of that
// file comes from an untrusted model, so it is confined to the model's folder.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IMPORT_EXTERNALDATA_H
#define PARTITA_DIALECTS_NN_IMPORT_EXTERNALDATA_H

#include "onnx.pb.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace partita::nn::importer {

struct Extent;

/// The bytes that `entries` (TensorProto.external_data) name, for a tensor of
/// `byteSize` bytes in the model at `modelPath`. Refused are absolute
/// locations, parts `..`, symbolic links below the model's folder, anything
/// that is no regular file, unknown keys, and extents that leave the file or
/// differ from the tensor's size.
llvm::Expected<Extent> locateExternalData(
    llvm::StringRef modelPath,
    const ::google::protobuf::RepeatedPtrField<::onnx::StringStringEntryProto>
        &entries,
    int64_t byteSize);

} // namespace partita::nn::importer

#endif // PARTITA_DIALECTS_NN_IMPORT_EXTERNALDATA_H
