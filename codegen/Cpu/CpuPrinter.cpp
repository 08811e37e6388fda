//===- CpuPrinter.cpp - Generated kernels as loops for cpus ---------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The innermost loop is a vector loop; the loops around it, when there is
// enough work, are shared by the threads of the rank. An operand that stands
// still in the innermost loop is read before it.
//
//===----------------------------------------------------------------------===//

#include "codegen/Cpu/CpuPrinter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace partita::codegen {

namespace {

/// The names of a nest's counters and sizes: i and n, or i0 and n0, ...
struct LoopNames {
  unsigned loops;

  std::string counter(unsigned loop) const {
    return loops == 1 ? "i" : "i" + std::to_string(loop);
  }
  std::string size(unsigned loop) const {
    return loops == 1 ? "n" : "n" + std::to_string(loop);
  }

  /// The element an operand is at, by the loops before `end` that move it.
  std::string index(const KernelOperand &operand, unsigned end) const {
    std::string text;
    for (unsigned loop = 0; loop < end; ++loop) {
      if (!operand.moves[loop])
        continue;
      if (!text.empty())
        text = (StringRef(text).contains('+') ? "(" + text + ")" : text) +
               " * " + size(loop) + " + ";
      text += counter(loop);
    }
    return text.empty() ? "0" : text;
  }
};

} // namespace

void CpuPrinter::printIncludes(raw_ostream &os) const {
  os << "#include <cmath>\n";
}

void CpuPrinter::printGlobals(raw_ostream &os,
                              const GeneratedKernels &kernels) const {
  // What libmvec has vector forms of, by the C library's version.
  constexpr StringLiteral old[] = {"cos", "exp", "log", "pow", "sin"};
  constexpr StringLiteral recent[] = {
      "acos",  "acosh", "asin", "asinh", "atan", "atan2",
      "atanh", "cbrt",  "cosh", "erf",   "exp2", "expm1",
      "log10", "log1p", "log2", "sinh",  "tan",  "tanh"};
  std::set<std::string> functions = kernels.used().floatFunctions;
  auto declare = [&](ArrayRef<StringLiteral> names, StringRef version) {
    std::string text;
    for (StringRef name : names)
      if (functions.count(name.str())) {
        bool isBinary = name == "pow" || name == "atan2";
        text += ("#pragma omp declare simd notinbranch\nfloat " + name +
                 (isBinary ? "f(float, float) noexcept;\n"
                           : "f(float) noexcept;\n"))
                    .str();
      }
    if (text.empty())
      return;
    os << "// The C library can compute these for a whole vector, to four "
          "units "
          "in the\n// last place.\n"
       << "#if defined(__x86_64__) && defined(__GLIBC__) && "
          "!defined(__clang__)\n"
       << "#if __GLIBC_PREREQ(" << version << ")\nextern \"C\" {\n"
       << text << "}\n#endif\n#endif\n\n";
  };
  declare(old, "2, 22");
  declare(recent, "2, 35");
}

void CpuPrinter::printShared(raw_ostream &os,
                             const GeneratedKernels &kernels) const {
  if (kernels.all().empty())
    return;
  os << "/// Loops over fewer elements are not worth waking other threads.\n"
        "constexpr std::int64_t kWorthThreads = 32768;\n\n";
}

void CpuPrinter::printKernel(raw_ostream &os,
                             const GeneratedKernel &kernel) const {
  LoopNames loops{kernel.loops};
  unsigned inner = kernel.loops - 1;

  // The function's head.
  std::vector<std::string> parameters = {"Stream &stream"};
  std::string total;
  for (unsigned loop = 0; loop < kernel.loops; ++loop) {
    parameters.push_back("std::int64_t " + loops.size(loop));
    total += (loop ? " * " : "") + loops.size(loop);
  }
  for (const KernelScalar &scalar : kernel.scalars)
    parameters.push_back(scalar.type + " " + scalar.name);
  unsigned outputs = 0;
  for (const KernelOperand &operand : kernel.operands) {
    parameters.push_back((operand.isWritten ? "" : "const ") + operand.type +
                         " *" + operand.name);
    outputs += operand.isWritten;
  }
  std::string head = "void " + kernel.name + "(";
  printList(os, head, parameters, ") {", head.size());
  os << "  stream.run(\"" << kernel.name << "\", [=] {\n";

  // Values that stand still in the innermost loop, or that are read more than
  // once or before another operand is written, get names.
  std::vector<std::string> values;
  std::vector<unsigned> reads =
      kernel.code(std::vector<std::string>(kernel.numReads(), "x")).reads;
  std::vector<std::string> before, inside;
  auto place = [&](const KernelOperand &operand) {
    std::string base =
        operand.movesInAll() && inner > 0 ? "row" : loops.index(operand, inner);
    if (!operand.movesInnermost())
      return base;
    if (base == "0")
      return loops.counter(inner);
    if (base != "row")
      base = (StringRef(base).contains('+') ? "(" + base + ")" : base) + " * " +
             loops.size(inner);
    return base + " + " + loops.counter(inner);
  };
  for (const KernelOperand &operand : kernel.operands) {
    if (!operand.isRead)
      continue;
    std::string element = operand.name + "[" + place(operand) + "]";
    bool still = !operand.movesInnermost();
    if (!still && outputs == 1 && reads[values.size()] <= 1) {
      values.push_back(element);
      continue;
    }
    std::string name = operand.name + "0";
    (still ? before : inside)
        .push_back("const " + operand.type + " " + name + " = " + element +
                   ";");
    values.push_back(name);
  }
  ScalarCode code = kernel.code(values);

  // The loops.
  std::string large = "if (" + total + " >= kWorthThreads)";
  unsigned depth = 4;
  auto line = [&](const std::string &text) {
    os.indent(depth) << text << '\n';
  };
  auto loop = [&](unsigned l) {
    line("for (std::int64_t " + loops.counter(l) + " = 0; " + loops.counter(l) +
         " < " + loops.size(l) + "; ++" + loops.counter(l) + ") {");
    depth += 2;
  };
  if (inner == 0) {
    for (const std::string &statement : before)
      line(statement);
    os << "#pragma omp parallel for simd " << large << '\n';
  } else {
    os << "#pragma omp parallel for ";
    if (inner > 1)
      os << "collapse(" << inner << ") ";
    os << large << '\n';
    for (unsigned l = 0; l < inner; ++l)
      loop(l);
    KernelOperand full;
    full.moves.assign(kernel.loops, true);
    std::string row = loops.index(full, inner);
    line("const std::int64_t row = " + (inner > 1 ? "(" + row + ")" : row) +
         " * " + loops.size(inner) + ";");
    for (const std::string &statement : before)
      line(statement);
    os << "#pragma omp simd\n";
  }
  loop(inner);
  for (const std::string &statement : inside)
    line(statement);
  for (const std::string &statement : code.statements)
    printList(os, std::string(depth, ' '), {statement}, "", depth + 4);
  size_t result = 0;
  for (const KernelOperand &operand : kernel.operands)
    if (operand.isWritten) {
      std::string target = operand.name + "[" + place(operand) + "] =";
      std::string value = code.results[result++] + ";";
      if (depth + target.size() + 1 + value.size() > 80) {
        line(target);
        os.indent(4);
        line(value);
      } else {
        line(target + " " + value);
      }
    }
  while (depth > 4) {
    depth -= 2;
    line("}");
  }
  os << "  });\n}\n";
}

} // namespace partita::codegen
