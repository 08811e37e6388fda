//===- ProgramCost.cpp - What scheduled programs cost on a machine --------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From IR to the simulator's actions.
//
//===----------------------------------------------------------------------===//

#include "passes/Cost/ProgramCost.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/Servers.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cmath>

using namespace mlir;

namespace partita::cost {

namespace {

constexpr double kComputeEfficiency = 1.0 / 2, kMemoryEfficiency = 2.0 / 3;

double elementsOf(Value buffer) {
  return double(cast<MemRefType>(buffer.getType()).getNumElements());
}

double bytesOf(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t elementBytes = (type.getElementTypeBitWidth() + 7) / 8;
  return double(type.getNumElements()) * double(elementBytes);
}

ArrayRef<int64_t> shapeOf(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getShape();
}

/// The last name in a location: the layer.
std::string layerOf(Operation *op) {
  std::string name;
  op->getLoc()->walk([&](Location loc) {
    if (auto named = dyn_cast<NameLoc>(loc))
      name = named.getName().str();
    return WalkResult::advance();
  });
  return name;
}

/// The devices of the machine, node by node.
class Devices {
public:
  explicit Devices(const Machine &machine) : machine(machine) {}

  const DeviceKind &kindOf(int64_t rank) const {
    for (const DeviceGroup &group : machine.groups) {
      if (rank < group.size())
        return group.kind;
      rank -= group.size();
    }
    return machine.groups.back().kind;
  }

  /// The slowest of a class, as all of its ranks take part in everything.
  DeviceKind slowestOf(ArrayRef<int64_t> ranks) const {
    DeviceKind slowest = kindOf(ranks.empty() ? 0 : ranks.front());
    for (int64_t rank : ranks) {
      const DeviceKind &kind = kindOf(rank);
      slowest.flops = std::min(slowest.flops, kind.flops);
      slowest.bandwidth = std::min(slowest.bandwidth, kind.bandwidth);
    }
    return slowest;
  }

  int64_t perNode() const {
    int64_t most = 1;
    for (const DeviceGroup &group : machine.groups)
      most = std::max(most, group.devices);
    return most;
  }

private:
  const Machine &machine;
};

class ClassCost {
public:
  ClassCost(spmd::ClassOp classOp, dist::GridAttr grid, const Machine &machine)
      : grid(grid), machine(machine), devices(machine),
        device(devices.slowestOf(classOp.getRanks())),
        isServer(classOp->hasAttr(spmd::kServersAttr)),
        name(classOp.getSymName().str()) {}

  std::vector<SimAction> actionsOf(func::FuncOp step) {
    std::vector<SimAction> actions;
    for (Operation &op : step.front()) {
      SimAction action;
      if (auto launch = dyn_cast<spmd::LaunchOp>(op)) {
        action = actionOf(launch);
      } else if (auto call = dyn_cast<spmd::CommunicateOp>(op)) {
        action = actionOf(call);
      } else if (auto record = dyn_cast<spmd::RecordOp>(op)) {
        action = mark(SimAction::Kind::record, record.getStream(),
                      int64_t(record.getEvent()));
      } else if (auto wait = dyn_cast<spmd::WaitOp>(op)) {
        action = mark(SimAction::Kind::wait, wait.getStream(),
                      int64_t(wait.getEvent()));
        action.isPrevious = wait->hasAttr(spmd::kPreviousAttr);
      } else {
        continue;
      }
      actions.push_back(std::move(action));
    }
    return actions;
  }

private:
  static SimStream streamOf(spmd::Stream stream) {
    return stream == spmd::Stream::comm ? SimStream::comm : SimStream::compute;
  }

  static SimAction mark(SimAction::Kind kind, spmd::Stream stream,
                        int64_t event) {
    SimAction action;
    action.kind = kind;
    action.stream = streamOf(stream);
    action.event = event;
    action.name = "wait";
    return action;
  }

  SimAction actionOf(spmd::LaunchOp launch) const {
    SimAction action;
    action.stream = streamOf(launch.getStream());
    double share = shareOf(launch);
    action.seconds =
        share *
        std::max(operationsOf(launch) / (device.flops * kComputeEfficiency),
                 cost::bytesOf(launch) /
                     (device.bandwidth * kMemoryEfficiency));
    action.name = launch.getKernel().str();
    action.layer = layerOf(launch);
    return action;
  }

