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
#include "dialects/Dist/IR/Servers.h"
#include "dialects/NN/IR/NNOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Plan/LayerSplits.h"
#include "passes/Plan/SyncText.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace partita;

namespace {

/// Layers in the order of the graph; gradients follow them.
void writeLayers(llvm::json::OStream &json, ModuleOp module) {
  for (const auto &[name, layer] : plan::layersOf(module)) {
    std::optional<plan::SplitItems> items = plan::describeLayer(layer);
    if (!items)
      continue;
    // The operation that decides, where there is one.
    const plan::LayerOp *main = &layer.ops.front();
    for (const plan::LayerOp &op : llvm::reverse(layer.ops))
      if (!op.follows)
        main = &op;
    json.attributeObject(name, [&, &items = *items] {
      json.attribute("op", main->op->getName().getStringRef());
      json.attribute("split", plan::printSplit(items));
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
    if (int64_t servers = dist::serversOf(module))
      json.attribute("servers", servers);
    if (auto semantics = module->getAttrOfType<StringAttr>("partita.semantics"))
      json.attribute("semantics", semantics.getValue());
    json.attributeObject("layers", [&] { writeLayers(json, module); });
    json.attributeObject("parameters", [&] {
      for (auto variable : module.getOps<nn::VariableOp>())
        if (auto sync =
                variable->getAttrOfType<dist::SyncAttr>(dist::kSyncAttr))
          json.attributeObject(variable.getSymName(), [&] {
            json.attribute(
                "sync", plan::syncText(sync.getMethod(), sync.getAlgorithm()));
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
