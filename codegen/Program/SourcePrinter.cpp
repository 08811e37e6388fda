//===- SourcePrinter.cpp - The source file of an emitted program ----------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of the text: what the program is, what differs between ranks, the
// generated kernels, the steps in order of execution, the tables, main.
//
//===----------------------------------------------------------------------===//

#include "codegen/Program/SourcePrinter.h"
#include "codegen/Program/RankPrinter.h"
#include "codegen/Program/TablePrinter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace partita::codegen {

static void printHead(const Schedule &schedule, StringRef name,
                      const TargetPrinter &target, raw_ostream &os) {
  ModuleOp module = schedule.module;
  auto text = [&](StringRef attribute) -> std::string {
    auto value = module->getAttrOfType<StringAttr>(attribute);
    return value ? commentText(value.getValue()) : "";
  };
  printComment(os,
               target.fileName().str() + " - trains " + commentText(name) +
                   ", printed by partita",
               0);
  os << "//\n// One text for all ranks: a rank finds its own sizes by its "
        "class.\n//\n";
  std::string grid;
  for (auto [axis, size] :
       llvm::zip_equal(schedule.grid.getAxes(), schedule.grid.getSizes()))
    grid += (grid.empty() ? "" : ", ") + commentText(axis.getValue()) + " = " +
            std::to_string(size);
  os << "//   grid        " << grid << "\n";
  if (auto batch = module->getAttrOfType<IntegerAttr>("partita.batch"))
    os << "//   batch       " << batch.getInt() << " samples per step\n";
  if (std::string loss = text("partita.loss"); !loss.empty())
    os << "//   loss        " << loss << "\n";
  if (std::string optimizer = text("partita.optimizer"); !optimizer.empty())
    os << "//   optimizer   " << optimizer << "\n";
  if (std::string semantics = text("partita.semantics"); !semantics.empty())
    os << "//   semantics   " << semantics << "\n";
  for (auto [c, op] : llvm::enumerate(schedule.classes)) {
    spmd::ClassOp each = op;
    os << "//   class " << c << "     " << describeRanks(each.getRanks())
       << (each->hasAttr(spmd::kServersAttr) ? ", servers" : "")
       << ": an arena of " << *each.getArenaBytes() << " bytes\n";
  }
  os << '\n';
}

static void printRule(raw_ostream &os, StringRef title) {
  std::string line = ("// ==== " + title + " ").str();
  os << line << std::string(80 - line.size(), '=') << "\n\n";
}

static void printKernelComment(raw_ostream &os, const GeneratedKernel &kernel) {
  std::string text;
  if (!kernel.purpose.empty()) {
    text = kernel.purpose;
  } else {
    // The formula of one element.
    std::vector<std::string> names;
    for (const KernelOperand &operand : kernel.operands)
      if (operand.isRead)
        names.push_back(operand.name);
    ScalarCode code = kernel.code(names);
    if (code.statements.empty() && code.results.size() == 1)
      text = "y = " + code.results.front();
    else
      text = "one loop for several operations";
  }
  if (!kernel.usedBy.empty() && kernel.purpose.empty()) {
    text += "; for";
    for (auto [i, node] : llvm::enumerate(kernel.usedBy)) {
      if (i == 4) {
        text += " and " + std::to_string(kernel.usedBy.size() - i) + " more";
        break;
      }
      text += (i ? ", " : " ") + commentText(node, 60);
    }
  }
  printComment(os, text, 0, "/// ");
}

LogicalResult printSource(const Schedule &schedule, StringRef name,
                          const TargetPrinter &target, raw_ostream &os) {
  SharedText shared(schedule.grid);
  // Types begin with a capital letter, everything else with a small one. The
  // suffix keeps the model's name apart from the runtime's types.
  std::string className = typeCase(name, "Model") + "Training";
  bool many = schedule.groups.size() > 1;
  std::vector<std::unique_ptr<RankPrinter>> printers;
  for (auto [g, group] : llvm::enumerate(schedule.groups)) {
    std::string number = many ? std::to_string(g) : "";
    printers.push_back(std::make_unique<RankPrinter>(schedule, group, shared,
                                                     className, number));
    if (failed(printers.back()->chooseGenerated()))
      return failure();
  }
  for (auto &printer : printers)
    if (failed(printer->prepare()))
      return failure();
  std::string ranks, tables;
  llvm::raw_string_ostream rankStream(ranks), tableStream(tables);
  for (auto &printer : printers) {
    printer->print(rankStream);
    rankStream << '\n';
  }
  TablePrinter table(schedule, name, target.target(), shared.splits);
  if (failed(table.print(tableStream)))
    return failure();

  printHead(schedule, name, target, os);
  os << "#include \"partita/kernels.h\"\n#include \"partita/program.h\"\n";
  if (llvm::any_of(printers, [](const auto &each) { return each->hasMoves(); }))
    os << "#include \"partita/redistribution.h\"\n";
  os << '\n';
  target.printIncludes(os);
  os << "#include <cstdint>\n#include <initializer_list>\n#include <memory>\n"
        "#include <optional>\n#include <utility>\n#include <vector>\n\n";
  target.printGlobals(os, shared.generated);
  os << "using namespace partita;\n\nnamespace {\n\n";

  std::string differences;
  llvm::raw_string_ostream differenceStream(differences);
  for (auto &printer : printers)
    printer->printNumbers(differenceStream);
  if (many) {
    std::vector<std::string> places(schedule.classes.size());
    for (const Group &group : schedule.groups)
      for (auto [place, c] : llvm::enumerate(group.classes))
        places[c] = std::to_string(place);
    differenceStream << "/// The row of each rank class in the table of its "
                        "kind.\n[[maybe_unused]] ";
    printList(differenceStream, "constexpr int kPlaceInGroup[] = {", places,
              "};", 4);
    differenceStream << '\n';
  }
  if (!shared.splits.empty()) {
    shared.splits.print(differenceStream);
    differenceStream << '\n';
  }
  if (!differences.empty()) {
    printRule(os, "What differs between ranks");
    os << differences;
  }

  if (!shared.generated.all().empty()) {
    printRule(os, "Generated kernels");
    target.printShared(os, shared.generated);
    for (ScalarHelper helper : shared.generated.used().helpers)
      os << textOf(helper, target.helperQualifier()) << '\n';
    for (const auto &kernel : shared.generated.all()) {
      printKernelComment(os, *kernel);
      target.printKernel(os, *kernel);
      os << '\n';
    }
  }

  printRule(os, "The program of a rank");
  os << ranks;
  printRule(os, "Tables for the runtime");
  os << tables << "\n} // namespace\n\nint main(int argc, char **argv) {\n"
     << "  Program p;\n  describe(p);\n";
  if (!many) {
    os << "  p.make = [](Rank &rank) -> std::unique_ptr<RankProgram> {\n"
       << "    return std::make_unique<" << className << ">(rank);\n  };\n";
  } else {
    os << "  p.make = [](Rank &rank) -> std::unique_ptr<RankProgram> {\n"
       << "    switch (rank.rankClass) {\n";
    for (auto [g, group] : llvm::enumerate(schedule.groups)) {
      for (unsigned c : group.classes)
        os << "    case " << c << ":\n";
      os << "      return std::make_unique<" << className << g << ">(rank);\n";
    }
    os << "    }\n    return nullptr;\n  };\n";
  }
  os << "  return runProgram(argc, argv, p);\n}\n";
  return success();
}

} // namespace partita::codegen
