//===- AssignSplits.cpp - Splits chosen by hand ---------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts what options and a plan file say onto the operations of the layers they
// name. Three sources speak of a layer: the last --split option that matches
// it, else the plan file, else the shorthand of --grid.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/LayerSplits.h"
#include "passes/Plan/Passes.h"
#include "passes/Plan/PlanReader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <numeric>
#include <set>

using namespace mlir;
using namespace partita;
using namespace partita::nn;
using namespace partita::plan;

namespace partita {
#define GEN_PASS_DEF_ASSIGNSPLITS
#include "passes/Plan/Passes.h.inc"
} // namespace partita

namespace {

/// What a --split option or an entry of the plan file says.
struct Choice {
  /// As the user knows it: "--split 'conv*=batch:pc'".
  std::string source;
  std::string pattern;
  SplitItems items;
  /// Of the source, for what is wrong with it alone.
  Location loc;
  /// The pattern is the name of one node.
  bool exact = false;
  /// Layers that it decides, and items that found a dimension in one of them.
  std::vector<const Layer *> layers = {};
  std::set<const SplitItem *> found = {};
  /// Layers left alone because they follow their operands.
  std::vector<std::string> followers = {};
  /// Has axes the grid does not have.
  bool failed = false;
  /// Items without a dimension have been reported with their layers.
  bool reported = false;
};

/// The items of a grid shorthand for `op`; none for operations that follow.
SplitItems shorthandItems(GridStyle style, const GridText &grid,
                          Operation *op) {
  StringRef name = op->getName().stripDialect();
  bool hasWindow = name.starts_with("conv") || name.contains("pool");
  if (!hasWindow && name != "matmul" && name != "gather")
    return {};
  std::vector<std::string> all;
  for (const auto &[axis, size] : grid.axes)
    all.push_back(axis);
  switch (style) {
  case GridStyle::none:
    return {};
  case GridStyle::batch:
    return {{"batch", all}};
  case GridStyle::model:
    return {{"model", all}};
  case GridStyle::domain:
    return {{"domain", all}};
  case GridStyle::modelAndBatch:
    return {{"model", {"pr"}}, {"batch", {"pc"}}};
  case GridStyle::domainAndBatch:
    return {{"domain", {"pr"}}, {"batch", {"pc"}}};
  case GridStyle::paper:
    return {{hasWindow ? "domain" : "model", {"pr"}}, {"batch", {"pc"}}};
  }
  llvm_unreachable("unknown style");
}

class Assignment {
public:
  Assignment(ModuleOp module, GridText grid)
      : module(module), grid(std::move(grid)), layers(layersOf(module)) {
    for (const auto &[name, layer] : layers)
      names.push_back(name);
  }

  void addRule(StringRef text, const SplitRule &rule) {
    choices.push_back({"--split " + quoted(text), rule.pattern, rule.items,
                       UnknownLoc::get(module.getContext()),
                       !isWildcard(rule.pattern)});
  }

  void addPlan(const PlanText &plan, StringRef path) {
    StringRef file = llvm::sys::path::filename(path);
    for (const PlanLayer &layer : plan.layers)
      planChoices.insert(
          {layer.name,
           {file.str() + ":" + std::to_string(layer.position.line), layer.name,
            layer.items, locate(path, layer.position),
            /*exact=*/true}});
    for (const PlanParameter &parameter : plan.parameters)
      checkParameter(parameter, locate(path, parameter.position));
  }

  Location locate(StringRef path, PlanPosition position) {
    return FileLineColLoc::get(module.getContext(), path, position.line,
                               position.column);
  }

  /// `shorthand` is what --grid says, for messages.
  LogicalResult run(StringRef shorthand, unsigned &count) {
    checkChoices();
    for (const auto &[name, layer] : layers)
      if (Choice *choice = choiceFor(name))
        assign(layer, *choice);
      else
        assignShorthand(layer, shorthand);
    for (const Choice &choice : choices)
      checkUse(choice);
    if (anyError)
      return failure();
    module->setAttr(dist::kGridAttr, gridAttr());
    for (const auto &[op, split] : splits)
      op->setAttr(dist::kSplitAttr, split);
    count += splits.size() + splitGradients();
    return success();
  }

private:
  //===--------------------------------------------------------------------===//
  // Messages
  //===--------------------------------------------------------------------===//

