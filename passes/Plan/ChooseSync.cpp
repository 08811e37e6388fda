//===- ChooseSync.cpp - How each parameter's gradient is combined ---------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sets the method of every `dist.sync`. Three sources speak of a parameter: the
// last --sync option that matches it, else the plan file, else all_reduce.
//
// Broadcasting factors needs no communication of its own kind: the product that
// is the gradient is not split over the samples any more, so that its operands
// are gathered by the moves that any other change of layout uses, and nothing
// is left to sum.
//
//===----------------------------------------------------------------------===//

#include "dialects/Dist/IR/Servers.h"
#include "dialects/Dist/Interfaces/Layouts.h"
#include "dialects/NN/IR/NNOps.h"
#include "passes/Plan/LayerSplits.h"
#include "passes/Plan/Passes.h"
#include "passes/Plan/PlanReader.h"
#include "passes/Plan/SyncText.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace partita;
using namespace partita::dist;
using namespace partita::plan;

namespace partita {
#define GEN_PASS_DEF_CHOOSESYNC
#include "passes/Plan/Passes.h.inc"
} // namespace partita

namespace {

/// A gradient that is one product over samples.
struct Product {
  Operation *matmul = nullptr;
  /// The product and what follows it up to the update: reshapes, transposes
  /// and sums over the samples.
  SmallVector<Operation *> chain;
};

/// A parameter and its update.
struct Parameter {
  nn::VariableOp variable;
  Operation *update = nullptr;
  /// Nodes that read it.
  SmallVector<std::string> nodes;
};

constexpr const char *kSumOfSamples =
    "its gradient is a sum over the samples, not a product of two factors";

/// The product that `update`'s gradient is, or why it is none.
std::optional<Product> findProduct(Operation *update, std::string &why) {
  Product product;
  Value value = update->getOperand(0);
  while (true) {
    Operation *op = value.getDefiningOp();
    bool isSummed = llvm::any_of(
        product.chain, [](Operation *each) { return isa<nn::ReduceOp>(each); });
    if (!op) {
      why = isSummed ? kSumOfSamples : "its gradient is an input of the step";
      return std::nullopt;
    }
    // A bias: its layer's weight needs what is summed as well.
    if (!value.hasOneUse()) {
      why = isSummed ? kSumOfSamples
                     : "its gradient is used for more than its update";
      return std::nullopt;
    }
    product.chain.push_back(op);
    if (isa<nn::MatmulOp>(op)) {
      product.matmul = op;
      return product;
    }
    auto reduce = dyn_cast<nn::ReduceOp>(op);
    bool isSum =
        reduce && reduce.getKind() == nn::ReduceKind::sum && !reduce.getLocal();
    if (isSum || isa<nn::ReshapeOp, nn::TransposeOp>(op)) {
      value = op->getOperand(0);
      continue;
    }
    StringRef name = op->getName().stripDialect();
    if (isSummed)
      why = kSumOfSamples;
    else if (name.starts_with("conv"))
      why = "the gradient of a convolution's filter is no plain product: every "
            "place of the image adds to it";
    else if (name == "scatter_add")
      why = "the gradient of a table adds rows where samples looked them up, "
            "it is no product of two factors";
    else if (isa<nn::AddOp>(op))
      why =
          "the parameter is used at several places, and its gradient is a sum "
          "of several products";
    else
      why = "its gradient is made by " + op->getName().getStringRef().str() +
            ", not by one product over samples";
    return std::nullopt;
  }
}

/// `split` without `axes`.
SplitAttr without(GridAttr grid, Operation *op, SplitAttr split,
                  ArrayRef<StringAttr> axes) {
  nn::IterationSpace space = cast<nn::PartitionableOp>(op).getIterationSpace();
  SmallVector<DimCut> cuts(space.dims.size());
  for (auto [i, dim] : llvm::enumerate(space.dims)) {
    cuts[i] = cutOf(grid, split, dim.name);
    size_t before = cuts[i].axes.size();
    llvm::erase_if(cuts[i].axes, [&](int axis) {
      return llvm::is_contained(axes, grid.getAxes()[axis]);
    });
    // Sizes that were given for all parts do not fit fewer.
    if (cuts[i].axes.size() != before)
      cuts[i].ranges.clear();
    if (cuts[i].axes.empty())
      cuts[i] = DimCut();
  }
  return makeSplit(op->getContext(), grid, space, cuts);
}

class Choices {
public:
  Choices(ModuleOp module, GridAttr grid, int64_t servers)
      : module(module), grid(grid), servers(servers) {
    for (auto variable : module.getOps<nn::VariableOp>())
      if (variable.getRole() == nn::Role::parameter)
        parameters[variable.getSymName()].variable = variable;
    for (auto function : module.getOps<func::FuncOp>())
      for (Operation &op : function.front()) {
        if (nn::isUpdate(&op)) {
          auto it = parameters.find(nn::updatedVariable(&op));
          if (it != parameters.end())
            it->second.update = &op;
        }
        if (auto read = dyn_cast<nn::ReadOp>(op)) {
          auto it = parameters.find(read.getVariable());
          if (it != parameters.end())
            noteNodes(it->second, read.getValue(), lossOf(function));
        }
      }
  }

