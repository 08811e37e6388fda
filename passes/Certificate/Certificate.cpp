//===- Certificate.cpp - What a scheduled program will do -----------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the certificate. Grid, parameters and tables stand once for all
// classes; the actions of a phase stand one a line.
//
//===----------------------------------------------------------------------===//

#include "passes/Certificate/Certificate.h"
#include "dialects/Dist/Interfaces/Layouts.h"
#include "passes/Certificate/PhaseText.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace partita {

using namespace certificate;

namespace {

class CertificateText {
public:
  explicit CertificateText(ModuleOp module)
      : module(module),
        grid(module->getAttrOfType<dist::GridAttr>(dist::kGridAttr)),
        tables(grid), os(text) {}

  FailureOr<std::string> print() {
    if (!grid) {
      module.emitError("a certificate needs a scheduled module, which has a "
                       "dist.grid");
      return failure();
    }
    for (auto function : module.getOps<func::FuncOp>())
      if (auto symbol =
              function->getAttrOfType<FlatSymbolRefAttr>(spmd::kClassAttr))
        functions[symbol.getValue()].push_back(function);
    for (auto classOp : module.getOps<spmd::ClassOp>()) {
      if (!classOp.getArenaBytes() || classOp.getRanks().empty()) {
        classOp.emitError("a certificate needs classes with ranks and an "
                          "arena; run the schedule phase first");
        return failure();
      }
      classes.push_back(classOp);
    }
    collectParameters();
    // The tables stand before the classes that use them.
    std::string classText;
    llvm::raw_string_ostream classStream(classText);
    for (auto [i, classOp] : llvm::enumerate(classes)) {
      classStream << (i ? ",\n" : "\n");
      printClass(classOp, classStream);
    }
    printHeader();
    printParameters();
    os << "\"tables\": [";
    for (auto [i, table] : llvm::enumerate(tables.getTexts()))
      os << (i ? ",\n" : "\n") << table;
    os << "],\n\"classes\": [" << classText << "]\n}\n";
    return std::move(text);
  }

private:
  bool isServers(spmd::ClassOp classOp) const {
    return classOp->hasAttr(spmd::kServersAttr);
  }

  void printHeader() {
    auto nameOf = [&](StringRef attribute) {
      auto value = module->getAttrOfType<StringAttr>(attribute);
      return quoted(value ? value.getValue() : "");
    };
    auto batch = module->getAttrOfType<IntegerAttr>("partita.batch");
    size_t servers = 0;
    for (spmd::ClassOp classOp : classes)
      servers += isServers(classOp) ? classOp.getRanks().size() : 0;
    os << "{\n\"format\": \"partita-certificate\",\n\"version\": 1,\n"
       << "\"program\": " << quoted(module.getName().value_or("model"))
       << ",\n\"model\": " << nameOf("nn.model")
       << ",\n\"loss\": " << nameOf("partita.loss")
       << ",\n\"optimizer\": " << nameOf("partita.optimizer")
       << ",\n\"semantics\": " << nameOf("partita.semantics")
       << ",\n\"batch\": " << (batch ? batch.getInt() : 0) << ",\n\"grid\": [";
    for (auto [i, axis] : llvm::enumerate(grid.getAxes()))
      os << (i ? ", [" : "[") << quoted(axis.getValue()) << ", "
         << grid.getSizes()[i] << "]";
    os << "],\n\"servers\": " << servers << ",\n";
  }

  /// Trainable parameters: those that some class has a gradient of.
  void collectParameters() {
    llvm::StringSet<> withGradient;
    for (auto &[name, list] : functions)
      for (func::FuncOp function : list)
        for (auto buffer : function.getOps<spmd::BufferOp>())
          if (buffer.getPurpose() == spmd::Purpose::gradient)
            withGradient.insert(buffer.getName());
    for (auto variable : module.getOps<nn::VariableOp>())
      if (variable.getRole() == nn::Role::parameter &&
          withGradient.contains(variable.getSymName()))
        parameters.push_back(variable);
    for (auto variable : module.getOps<nn::VariableOp>())
      if (variable.getRole() == nn::Role::optimizer)
        for (nn::VariableOp parameter : parameters)
          if (variable.getSymName().starts_with(
                  (parameter.getSymName() + ".").str()) &&
              variable.getType() == parameter.getType())
            states[parameter.getSymName()].push_back(variable.getSymName());
  }

  void printParameters() {
    os << "\"parameters\": [";
    for (auto [i, parameter] : llvm::enumerate(parameters)) {
      RankedTensorType type = parameter.getTensorType();
      os << (i ? ",\n" : "\n")
         << " {\"name\":" << quoted(parameter.getSymName())
         << ",\"type\":" << typeText(type.getElementType()) << ",\"shape\":[";
      llvm::interleave(type.getShape(), os, ",");
      os << "],\"partial\":";
      printPartial(parameter);
      os << ",\"cut\":[";
      printCut(parameter, type);
      os << "]}";
    }
    os << "],\n";
  }