  void error(Location loc, const std::string &text) {
    anyError = true;
    emitError(loc) << text;
  }

  /// The three functions repeat a layer; each finding is said once.
  bool isNew(const Layer &layer, const std::string &text) {
    return said.insert({layer.name, text}).second;
  }

  void error(const Layer &layer, Operation *op, const std::string &text) {
    anyError = true;
    if (isNew(layer, text))
      emitError(op->getLoc()) << text;
  }

  static std::string opName(Operation *op) {
    return op->getName().getStringRef().str();
  }

  /// "nn.matmul along m = 8 (batch), ...; nn.add along d0 = 8, d1 = 10".
  static std::string describeOps(const Layer &layer) {
    std::set<std::string> seen;
    std::string text;
    for (const LayerOp &op : layer.ops) {
      std::string part = opName(op.op) + " along " + describeDims(op.space);
      if (seen.insert(part).second)
        text += (text.empty() ? "" : "; ") + part;
    }
    return text;
  }

  //===--------------------------------------------------------------------===//
  // Choices
  //===--------------------------------------------------------------------===//

  /// Axes and names, which need no layer to be wrong.
  void checkChoices() {
    for (Choice &choice : choices) {
      checkAxes(choice);
      if (llvm::none_of(names, [&](StringRef name) {
            return matchesPattern(choice.pattern, name);
          }))
        error(choice.loc, choice.source + ": no node matches " +
                              quoted(choice.pattern) + "; " +
                              nodesNear(choice));
    }
    for (auto &[name, choice] : planChoices) {
      checkAxes(choice);
      if (!layers.count(name))
        error(choice.loc,
              "there is no node " + quoted(name) + "; " + nodesNear(choice));
    }
  }

  std::string nodesNear(const Choice &choice) const {
    return nearNames("nodes", choice.pattern, names);
  }

  void checkAxes(Choice &choice) {
    for (const SplitItem &item : choice.items)
      for (const std::string &axis : item.axes)
        if (sizeOf(axis) == 0) {
          choice.failed = true;
          error(choice.loc, choice.source + ": there is no axis " +
                                quoted(axis) + "; the grid has " +
                                describeAxes(grid));
        }
  }

  void checkParameter(const PlanParameter &parameter, Location loc) {
    std::vector<std::string> parameters;
    for (auto variable : module.getOps<VariableOp>())
      if (variable.getRole() == Role::parameter)
        parameters.push_back(variable.getSymName().str());
    if (!llvm::is_contained(parameters, parameter.name))
      error(loc, "there is no parameter " + quoted(parameter.name) + "; " +
                     nearNames("parameters", parameter.name, parameters));
    for (const std::string &axis : parameter.axes)
      if (sizeOf(axis) == 0)
        error(loc, "parameter " + quoted(parameter.name) +
                       ": there is no axis " + quoted(axis) +
                       "; the grid has " + describeAxes(grid));
  }

  /// The size of an axis; 0 for one the grid does not have.
  int64_t sizeOf(StringRef axis) const {
    for (const auto &[name, size] : grid.axes)
      if (name == axis)
        return size;
    return 0;
  }

  int64_t partsOf(const SplitItem &item) const {
    int64_t parts = 1;
    for (const std::string &axis : item.axes)
      parts *= sizeOf(axis);
    return parts;
  }

  Choice *choiceFor(StringRef name) {
    for (Choice &choice : llvm::reverse(choices))
      if (matchesPattern(choice.pattern, name))
        return &choice;
    auto found = planChoices.find(name.str());
    return found == planChoices.end() ? nullptr : &found->second;
  }

  //===--------------------------------------------------------------------===//
  // Layers
  //===--------------------------------------------------------------------===//