  void addRule(StringRef text, const SyncRule &rule) {
    rules.push_back({"--sync " + quoted(text), rule, false});
  }

  void addPlan(const PlanText &plan, StringRef path) {
    for (const PlanParameter &parameter : plan.parameters)
      if (parameter.sync)
        planned.insert({parameter.name,
                        {*parameter.sync,
                         FileLineColLoc::get(module.getContext(), path,
                                             parameter.position.line,
                                             parameter.position.column)}});
  }

  LogicalResult run() {
    for (auto &[name, parameter] : parameters)
      if (parameter.update)
        choose(name, parameter);
    for (const Rule &rule : rules)
      checkUse(rule);
    return failure(anyError);
  }

private:
  struct Rule {
    std::string source;
    SyncRule rule;
    /// Some parameter it matches has what it asks for.
    bool isUsed = false;
    bool matches = false;
    /// Why the parameters that it matches do not.
    std::vector<std::string> refusals = {};
  };

  static void noteNodes(Parameter &parameter, Value value, Operation *loss) {
    for (Operation *user : value.getUsers()) {
      // Gradients stand behind the loss and carry the names of their nodes.
      if (loss && loss->getBlock() == user->getBlock() &&
          loss->isBeforeInBlock(user))
        continue;
      if (isa<nn::ReshapeOp, nn::TransposeOp>(user))
        noteNodes(parameter, user->getResult(0), loss);
      std::string name = layerName(user->getLoc());
      if (!name.empty() && !llvm::is_contained(parameter.nodes, name))
        parameter.nodes.push_back(name);
    }
  }

  void error(Location loc, const std::string &text) {
    anyError = true;
    emitError(loc) << text;
  }

  static bool matches(const SyncRule &rule, StringRef name,
                      const Parameter &parameter) {
    return matchesPattern(rule.pattern, name) ||
           llvm::any_of(parameter.nodes, [&](const std::string &node) {
             return matchesPattern(rule.pattern, node);
           });
  }

  /// Whether several ranks have nothing to combine: they hold different parts,
  /// or compute the same.
  bool isWholeAnyway(Parameter &parameter) const {
    auto sync = parameter.variable->getAttrOfType<SyncAttr>(kSyncAttr);
    return sync && sync.getAxes().empty() &&
           llvm::any_of(grid.getSizes(), [](int64_t size) { return size > 1; });
  }

  void choose(StringRef name, Parameter &parameter) {
    Rule *chosen = nullptr;
    for (Rule &rule : rules)
      if (matches(rule.rule, name, parameter)) {
        rule.matches = true;
        chosen = &rule;
      }
    SyncChoice choice;
    auto plan = planned.find(name.str());
    if (chosen)
      choice = chosen->rule.choice;
    else if (plan != planned.end())
      choice = plan->second.first;
    else
      return;
    std::string why = apply(parameter, choice);
    if (why.empty()) {
      if (!chosen)
        return;
      chosen->isUsed = true;
      if (isWholeAnyway(parameter))
        emitRemark(parameter.variable.getLoc())
            << chosen->source << " changes nothing for parameter "
            << quoted(name)
            << ": its gradient is whole on every rank, without a call of its "
               "own";
      return;
    }
    if (!chosen)
      return error(plan->second.second,
                   "parameter " + quoted(name) + " cannot have " +
                       syncText(choice.method, choice.algorithm) + ": " + why);
    // Biases of a layer go by all_reduce; that is what people mean when they
    // name the layer.
    chosen->refusals.push_back("parameter " + quoted(name) + ": " + why);
    if (!isWildcard(chosen->rule.pattern) && chosen->rule.pattern == name)
      error(parameter.variable.getLoc(),
            chosen->source + ": parameter " + quoted(name) + ": " + why);
    else if (nn::tensorType(parameter.update->getOperand(0)).getRank() > 1)
      emitRemark(parameter.variable.getLoc())
          << chosen->source << " leaves parameter " << quoted(name)
          << " to all_reduce: " << why;
  }

