//===- CudaPrinter.cpp - Generated kernels for GPUs -----------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is three functions: the value of one element, the loop of a thread
// over its elements, and the launch. Threads take four neighbouring elements at
// once, as one 16-byte access; every buffer begins at a multiple of 64 bytes.
//
//===----------------------------------------------------------------------===//

#include "codegen/Cuda/CudaPrinter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace partita::codegen {

namespace {

/// Indices count in 32 bits where all tensors are small enough: divisions are
/// cheaper and fewer registers are used.
std::string indexType(const GeneratedKernel &kernel) {
  return kernel.isNarrow ? "std::uint32_t" : "std::int64_t";
}

std::string sizeName(const GeneratedKernel &kernel, unsigned loop) {
  return kernel.loops == 1 ? "n" : "n" + std::to_string(loop);
}

std::string counterName(unsigned loop) { return "i" + std::to_string(loop); }

/// Parameters of the device loop: sizes, scalars, pointers.
std::vector<std::string> parameters(const GeneratedKernel &kernel,
                                    StringRef sizeType) {
  std::vector<std::string> list;
  for (unsigned loop = 0; loop < kernel.loops; ++loop)
    list.push_back((sizeType + " " + sizeName(kernel, loop)).str());
  for (const KernelScalar &scalar : kernel.scalars)
    list.push_back(scalar.type + " " + scalar.name);
  for (const KernelOperand &operand : kernel.operands)
    list.push_back((operand.isWritten ? "" : "const ") + operand.type + " *" +
                   operand.name);
  return list;
}

bool returnsValue(const GeneratedKernel &kernel) {
  return count_if(kernel.operands, [](const KernelOperand &operand) {
           return operand.isWritten;
         }) == 1;
}

/// The call of the element function with these texts for values read and
/// places written.
std::vector<std::string>
elementArguments(const GeneratedKernel &kernel,
                 function_ref<std::string(const KernelOperand &)> read,
                 function_ref<std::string(const KernelOperand &)> write) {
  std::vector<std::string> args;
  for (const KernelScalar &scalar : kernel.scalars)
    args.push_back(scalar.name);
  for (const KernelOperand &operand : kernel.operands)
    if (operand.isRead)
      args.push_back(read(operand));
  if (!returnsValue(kernel))
    for (const KernelOperand &operand : kernel.operands)
      if (operand.isWritten)
        args.push_back(write(operand));
  return args;
}

} // namespace

void CudaPrinter::printIncludes(raw_ostream &os) const {
  os << "#include \"partita/cuda.h\"\n\n#include <cmath>\n";
}

void CudaPrinter::printShared(raw_ostream &os,
                              const GeneratedKernels &kernels) const {
  if (kernels.all().empty())
    return;
  os << R"(/// Four neighbouring elements, loaded and stored at once.
template <typename T> struct alignas(4 * sizeof(T)) Four {
  T at[4];
};
template <typename T> __device__ inline Four<T> load(const T *from) {
  return *reinterpret_cast<const Four<T> *>(from);
}
template <typename T> __device__ inline void store(T *to, const Four<T> &x) {
  *reinterpret_cast<Four<T> *>(to) = x;
}

)";
}

void CudaPrinter::printElement(raw_ostream &os,
                               const GeneratedKernel &kernel) const {
  std::vector<std::string> list, names;
  for (const KernelScalar &scalar : kernel.scalars)
    list.push_back(scalar.type + " " + scalar.name);
  std::string result = "void";
  std::vector<std::string> targets;
  for (const KernelOperand &operand : kernel.operands)
    if (operand.isRead) {
      list.push_back(operand.type + " " + operand.name);
      names.push_back(operand.name);
    }
  for (const KernelOperand &operand : kernel.operands) {
    if (!operand.isWritten)
      continue;
    if (returnsValue(kernel)) {
      result = operand.type;
      continue;
    }
    targets.push_back(operand.name + (operand.isRead ? "Next" : ""));
    list.push_back(operand.type + " &" + targets.back());
  }
  std::string head =
      "__device__ inline " + result + " " + kernel.name + "Element(";
  printList(os, head, list, ") {", 4);
  ScalarCode code = kernel.code(names);
  for (const std::string &statement : code.statements)
    os << "  " << statement << '\n';
  if (returnsValue(kernel))
    os << "  return " << code.results.front() << ";\n";
  else
    for (auto [target, value] : zip_equal(targets, code.results))
      os << "  " << target << " = " << value << ";\n";
  os << "}\n\n";
}