  void assign(const Layer &layer, Choice &choice) {
    if (choice.failed)
      return;
    choice.layers.push_back(&layer);
    SmallVector<const SplitItem *> unused;
    SmallVector<SmallVector<Cut>> cuts =
        applySplit(layer, choice.items, unused);
    for (const SplitItem &item : choice.items)
      if (!llvm::is_contained(unused, &item))
        choice.found.insert(&item);
    bool nothing = unused.size() == choice.items.size();
    // A wildcard may reach nodes that have a part of what it names only.
    if (!choice.items.empty() && (choice.exact || nothing)) {
      bool isRoles = llvm::all_of(choice.items, [](const SplitItem &item) {
        return isRole(item.what);
      });
      if (!choice.exact && isRoles && (layer.follows() || layer.name == "loss"))
        choice.followers.push_back(layer.name);
      else
        for (const SplitItem *item : unused)
          reportUnused(layer, choice, *item);
    }
    for (auto [op, list] : llvm::zip(layer.ops, cuts)) {
      bool isWhole = choice.items.empty() && (!op.follows || layer.follows());
      if (isWhole || (!list.empty() && isLegal(layer, op, list, choice.source)))
        splits[op.op] = makeSplit(module.getContext(), op.space, list);
    }
  }

  void reportUnused(const Layer &layer, Choice &choice, const SplitItem &item) {
    choice.reported = true;
    Operation *first = layer.ops.front().op;
    std::string text = choice.source + ": ";
    if (layer.follows() && isRole(item.what))
      text += opName(first) + " is split as its operands are; to split it by "
                              "hand, name a dimension: ";
    else
      text += "nothing to split as " + quoted(item.what) +
              "; what can be split is ";
    error(layer, first, text + describeOps(layer));
  }

  bool isLegal(const Layer &layer, const LayerOp &op, ArrayRef<Cut> cuts,
               StringRef source) {
    bool legal = true;
    auto refuse = [&](const std::string &text) {
      legal = false;
      error(layer, op.op, source.str() + ": " + text);
    };
    std::string its = " of " + opName(op.op);
    std::map<unsigned, const SplitItem *> dims;
    std::map<std::string, unsigned> axes;
    for (const Cut &cut : cuts) {
      const IterationDim &dim = op.space.dims[cut.dim];
      std::string size = quoted(dim.name) + " = " + std::to_string(dim.size);
      auto [other, isFirst] = dims.try_emplace(cut.dim, cut.item);
      if (!isFirst) {
        refuse(size + its + " is named twice, as " +
               quoted(other->second->what) + " and as " +
               quoted(cut.item->what) + "; join the axes with '+'");
        continue;
      }
      if (!canSplit(dim)) {
        refuse(size + its + " stays whole, because " + whyWhole(op.op) +
               "; it can be split along " + describeDims(op.space));
        continue;
      }
      for (const std::string &axis : cut.item->axes)
        if (auto [user, isUnused] = axes.try_emplace(axis, cut.dim); !isUnused)
          refuse("axis " + quoted(axis) + " is used for " +
                 quoted(op.space.dims[user->second].name) + " and for " + size +
                 its +
                 "; an axis splits one dimension of a layer, and the "
                 "grid has " +
                 describeAxes(grid));
      checkParts(layer, op, cut, refuse);
    }
    return legal;
  }