  /// A launch on parts works on its rank's.
  double shareOf(Operation *op) const {
    auto parts = op->getAttrOfType<DenseI64ArrayAttr>(spmd::kPartsAttr);
    if (!parts)
      return 1;
    double sum = 0, most = 0;
    for (int64_t part : parts.asArrayRef()) {
      sum += double(part);
      most = std::max(most, double(part));
    }
    return sum > 0 ? most / sum : 1;
  }

  SimAction actionOf(spmd::CommunicateOp call) const {
    SimAction action;
    action.kind = SimAction::Kind::call;
    action.stream = streamOf(call.getStream());
    action.name = call.getLabel().str();
    action.layer = layerOf(call);
    SmallVector<int64_t> sizes(grid.getSizes()), axes;
    for (auto axis : call.getAxes().getAsRange<StringAttr>()) {
      action.communicator += axis.getValue().str() + " ";
      for (auto [i, other] : llvm::enumerate(grid.getAxes()))
        if (other == axis)
          axes.push_back(int64_t(i));
    }
    Placement place = placementOf(sizes, axes, devices.perNode());
    double bytes = bytesOf(call.getBuffer());
    int64_t servers = spmd::numberOf(call, spmd::kServersAttr);
    if (servers > 0) {
      action.communicator += "servers";
      // A server's further groups wait for it, not for each other.
      if (int64_t group = spmd::numberOf(call, spmd::kGroupAttr))
        action.communicator += " " + std::to_string(group) + " of " + name;
      setServed(action, bytes, place, servers);
      return action;
    }
    StringRef kind = call.getKind();
    double others =
        place.ranks > 1 ? double(place.ranks - 1) / double(place.ranks) : 0;
    if (kind == "all_reduce") {
      action.bytes = 2 * bytes * others;
      action.seconds = allReduceOf(call, bytes, place);
    } else if (!call.getMove()) {
      // Halves of an all-reduce among owners.
      action.bytes = bytes * others;
      action.seconds = direct(place).message(bytes * others);
    } else {
      // What is sent lies in the staging buffer.
      action.bytes = bytes;
      action.seconds = direct(place).message(bytes);
    }
    return action;
  }

  void setServed(SimAction &action, double bytes, const Placement &place,
                 int64_t servers) const {
    double atServer = bytes * double(place.ranks) / double(servers);
    action.bytes = isServer ? atServer : bytes;
    action.seconds = machine.linkOf(grid.getNumRanks() + servers).cost.alpha +
                     std::max(bytes, atServer) *
                         machine.linkOf(grid.getNumRanks() + servers).cost.beta;
  }

  const LinkKind &levelOf(const Placement &place) const {
    return place.nodes() > 1 ? machine.between : machine.inside;
  }

  /// Everybody sends to everybody: all devices of a node use its link at once.
  AlphaBeta direct(const Placement &place) const {
    AlphaBeta link = levelOf(place).cost;
    if (place.nodes() > 1)
      link.beta *= double(place.perNode * place.groupsPerNode);
    return link;
  }

  double allReduceOf(spmd::CommunicateOp call, double bytes,
                     const Placement &place) const {
    auto given = call->getAttrOfType<StringAttr>(spmd::kAlgorithmAttr);
    StringRef algorithm = given ? given.getValue() : "";
    if (place.ranks < 2)
      return 0;
    double others = double(place.ranks - 1) / double(place.ranks);
    double atOnce =
        2 * direct(place).alpha + 2 * bytes * others * direct(place).beta;
    // One message of the ring enters a node for each group.
    AlphaBeta link = levelOf(place).cost;
    if (place.nodes() > 1)
      link.beta *= double(place.groupsPerNode);
    double ring = allReduceInRing(bytes, place.ranks, link);
    double levels = allReduceInHierarchy(
        bytes, place.nodes(), place.perNode, machine.inside.cost,
        {machine.between.cost.alpha,
         machine.between.cost.beta *
             double(place.perNode * place.groupsPerNode)});
    if (algorithm == "direct")
      return atOnce;
    if (algorithm == "ring")
      return ring;
    if (algorithm == "tree")
      return allReduceByDoubling(bytes, place.ranks, direct(place));
    bool hasLevels = place.perNode > 1 && place.nodes() > 1;
    if (algorithm == "hierarchical")
      return hasLevels ? levels : atOnce;
    double best = std::min(atOnce, ring);
    return hasLevels ? std::min(best, levels) : best;
  }

