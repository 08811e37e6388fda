//===- Weights.cpp - The initial values of an emitted program -------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The safetensors format: eight bytes with the length of a JSON header, the
// header, the data.
//
//===----------------------------------------------------------------------===//

#include "codegen/Program/Weights.h"
#include "partita/philox.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;

namespace partita::codegen {

namespace {

constexpr size_t kBufferBytes = size_t(1) << 20;

StringRef safetensorsType(Type type) {
  if (type.isF32())
    return "F32";
  if (type.isF64())
    return "F64";
  if (type.isF16())
    return "F16";
  if (type.isBF16())
    return "BF16";
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return "BOOL";
  case 8:
    return "I8";
  case 16:
    return "I16";
  case 32:
    return "I32";
  default:
    return "I64";
  }
}

int64_t bytesOf(RankedTensorType type) {
  return type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
}

std::string headerOf(ArrayRef<ProgramVariable> variables) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os);
  int64_t begin = 0;
  json.object([&] {
    for (const ProgramVariable &variable : variables) {
      if (variable.fill)
        continue;
      nn::VariableOp op = variable.op;
      RankedTensorType type = op.getTensorType();
      int64_t end = begin + bytesOf(type);
      json.attributeObject(llvm::json::fixUTF8(op.getSymName()), [&] {
        json.attribute("dtype", safetensorsType(type.getElementType()));
        json.attributeArray("shape", [&] {
          for (int64_t size : type.getShape())
            json.value(size);
        });
        json.attributeArray("data_offsets", [&] {
          json.value(begin);
          json.value(end);
        });
      });
      begin = end;
    }
  });
  json.flush();
  // The data begin at a multiple of eight.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

LogicalResult copyFile(nn::VariableOp op, nn::FileAttr file,
                       llvm::raw_ostream &os) {
  namespace fs = llvm::sys::fs;
  auto refuse = [&](const Twine &why) {
    return op.emitError() << "initial value of '" << op.getSymName() << "' in '"
                          << file.getPath() << "': " << why;
  };
  llvm::Expected<fs::file_t> handle = fs::openNativeFileForRead(file.getPath());
  if (!handle)
    return refuse(llvm::toString(handle.takeError()));
  std::vector<char> buffer(
      std::min<size_t>(kBufferBytes, static_cast<size_t>(file.getLength())));
  LogicalResult result = success();
  int64_t done = 0;
  while (done < file.getLength()) {
    size_t want = std::min<size_t>(
        buffer.size(), static_cast<size_t>(file.getLength() - done));
    llvm::Expected<size_t> got = fs::readNativeFileSlice(
        *handle, MutableArrayRef<char>(buffer.data(), want),
        static_cast<uint64_t>(file.getOffset() + done));
    if (!got) {
      result = refuse(llvm::toString(got.takeError()));
      break;
    }
    if (*got == 0) {
      result = refuse("the file ends " + Twine(file.getLength() - done) +
                      " bytes too early; has it changed since it was read?");
      break;
    }
    os.write(buffer.data(), *got);
    done += static_cast<int64_t>(*got);
  }
  (void)fs::closeFile(*handle);
  return result;
}

/// Element `index` of a random variable, for scale 1.
class RandomElements {
public:
  RandomElements(nn::RandomAttr attr)
      : seed(static_cast<uint64_t>(attr.getSeed())),
        stream(static_cast<uint32_t>(attr.getStream())),
        isNormal(attr.getRule() == "normal") {}

  double operator()(uint64_t index) {
    if (index / 4 != block || !filled) {
      block = index / 4;
      filled = true;
      words = philox(static_cast<uint32_t>(block),
                     static_cast<uint32_t>(block >> 32), 0, 0,
                     static_cast<uint32_t>(seed),
                     static_cast<uint32_t>(seed >> 32) ^ stream);
    }
    unsigned k = index % 4;
    if (!isNormal)
      return 2.0 * uniformOf(words.word[k]) - 1.0;
    unsigned pair = k & ~1u;
    double radius =
        std::sqrt(-2.0 * std::log(1.0 - double(uniformOf(words.word[pair]))));
    constexpr double kTwoPi = 6.283185307179586;
    double angle = kTwoPi * double(uniformOf(words.word[pair + 1]));
    return radius * (k == pair ? std::cos(angle) : std::sin(angle));
  }

private:
  uint64_t seed;
  uint32_t stream;
  bool isNormal;
  uint64_t block = 0;
  bool filled = false;
  Random4 words = {};
};

LogicalResult writeRandom(nn::VariableOp op, nn::RandomAttr attr,
                          llvm::raw_ostream &os) {
  Type type = op.getTensorType().getElementType();
  double scale = attr.getScale().getValueAsDouble();
  RandomElements elements(attr);
  const llvm::fltSemantics &semantics =
      cast<FloatType>(type).getFloatSemantics();
  unsigned bytes = type.getIntOrFloatBitWidth() / 8;
  int64_t count = op.getTensorType().getNumElements();
  for (int64_t i = 0; i < count; ++i) {
    double value = scale * elements(static_cast<uint64_t>(i));
    char raw[8];
    if (type.isF32()) {
      llvm::support::endian::write32le(
          raw, llvm::bit_cast<uint32_t>(static_cast<float>(value)));
    } else {
      APFloat number(value);
      bool lost;
      number.convert(semantics, APFloat::rmNearestTiesToEven, &lost);
      llvm::support::endian::write64le(raw,
                                       number.bitcastToAPInt().getZExtValue());
    }
    os.write(raw, bytes);
  }
  return success();
}

LogicalResult writeDense(nn::VariableOp op, DenseElementsAttr dense,
                         llvm::raw_ostream &os) {
  Type type = op.getTensorType().getElementType();
  unsigned bytes = (type.getIntOrFloatBitWidth() + 7) / 8;
  auto write = [&](const APInt &bits) {
    char raw[8];
    llvm::support::endian::write64le(raw, bits.getZExtValue());
    os.write(raw, bytes);
  };
  if (isa<FloatType>(type))
    for (const APFloat &value : dense.getValues<APFloat>())
      write(value.bitcastToAPInt());
  else
    for (const APInt &value : dense.getValues<APInt>())
      write(value);
  return success();
}

} // namespace

LogicalResult writeWeights(ArrayRef<ProgramVariable> variables,
                           llvm::raw_ostream &os) {
  std::string header = headerOf(variables);
  char length[8];
  llvm::support::endian::write64le(length, header.size());
  os.write(length, sizeof(length));
  os << header;
  for (const ProgramVariable &variable : variables) {
    if (variable.fill)
      continue;
    nn::VariableOp op = variable.op;
    Attribute initial = op.getInitial();
    LogicalResult result = failure();
    if (auto file = dyn_cast<nn::FileAttr>(initial))
      result = copyFile(op, file, os);
    else if (auto random = dyn_cast<nn::RandomAttr>(initial))
      result = writeRandom(op, random, os);
    else if (auto dense = dyn_cast<DenseElementsAttr>(initial))
      result = writeDense(op, dense, os);
    else
      op.emitError("initial value must be #nn.file, #nn.random or dense");
    if (failed(result))
      return failure();
  }
  return success();
}

} // namespace partita::codegen