  /// The axes that the plan says, and those over which parts of the gradient
  /// are partial before they are added, as those of tied weights are.
  void printPartial(nn::VariableOp parameter) {
    auto sync = parameter->getAttrOfType<dist::SyncAttr>(dist::kSyncAttr);
    // What is made of gathered factors is no sum of parts.
    bool isSum = sync && dist::stringifySyncMethod(sync.getMethod()) !=
                             "factor_broadcast";
    SmallVector<StringAttr> axes;
    for (StringAttr axis : grid.getAxes())
      if ((isSum && llvm::is_contained(sync.getAxes(), axis)) ||
          llvm::is_contained(partial[parameter.getSymName()], axis))
        axes.push_back(axis);
    os << axesText(axes);
  }

  void printCut(nn::VariableOp parameter, RankedTensorType type) {
    auto attr = parameter->getAttrOfType<dist::LayoutAttr>(dist::kLayoutAttr);
    dist::Grid sizes = dist::toGrid(grid);
    dist::Layout layout = attr ? dist::toLayout(grid, attr)
                               : dist::Layout::replicated(type.getRank());
    for (auto [d, cut] : llvm::enumerate(layout.dims)) {
      os << (d ? ",{" : "{");
      if (!cut.axes.empty()) {
        os << "\"axes\":[";
        llvm::interleave(
            cut.axes, os,
            [&](int axis) { os << quoted(grid.getAxes()[axis].getValue()); },
            ",");
        os << "],\"ranges\":[";
        llvm::interleave(
            dist::rangesOf(sizes, cut, type.getDimSize(d)), os,
            [&](dist::Range range) {
              os << "[" << range.begin << ","
                 << std::max(range.begin, range.end) << "]";
            },
            ",");
        os << "]";
      }
      os << "}";
    }
  }

  void printClass(spmd::ClassOp classOp, llvm::raw_ostream &to) {
    to << "{\"name\":" << quoted(classOp.getSymName())
       << ",\"ranks\":" << ranksText(classOp.getRanks());
    if (isServers(classOp))
      to << ",\"servers\":true";
    to << ",\"arena\":" << *classOp.getArenaBytes()
       << ",\"persistent\":" << classOp.getPersistentBytes().value_or(0)
       << ",\n\"phases\":[";
    std::optional<PhaseText> step;
    bool isFirst = true;
    for (func::FuncOp function : functions[classOp.getSymName()]) {
      PhaseText phase(module, grid, function, tables);
      to << (isFirst ? "\n" : ",\n");
      phase.print(to);
      isFirst = false;
      if (phase.getName() == "step")
        step.emplace(std::move(phase));
    }
    to << "],\n\"parameters\":[";
    isFirst = true;
    for (auto [i, parameter] : llvm::enumerate(parameters)) {
      StringRef name = parameter.getSymName();
      int64_t groups = step ? step->numGroupsOf(name) : 1;
      for (int64_t group = 0; group < groups; ++group) {
        ParameterFacts facts;
        if (step)
          facts = step->factsOf(name, states[name], group);
        llvm::append_range(partial[name], facts.partial);
        to << (isFirst ? "\n" : ",\n");
        isFirst = false;
        printUse(i, group, facts, to);
      }
    }
    to << "]}";
  }

  static void printUse(size_t parameter, int64_t group,
                       const ParameterFacts &facts, llvm::raw_ostream &to) {
    to << " {\"parameter\":" << parameter;
    if (group > 0)
      to << ",\"group\":" << group;
    to << ",\"value\":" << bytesText(facts.value)
       << ",\"gradient\":" << bytesText(facts.gradient);
    auto list = [&](StringRef name, ArrayRef<int64_t> numbers) {
      if (numbers.empty())
        return;
      to << ",\"" << name << "\":[";
      llvm::interleave(numbers, to, ",");
      to << "]";
    };
    if (!facts.states.empty()) {
      to << ",\"states\":[";
      llvm::interleave(
          facts.states, to, [&](ByteRange state) { to << bytesText(state); },
          ",");
      to << "]";
    }
    list("calls", facts.calls);
    list("fetches", facts.fetches);
    if (facts.update >= 0)
      to << ",\"update\":" << facts.update;
    to << "}";
  }

  ModuleOp module;
  dist::GridAttr grid;
  MoveTables tables;
  std::string text;
  llvm::raw_string_ostream os;
  std::vector<spmd::ClassOp> classes;
  llvm::StringMap<std::vector<func::FuncOp>> functions;
  std::vector<nn::VariableOp> parameters;
  llvm::StringMap<std::vector<StringRef>> states;
  /// Per parameter what the classes' steps say of its gradient.
  llvm::StringMap<std::vector<StringAttr>> partial;
};

} // namespace

FailureOr<std::string> makeCertificate(ModuleOp module) {
  return CertificateText(module).print();
}

} // namespace partita