void CudaPrinter::printFlat(raw_ostream &os,
                            const GeneratedKernel &kernel) const {
  std::string index = indexType(kernel);
  auto moves = [](const KernelOperand &operand) {
    return operand.movesInAll();
  };
  printList(os, "__global__ void " + kernel.name + "Kernel(",
            parameters(kernel, index), ") {", 4);
  for (const KernelOperand &operand : kernel.operands)
    if (operand.isRead && !moves(operand))
      os << "  const " << operand.type << ' ' << operand.name
         << "0 = " << operand.name << "[0];\n";
  auto value = [&](const KernelOperand &operand, StringRef suffix) {
    return moves(operand) ? operand.name + suffix.str() : operand.name + "0";
  };
  os << "  const " << index << " fours = n / 4;\n"
     << "  for (" << index << " i = cuda::firstIndex(); i < fours;\n"
     << "       i += cuda::indexStride()) {\n";
  std::vector<std::string> written;
  for (const KernelOperand &operand : kernel.operands) {
    if (operand.isRead && moves(operand))
      os << "    const Four<" << operand.type << "> " << operand.name
         << "4 = load(" << operand.name << " + 4 * i);\n";
    if (operand.isWritten)
      os << "    Four<" << operand.type << "> " << operand.name << "Next4;\n";
  }
  os << "#pragma unroll\n    for (int k = 0; k < 4; ++k)\n";
  std::string target;
  for (const KernelOperand &operand : kernel.operands)
    if (operand.isWritten && returnsValue(kernel))
      target = operand.name;
  printList(os,
            "      " + (target.empty() ? "" : target + "Next4.at[k] = ") +
                kernel.name + "Element(",
            elementArguments(
                kernel,
                [&](const KernelOperand &o) { return value(o, "4.at[k]"); },
                [](const KernelOperand &o) { return o.name + "Next4.at[k]"; }),
            ");", 10);
  for (const KernelOperand &operand : kernel.operands)
    if (operand.isWritten)
      os << "    store(" << operand.name << " + 4 * i, " << operand.name
         << "Next4);\n";
  os << "  }\n  // The last one to three elements.\n"
     << "  for (" << index << " i = 4 * fours + cuda::firstIndex(); i < n;\n"
     << "       i += cuda::indexStride())\n";
  printList(os,
            "    " + (target.empty() ? "" : target + "[i] = ") + kernel.name +
                "Element(",
            elementArguments(
                kernel, [&](const KernelOperand &o) { return value(o, "[i]"); },
                [](const KernelOperand &o) { return o.name + "[i]"; }),
            ");", 8);
  os << "}\n\n";
}

