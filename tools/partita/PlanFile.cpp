//===- PlanFile.cpp - The plan as JSON ------------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes plan.json from the attributes of a planned module.
//
//===----------------------------------------------------------------------===//

#include "PlanFile.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/IR/NNOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace partita;

namespace {

std::string nodeName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (std::string name = nodeName(part); !name.empty())
        return name;
  return "";
}

/// Layers in the order of the forward pass; gradients follow them.
void writeLayers(llvm::json::OStream &json, ModuleOp module) {
  auto step = module.lookupSymbol<func::FuncOp>("step");
  if (!step)
    return;
  llvm::StringSet<> seen;
  for (Operation &op : step.front()) {
    auto split = op.getAttrOfType<dist::SplitAttr>(dist::kSplitAttr);
    std::string name = nodeName(op.getLoc());
    if (!split || name.empty() || !seen.insert(name).second)
      continue;
    json.attributeObject(name, [&] {
      json.attribute("op", op.getName().getStringRef());
      json.attributeObject("split", [&] {
        for (auto [dim, axes] : llvm::zip(split.getDims(), split.getAxes()))
          json.attributeArray(dim.getValue(), [&, axes = axes] {
            for (auto axis : axes.getAsRange<StringAttr>())
              json.value(axis.getValue());
          });
      });
    });
  }
}

} // namespace

std::string partita::driver::planAsJson(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("version", 1);
    if (auto grid = module->getAttrOfType<dist::GridAttr>(dist::kGridAttr))
      json.attributeObject("grid", [&] {
        for (auto [axis, size] : llvm::zip(grid.getAxes(), grid.getSizes()))
          json.attribute(axis.getValue(), size);
      });
    if (auto semantics = module->getAttrOfType<StringAttr>("partita.semantics"))
      json.attribute("semantics", semantics.getValue());
    json.attributeObject("layers", [&] { writeLayers(json, module); });
    json.attributeObject("parameters", [&] {
      for (auto variable : module.getOps<nn::VariableOp>())
        if (auto sync =
                variable->getAttrOfType<dist::SyncAttr>(dist::kSyncAttr))
          json.attributeObject(variable.getSymName(), [&] {
            json.attribute("sync", stringifySyncMethod(sync.getMethod()));
            json.attributeArray("axes", [&] {
              for (StringAttr axis : sync.getAxes())
                json.value(axis.getValue());
            });
          });
    });
  });
  os << '\n';
  return text;
}
