//===- Safetensors.h - Reading trained weights -----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The safetensors format: eight bytes of header length, a JSON header with a
// type, a shape and two offsets per tensor, then the tensors' bytes.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IMPORT_SAFETENSORS_H
#define PARTITA_DIALECTS_NN_IMPORT_SAFETENSORS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <memory>
#include <string>

namespace partita::nn::importer {

/// A tensor of a safetensors file. The bytes are mapped from the file.
struct StoredTensor {
  /// Type as the file names it: F32, F16, I64, ...
  std::string type;
  llvm::SmallVector<int64_t> shape;
  llvm::StringRef bytes;
};

class SafetensorsFile {
public:
  /// Map the file and check its header: every extent lies inside and has the
  /// size of its tensor.
  static llvm::Expected<std::unique_ptr<SafetensorsFile>>
  open(llvm::StringRef path);

  const std::map<std::string, StoredTensor> &getTensors() const {
    return tensors;
  }

private:
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::map<std::string, StoredTensor> tensors;
};

} // namespace partita::nn::importer

#endif // PARTITA_DIALECTS_NN_IMPORT_SAFETENSORS_H