  void checkUse(const Rule &rule) {
    std::vector<std::string> names;
    for (const auto &[name, parameter] : parameters)
      names.push_back(name.str());
    Location loc = UnknownLoc::get(module.getContext());
    if (!rule.matches)
      return error(loc, rule.source +
                            ": no parameter and no node with "
                            "parameters matches " +
                            quoted(rule.rule.pattern) + "; " +
                            nearNames("parameters", rule.rule.pattern, names));
    if (rule.isUsed || rule.refusals.empty() || anyError)
      return;
    std::string text = rule.source + ": no parameter that it matches can be "
                                     "combined so";
    for (auto [i, refusal] : llvm::enumerate(rule.refusals)) {
      if (i == 4) {
        text += "; and " + std::to_string(rule.refusals.size() - i) + " more";
        break;
      }
      text += "; " + refusal;
    }
    error(loc, text);
  }

  /// Sets the method of a parameter; returns "" or why it cannot have it.
  std::string apply(Parameter &parameter, SyncChoice choice) {
    auto sync = parameter.variable->getAttrOfType<SyncAttr>(kSyncAttr);
    if (!sync || sync.getAxes().empty())
      return "";
    std::string why;
    std::optional<Product> product;
    if (choice.poseidon || choice.method == SyncMethod::factor_broadcast)
      product = findProduct(parameter.update, why);
    if (product && !canGather(*product, sync.getAxes(), why))
      product.reset();
    if (choice.poseidon)
      choice.method = product && isWorthIt(*product, sync.getAxes())
                          ? SyncMethod::factor_broadcast
                          : SyncMethod::parameter_server;
    if (choice.method == SyncMethod::factor_broadcast) {
      if (!product)
        return why;
      gatherFactors(*product, sync.getAxes());
    }
    parameter.variable->setAttr(
        kSyncAttr, SyncAttr::get(module.getContext(), choice.method,
                                 sync.getAxes(), choice.algorithm));
    return "";
  }

  SplitAttr splitOf(Operation *op) const {
    return op->getAttrOfType<SplitAttr>(kSplitAttr);
  }

  /// Whether the product is what is split over `axes`, by samples.
  bool canGather(const Product &product, ArrayRef<StringAttr> axes,
                 std::string &why) {
    nn::IterationSpace space =
        cast<nn::PartitionableOp>(product.matmul).getIterationSpace();
    for (StringAttr axis : axes) {
      bool found = false;
      for (const nn::IterationDim &dim : space.dims) {
        DimCut cut = cutOf(grid, splitOf(product.matmul), dim.name);
        found |= llvm::any_of(
            cut.axes, [&](int index) { return grid.getAxes()[index] == axis; });
      }
      if (!found) {
        why = "the product that is its gradient is not split over axis " +
              quoted(axis.getValue());
        return false;
      }
    }
    return true;
  }

  /// Poseidon's rule on the sizes that a rank has.
  bool isWorthIt(const Product &product, ArrayRef<StringAttr> axes) {
    SplitAttr split = splitOf(product.matmul);
    nn::IterationSpace space =
        cast<nn::PartitionableOp>(product.matmul).getIterationSpace();
    int64_t ranks = 1, m = 1, n = 1, samples = 1;
    for (StringAttr axis : axes)
      ranks *= grid.getAxisSize(axis.getValue());
    for (const nn::IterationDim &dim : space.dims) {
      // Other axes split features: the parts that the largest rank has.
      int64_t parts = 1;
      for (int axis : cutOf(grid, split, dim.name).axes)
        if (!llvm::is_contained(axes, grid.getAxes()[axis]))
          parts *= grid.getSizes()[axis];
      int64_t size = (dim.size + parts - 1) / parts;
      if (dim.name == "m")
        m *= size;
      else if (dim.name == "n")
        n *= size;
      else
        samples *= size;
    }
    return prefersFactors(m, n, samples, ranks, serverLoad(axes));
  }