  /// Tables, blocks, and parts without elements.
  void checkParts(const Layer &layer, const LayerOp &op, const Cut &cut,
                  llvm::function_ref<void(const std::string &)> refuse) {
    const IterationDim &dim = op.space.dims[cut.dim];
    const SplitItem &item = *cut.item;
    std::string size = quoted(dim.name) + " = " + std::to_string(dim.size) +
                       " of " + opName(op.op);
    int64_t parts = partsOf(item);
    if (!item.sizes.empty()) {
      int64_t sum =
          std::accumulate(item.sizes.begin(), item.sizes.end(), int64_t(0));
      std::string table = quoted(printSplit({item}));
      if (static_cast<int64_t>(item.sizes.size()) != parts)
        refuse("the table of " + table + " has " +
               std::to_string(item.sizes.size()) +
               " parts; expected one for each of the " + std::to_string(parts) +
               " that " + size + " is split into");
      else if (sum != dim.size)
        refuse("the parts of " + table + " sum to " + std::to_string(sum) +
               "; expected " + size);
      return;
    }
    if (dim.size % item.block != 0) {
      std::string divisors;
      for (int64_t i = std::min(item.block, dim.size);
           i > 0 && divisors.empty(); --i)
        if (dim.size % i == 0)
          divisors = std::to_string(i);
      return refuse(size + " cannot be cut into blocks of " +
                    std::to_string(item.block) +
                    "; the next smaller block "
                    "that divides it is " +
                    divisors);
    }
    int64_t blocks = dim.size / item.block;
    if (parts <= blocks)
      return;
    std::string text =
        size + " is split into " + std::to_string(parts) + " parts (" +
        printSplit({item}) + "), so that " + std::to_string(parts - blocks) +
        (parts - blocks == 1 ? " of them has" : " of them have") +
        " no elements";
    if (isNew(layer, text))
      emitWarning(op.op->getLoc()) << text;
  }

  /// Splits what can be split and has enough elements; says what is left out.
  void assignShorthand(const Layer &layer, StringRef shorthand) {
    for (const LayerOp &op : layer.ops) {
      SplitItems items = shorthandItems(grid.style, grid, op.op);
      SmallVector<Cut> cuts;
      for (const SplitItem &item : items) {
        int dim = findDim(op.space, item.what);
        if (dim < 0 || !canSplit(op.space.dims[dim])) {
          // Layers without such a dimension are none of the shorthand's.
          dim = findWhole(op.space, item.what);
          if (dim >= 0)
            leaveOut(layer, op, dim, shorthand, whyWhole(op.op));
          continue;
        }
        if (op.space.dims[dim].size >= partsOf(item))
          cuts.push_back({static_cast<unsigned>(dim), &item});
        else
          leaveOut(layer, op, dim, shorthand,
                   "there would be " + std::to_string(partsOf(item)) +
                       " parts");
      }
      if (!cuts.empty())
        splits[op.op] = makeSplit(module.getContext(), op.space, cuts);
    }
  }

  static int findWhole(const IterationSpace &space, StringRef what) {
    for (auto [i, dim] : llvm::enumerate(space.dims))
      if (!canSplit(dim) && ((what == "batch" && dim.role == DimRole::batch) ||
                             (what == "model" && dim.role == DimRole::model) ||
                             (what == "domain" && dim.role == DimRole::domain)))
        return static_cast<int>(i);
    return -1;
  }

  void leaveOut(const Layer &layer, const LayerOp &op, int dim,
                StringRef shorthand, const std::string &reason) {
    const IterationDim &which = op.space.dims[dim];
    std::string text = shorthand.str() + " leaves " + quoted(which.name) +
                       " = " + std::to_string(which.size) + " of " +
                       opName(op.op) + " whole: " + reason;
    if (isNew(layer, text))
      emitRemark(op.op->getLoc()) << text;
  }

  /// After all layers: items of a wildcard that no layer had a use for.
  void checkUse(const Choice &choice) {
    if (choice.failed || choice.reported || choice.layers.empty() ||
        choice.exact)
      return;
    for (const SplitItem &item : choice.items) {
      if (choice.found.count(&item))
        continue;
      const Layer &first = *choice.layers.front();
      bool allFollow = choice.followers.size() == choice.layers.size();
      error(choice.loc,
            choice.source +
                ": no node that it matches has something to split "
                "as " +
                quoted(item.what) + "; " +
                (allFollow ? "nodes such as " + quoted(first.name) +
                                 " are split as their operands are, by hand "
                                 "only where a dimension is named: "
                           : "the first, " + quoted(first.name) + ", has ") +
                describeOps(first));
    }
  }

  //===--------------------------------------------------------------------===//
  // Attributes
  //===--------------------------------------------------------------------===//