void CudaPrinter::printNest(raw_ostream &os,
                            const GeneratedKernel &kernel) const {
  std::string index = indexType(kernel);
  unsigned inner = kernel.loops - 1;
  bool four = kernel.isInFours;
  printList(os, "__global__ void " + kernel.name + "Kernel(",
            parameters(kernel, index), ") {", 4);
  std::string innerSize = sizeName(kernel, inner);
  if (four) {
    os << "  const " << index << " fours = " << innerSize << " / 4;\n";
    innerSize = "fours";
  }
  std::string total;
  for (unsigned loop = 0; loop < inner; ++loop)
    total += sizeName(kernel, loop) + " * ";
  os << "  const " << index << " total = " << total << innerSize << ";\n"
     << "  for (" << index << " i = cuda::firstIndex(); i < total;\n"
     << "       i += cuda::indexStride()) {\n";
  // The counters, from the innermost.
  auto isUsed = [&](unsigned loop) {
    return any_of(kernel.operands, [&](const KernelOperand &operand) {
      return operand.moves[loop] && !operand.movesInAll();
    });
  };
  std::string rest = "i";
  for (unsigned loop = kernel.loops; loop-- > 0;) {
    std::string size = loop == inner ? innerSize : sizeName(kernel, loop);
    if (isUsed(loop))
      os << "    const " << index << ' ' << counterName(loop) << " = "
         << (loop == 0 ? rest : rest + " % " + size) << ";\n";
    rest += " / " + size;
  }
  auto place = [&](const KernelOperand &operand) -> std::string {
    if (operand.movesInAll())
      return "i";
    std::string text;
    for (unsigned loop = 0; loop < kernel.loops; ++loop) {
      if (!operand.moves[loop])
        continue;
      std::string size = loop == inner ? innerSize : sizeName(kernel, loop);
      if (!text.empty())
        text = (StringRef(text).contains('+') ? "(" + text + ")" : text) +
               " * " + size + " + ";
      text += counterName(loop);
    }
    return text.empty() ? "0" : text;
  };
  // Values and places of the four elements, or of the one.
  for (const KernelOperand &operand : kernel.operands) {
    if (operand.isRead && four && operand.movesInnermost()) {
      std::string at = place(operand);
      os << "    const Four<" << operand.type << "> " << operand.name
         << "4 = load(" << operand.name << " + 4 * "
         << (StringRef(at).contains(' ') ? "(" + at + ")" : at) << ");\n";
    } else if (operand.isRead) {
      os << "    const " << operand.type << ' ' << operand.name
         << "0 = " << operand.name << "[" << place(operand) << "];\n";
    }
    if (operand.isWritten && four)
      os << "    Four<" << operand.type << "> " << operand.name << "Next4;\n";
  }
  auto read = [&](const KernelOperand &operand) {
    return four && operand.movesInnermost() ? operand.name + "4.at[k]"
                                            : operand.name + "0";
  };
  auto write = [&](const KernelOperand &operand) {
    return four ? operand.name + "Next4.at[k]" : operand.name + "[i]";
  };
  std::string target;
  for (const KernelOperand &operand : kernel.operands)
    if (operand.isWritten && returnsValue(kernel))
      target = write(operand) + " = ";
  if (four)
    os << "#pragma unroll\n    for (int k = 0; k < 4; ++k)\n  ";
  printList(os, "    " + target + kernel.name + "Element(",
            elementArguments(kernel, read, write), ");", four ? 10 : 8);
  if (four)
    for (const KernelOperand &operand : kernel.operands)
      if (operand.isWritten)
        os << "    store(" << operand.name << " + 4 * i, " << operand.name
           << "Next4);\n";
  os << "  }\n}\n\n";
}

void CudaPrinter::printHost(raw_ostream &os,
                            const GeneratedKernel &kernel) const {
  std::vector<std::string> list = {"Stream &stream"};
  append_range(list, parameters(kernel, "std::int64_t"));
  std::string head = "void " + kernel.name + "(";
  printList(os, head, list, ") {", head.size());
  std::string threads;
  for (unsigned loop = 0; loop < kernel.loops; ++loop)
    threads += (loop ? " * " : "") + sizeName(kernel, loop);
  // A flat loop has a thread for what its fours leave over.
  if (kernel.loops == 1)
    threads = "(n + 3) / 4";
  else if (kernel.isInFours)
    threads += " / 4";
  std::vector<std::string> args = {kernel.name + "Kernel",
                                   "cuda::blocksFor(" + threads + ")",
                                   "cuda::kThreads", "0", "stream"};
  for (unsigned loop = 0; loop < kernel.loops; ++loop) {
    std::string size = sizeName(kernel, loop);
    args.push_back(kernel.isNarrow ? "static_cast<std::uint32_t>(" + size + ")"
                                   : size);
  }
  for (const KernelScalar &scalar : kernel.scalars)
    args.push_back(scalar.name);
  for (const KernelOperand &operand : kernel.operands)
    args.push_back(operand.name);
  os << "  stream.run(\"" << kernel.name << "\", [=, &stream] {\n";
  printList(os, "    cuda::launch(", args, ");", 17);
  os << "  });\n}\n";
}

void CudaPrinter::printKernel(raw_ostream &os,
                              const GeneratedKernel &kernel) const {
  printElement(os, kernel);
  if (kernel.loops == 1)
    printFlat(os, kernel);
  else
    printNest(os, kernel);
  printHost(os, kernel);
}

} // namespace partita::codegen