  /// Gradients that the busiest server gets of a parameter; 0 without servers.
  double serverLoad(ArrayRef<StringAttr> axes) const {
    if (servers == 0)
      return 0;
    ServerGroups groups(grid, axes, servers);
    // Later groups have no more servers than earlier ones, and later servers no
    // more groups.
    return double(groups.numWorkers()) * double(groups.numServed(0)) /
           double(groups.numServers(groups.numGroups() - 1));
  }

  /// Takes the samples' axes from the product and what follows it.
  void gatherFactors(const Product &product, ArrayRef<StringAttr> axes) {
    for (Operation *op : product.chain) {
      if (SplitAttr split = splitOf(op)) {
        if (SplitAttr left = without(grid, op, split, axes))
          op->setAttr(kSplitAttr, left);
        else
          op->removeAttr(kSplitAttr);
      }
      op->setAttr(kFactorsAttr, UnitAttr::get(module.getContext()));
    }
  }

  ModuleOp module;
  GridAttr grid;
  int64_t servers;
  llvm::MapVector<StringRef, Parameter, llvm::StringMap<unsigned>> parameters;
  std::vector<Rule> rules;
  std::map<std::string, std::pair<SyncChoice, Location>> planned;
  bool anyError = false;
};

struct ChooseSyncPass : partita::impl::ChooseSyncBase<ChooseSyncPass> {
  using ChooseSyncBase::ChooseSyncBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto grid = module->getAttrOfType<GridAttr>(kGridAttr);
    if (!grid) {
      module.emitError("has no dist.grid; propagate splits first");
      return signalPassFailure();
    }
    std::optional<PlanText> text;
    // Its findings have been reported when its splits were read.
    if (!plan.empty())
      text = readPlanFile(plan, [](PlanPosition, const std::string &) {});
    FailureOr<int64_t> number = numberOfServers(grid, text);
    if (failed(number))
      return signalPassFailure();
    Choices choices(module, grid, *number);
    bool sound = true;
    for (StringRef text : splitRules(rules)) {
      std::string found;
      if (std::optional<SyncRule> rule = parseSyncRule(text, found)) {
        choices.addRule(text, *rule);
        continue;
      }
      emitError(UnknownLoc::get(&getContext()))
          << "--sync " << quoted(text) << ": " << found;
      sound = false;
    }
    if (text)
      choices.addPlan(*text, plan);
    if (!sound || failed(choices.run()))
      return signalPassFailure();
    if (*number > 0 && failed(addServers(module, grid, *number)))
      return signalPassFailure();
    module.walk([&](Operation *op) {
      auto sync = op->getAttrOfType<SyncAttr>(kSyncAttr);
      numServed += sync && sync.getMethod() == SyncMethod::parameter_server;
      numFactored += sync && sync.getMethod() == SyncMethod::factor_broadcast;
    });
  }

private:
  /// The servers asked for: by the option, else by the plan file, else none.
  FailureOr<int64_t> numberOfServers(GridAttr grid,
                                     const std::optional<PlanText> &text) {
    int64_t number = servers;
    Location loc = UnknownLoc::get(&getContext());
    if (number == 0 && text && text->servers > 0) {
      number = text->servers;
      loc = FileLineColLoc::get(&getContext(), plan, text->serversPosition.line,
                                text->serversPosition.column);
    }
    if (number < 0 || number > kMaxRanks - grid.getNumRanks()) {
      emitError(loc) << "--servers: found " << number
                     << ", expected a number from 0 to "
                     << kMaxRanks - grid.getNumRanks() << ", as there are "
                     << grid.getNumRanks() << " ranks in the grid and at most "
                     << kMaxRanks << " in all";
      return failure();
    }
    return number;
  }

  /// Notes the servers in the module, where they get something to own.
  LogicalResult addServers(ModuleOp module, GridAttr grid, int64_t number) {
    bool isUsed = llvm::any_of(
        module.getOps<nn::VariableOp>(), [](nn::VariableOp variable) {
          auto sync = variable->getAttrOfType<SyncAttr>(kSyncAttr);
          return sync && !sync.getAxes().empty() &&
                 sync.getMethod() == SyncMethod::parameter_server;
        });
    if (!isUsed)
      return emitError(UnknownLoc::get(&getContext()))
             << "--servers: found " << number
             << " servers and no parameter for them, expected one at least "
                "that is combined by parameter_server over several ranks of "
                "the grid "
             << grid
             << "; try --sync parameter_server with --ranks 2 or more, or "
                "leave out --servers";
    module->setAttr(kServersAttr,
                    OpBuilder(&getContext()).getI64IntegerAttr(number));
    return success();
  }
};

} // namespace