  dist::GridAttr grid;
  const Machine &machine;
  Devices devices;
  DeviceKind device;
  bool isServer;
  std::string name;
};

} // namespace

double operationsOf(spmd::LaunchOp launch) {
  StringRef kernel = launch.getKernel();
  if (launch.getOutputs().empty())
    return 0;
  double result = elementsOf(launch.getOutputs().front());
  auto filterVolume = [](Value filter) {
    ArrayRef<int64_t> shape = shapeOf(filter);
    return shape.empty() || shape.front() == 0
               ? 0.0
               : elementsOf(filter) / double(shape.front());
  };
  // Each element of y needs a filter's volume of products; so do the gradients.
  if (kernel == "nn.conv" && launch.getInputs().size() >= 2)
    return 2 * result * filterVolume(launch.getInputs()[1]);
  if (kernel == "nn.conv_input_grad" && launch.getInputs().size() >= 2)
    return 2 * elementsOf(launch.getInputs()[0]) *
           filterVolume(launch.getInputs()[1]);
  if (kernel == "nn.conv_filter_grad" && launch.getInputs().size() >= 2)
    return 2 * elementsOf(launch.getInputs()[1]) *
           filterVolume(launch.getOutputs().front());
  if (kernel == "nn.matmul" && launch.getInputs().size() >= 2) {
    ArrayRef<int64_t> a = shapeOf(launch.getInputs()[0]);
    bool isTransposed = launch.getParams() &&
                        launch.getParamsAttr().get("transpose_a") != nullptr;
    if (a.empty())
      return result;
    int64_t depth = a.size() >= 2 && isTransposed ? a[a.size() - 2] : a.back();
    return 2 * result * double(depth);
  }
  return result;
}

double bytesOf(spmd::LaunchOp launch) {
  double bytes = 0;
  for (Value input : launch.getInputs())
    bytes += bytesOf(input);
  for (Value output : launch.getOutputs())
    bytes += bytesOf(output);
  return bytes;
}

Placement placementOf(ArrayRef<int64_t> sizes, ArrayRef<int64_t> axes,
                      int64_t devices) {
  int64_t all = 1;
  for (int64_t size : sizes)
    all *= size;
  // Members of the group of rank 0 that lie on the first node.
  Placement place;
  SmallVector<int64_t> members = {0};
  for (int64_t axis : axes) {
    place.ranks *= sizes[axis];
    int64_t stride = 1;
    for (size_t i = axis + 1; i < sizes.size(); ++i)
      stride *= sizes[i];
    SmallVector<int64_t> more;
    for (int64_t member : members)
      for (int64_t k = 0; k < sizes[axis]; ++k)
        if (member + k * stride < devices)
          more.push_back(member + k * stride);
    members = more;
  }
  place.perNode = std::max<int64_t>(members.size(), 1);
  place.groupsPerNode =
      std::max<int64_t>(std::min(devices, all) / place.perNode, 1);
  return place;
}

std::vector<SimClass> simulationOf(ModuleOp module, const Machine &machine) {
  std::vector<SimClass> classes;
  auto grid = module->getAttrOfType<dist::GridAttr>(dist::kGridAttr);
  for (auto classOp : module.getOps<spmd::ClassOp>()) {
    SimClass made;
    made.name = classOp.getSymName().str();
    made.ranks = int64_t(classOp.getRanks().size());
    for (auto function : module.getOps<func::FuncOp>()) {
      auto symbol =
          function->getAttrOfType<FlatSymbolRefAttr>(spmd::kClassAttr);
      auto phase = function->getAttrOfType<StringAttr>(spmd::kPhaseAttr);
      if (symbol && symbol.getValue() == classOp.getSymName() && phase &&
          phase.getValue() == "step")
        made.step = ClassCost(classOp, grid, machine).actionsOf(function);
    }
    classes.push_back(std::move(made));
  }
  return classes;
}

} // namespace partita::cost