  dist::GridAttr gridAttr() {
    SmallVector<StringAttr> axes;
    SmallVector<int64_t> sizes;
    for (const auto &[axis, size] : grid.axes) {
      axes.push_back(StringAttr::get(module.getContext(), axis));
      sizes.push_back(size);
    }
    return dist::GridAttr::get(module.getContext(), axes, sizes);
  }

  /// Gives gradient operations the split of their layer's forward operation.
  /// Returns how many were split.
  unsigned splitGradients() {
    auto step = module.lookupSymbol<func::FuncOp>("step");
    if (!step)
      return 0;
    GradientSplits gradients(step);
    unsigned count = 0;
    for (Operation &op : step.front()) {
      if (auto split = splits.find(&op); split != splits.end())
        gradients.note(&op, split->second);
      else if (dist::SplitAttr followed = gradients.find(&op)) {
        op.setAttr(dist::kSplitAttr, followed);
        ++count;
      }
    }
    return count;
  }

  ModuleOp module;
  GridText grid;
  Layers layers;
  std::vector<std::string> names;
  std::vector<Choice> choices;
  /// By node name, in the order of the file.
  llvm::MapVector<std::string, Choice, std::map<std::string, unsigned>>
      planChoices;
  llvm::MapVector<Operation *, dist::SplitAttr> splits;
  std::set<std::pair<std::string, std::string>> said;
  bool anyError = false;
};

struct AssignSplitsPass : partita::impl::AssignSplitsBase<AssignSplitsPass> {
  using AssignSplitsBase::AssignSplitsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyFunctions(module)))
      return signalPassFailure();
    bool sound = true;
    auto error = [&](const std::string &text) {
      emitError(UnknownLoc::get(&getContext())) << text;
      sound = false;
    };
    std::optional<PlanText> planText;
    if (!plan.empty()) {
      planText = readPlanFile(plan, [&](PlanPosition at,
                                        const std::string &text) {
        emitError(FileLineColLoc::get(&getContext(), plan, at.line, at.column))
            << text;
      });
      sound = planText.has_value();
    }
    std::vector<SplitRule> rules;
    SmallVector<StringRef> texts = splitRules(splits);
    for (StringRef text : texts) {
      std::string found;
      if (std::optional<SplitRule> rule = parseSplitRule(text, found))
        rules.push_back(*rule);
      else
        error("--split " + quoted(text) + ": " + found);
    }
    GridText gridText;
    std::string shorthand;
    std::string found = chooseGrid(planText, gridText, shorthand);
    // A plan that cannot be read may have a grid.
    if (!found.empty() && (sound || !grid.empty()))
      error(found);
    if (!sound)
      return signalPassFailure();
    Assignment assignment(module, gridText);
    for (auto [text, rule] : llvm::zip(texts, rules))
      assignment.addRule(text, rule);
    if (planText)
      assignment.addPlan(*planText, plan);
    unsigned count = 0;
    if (failed(assignment.run(shorthand, count)))
      return signalPassFailure();
    numSplit += count;
  }

private:
  /// The grid of --grid, of the plan file, or all ranks on one axis;
  /// `shorthand` says it for messages. Returns "" or what is wrong.
  std::string chooseGrid(const std::optional<PlanText> &planText,
                         GridText &chosen, std::string &shorthand) const {
    std::string found;
    if (!grid.empty()) {
      shorthand = "--grid " + grid;
      if (std::optional<GridText> parsed = parseGrid(grid, ranks, found))
        chosen = *parsed;
      else
        found = shorthand + ": " + found;
      return found;
    }
    if (planText && !planText->grid.axes.empty()) {
      chosen = planText->grid;
      return checkGrid(chosen, ranks);
    }
    if (ranks > 0) {
      shorthand = "--ranks " + std::to_string(ranks);
      chosen.axes = {{"data", ranks}};
      chosen.style = GridStyle::batch;
      return checkGrid(chosen, ranks);
    }
    return "there is no grid to split over; give --grid such as pr=2,pc=2, or "
           "--ranks";
  }
};

} // namespace
