//===- TablePrinter.cpp - The tables of an emitted program ----------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables are calls of small functions: they compile fast and read as rows.
//
//===----------------------------------------------------------------------===//

#include "codegen/Program/TablePrinter.h"
#include "codegen/Emit/ScalarCode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace partita::codegen {

namespace {

std::string braces(ArrayRef<int64_t> values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "{" + text + "}";
}

constexpr StringRef kTensor =
    R"(using Numbers = std::initializer_list<std::int64_t>;

/// A tensor of the tables below; one offset stands for all rank classes.
Tensor tensor(const Program &p, const char *name, DType type, Numbers dims,
              Numbers offsets, std::vector<Split> splits = {}) {
  Tensor t;
  t.name = name;
  t.type = type;
  t.dims = dims;
  t.splits = std::move(splits);
  t.offsets = offsets;
  t.offsets.resize(p.arenaBytes.size(), t.offsets.front());
  return t;
}

)";

constexpr StringRef kAddInput =
    R"(void addInput(Program &p, Tensor t, bool isLabel, std::int64_t limit) {
  Input row;
  row.tensor = std::move(t);
  row.isLabel = isLabel;
  row.limit = limit;
  p.inputs.push_back(std::move(row));
}

)";

constexpr StringRef kAddVariable =
    R"(void addVariable(Program &p, Role role, std::optional<double> fill, Tensor t) {
  Variable row;
  row.tensor = std::move(t);
  row.role = role;
  row.fill = fill;
  p.variables.push_back(std::move(row));
}

)";

} // namespace

/// Whether a phase waits for what its previous execution has issued.
static bool overlapsSteps(const Schedule &schedule) {
  for (const Group &group : schedule.groups)
    for (const Phase &phase : group.phases)
      for (const Action &action : phase.actions)
        if (isa<spmd::WaitOp>(action.op()) && action.op()->hasAttr("previous"))
          return true;
  return false;
}

static bool hasBuffer(const Schedule &schedule, StringRef name) {
  for (const Group &group : schedule.groups)
    for (const Phase &phase : group.phases)
      for (const Buffer &buffer : phase.buffers)
        if (buffer.purpose() == spmd::Purpose::variable &&
            buffer.name() == name)
          return true;
  return false;
}

FailureOr<std::vector<ProgramVariable>>
programVariables(const Schedule &schedule) {
  std::vector<ProgramVariable> result;
  ModuleOp module = schedule.module;
  for (auto op : module.getOps<nn::VariableOp>()) {
    if (!hasBuffer(schedule, op.getSymName()))
      continue;
    ProgramVariable variable{op, std::nullopt};
    Type type = op.getTensorType().getElementType();
    if (dtypeName(type).empty())
      return op.emitError() << "elements of type " << type
                            << " cannot be kept by emitted programs";
    if (auto dense = dyn_cast<DenseElementsAttr>(op.getInitial());
        dense && dense.isSplat()) {
      if (isa<FloatType>(type)) {
        APFloat value = dense.getSplatValue<APFloat>();
        bool lost;
        value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                      &lost);
        variable.fill = value.convertToDouble();
      } else {
        APInt value = dense.getSplatValue<APInt>();
        variable.fill = static_cast<double>(type.isInteger(1)
                                                ? int64_t(value.getZExtValue())
                                                : value.getSExtValue());
      }
    }
    result.push_back(variable);
  }
  return result;
}

/// The whole tensor a buffer is a part of.
static RankedTensorType wholeType(spmd::BufferOp op) {
  if (op.getGlobal())
    if (auto type = dyn_cast<RankedTensorType>(*op.getGlobal()))
      return type;
  auto type = cast<MemRefType>(op.getBuffer().getType());
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

static dist::LayoutAttr layoutOf(spmd::BufferOp op) {
  return dyn_cast_or_null<dist::LayoutAttr>(
      op.getLayout().value_or(Attribute()));
}

LogicalResult TablePrinter::collect() {
  size_t classes = schedule.classes.size();
  auto note = [&](Place &place, const Buffer &buffer, const Group &group,
                  StringRef phase) -> LogicalResult {
    if (!place.op) {
      place.op = buffer.op();
      place.offsets.assign(classes, -1);
    }
    for (auto [c, offset] : llvm::zip_equal(group.classes, buffer.offset)) {
      if (place.offsets[c] != -1 && place.offsets[c] != offset)
        return buffer.op().emitError()
               << stringifyPurpose(buffer.purpose()) << " '" << buffer.name()
               << "' lies at offset " << offset << " in phase '" << phase
               << "' and at " << place.offsets[c] << " in another";
      place.offsets[c] = offset;
    }
    return success();
  };
  auto find = [](std::vector<Place> &list, StringRef name) -> Place & {
    for (Place &place : list)
      if (place.op.getName() == name)
        return place;
    return list.emplace_back();
  };
  for (const Group &group : schedule.groups) {
    if (schedule.isServers(group)) {
      collectServed(group);
      continue;
    }
    for (const Phase &phase : group.phases)
      for (const Buffer &buffer : phase.buffers) {
        Place *place = nullptr;
        switch (buffer.purpose()) {
        case spmd::Purpose::input:
          place = &find(inputs, buffer.name());
          break;
        case spmd::Purpose::gradient:
          place = &find(gradients, buffer.name());
          break;
        case spmd::Purpose::variable:
          place = &variables[buffer.name()];
          break;
        case spmd::Purpose::result: {
          auto it = llvm::find_if(results, [&](auto &entry) {
            return entry.first == phase.name &&
                   entry.second.op.getName() == buffer.name();
          });
          if (it == results.end()) {
            results.push_back({phase.name, {}});
            it = std::prev(results.end());
          }
          place = &it->second;
          break;
        }
        case spmd::Purpose::bucket:
        case spmd::Purpose::temporary:
          continue;
        }
        if (failed(note(*place, buffer, group, phase.name)))
          return failure();
      }
  }
  // The runtime asks every rank for every tensor, each element of which is on
  // one rank or is the same on several.
  auto check = [&](const Place &place) -> LogicalResult {
    spmd::ClassOp missing;
    for (auto [classOp, offset] :
         llvm::zip_equal(schedule.classes, place.offsets))
      if (offset == -1 && !missing && !classOp->hasAttr(spmd::kServersAttr))
        missing = classOp;
    spmd::BufferOp op = place.op;
    for (const Cut &cut :
         cutsOf(schedule.grid, layoutOf(op), wholeType(op).getShape()))
      if (!cut.axes.empty() && !cut.isTiling())
        return op.emitError()
               << stringifyPurpose(op.getPurpose()) << " '" << op.getName()
               << "' is cut into parts that overlap or leave gaps in layout "
               << layoutOf(op)
               << "; only values inside a step may lie so, move it to "
                  "another layout first";
    if (!missing)
      return success();
    return op.emitError() << stringifyPurpose(op.getPurpose()) << " '"
                          << op.getName() << "' has no buffer in class '"
                          << missing.getSymName() << "'";
  };
  for (const Place &place : inputs)
    if (failed(check(place)))
      return failure();
  for (const Place &place : gradients)
    if (failed(check(place)))
      return failure();
  for (const auto &[phase, place] : results)
    if (failed(check(place)))
      return failure();
  ModuleOp module = schedule.module;
  for (auto op : module.getOps<nn::VariableOp>())
    if (auto it = variables.find(op.getSymName()); it != variables.end())
      if (failed(check(it->second)))
        return failure();
  // What only servers have, the state of what they own.
  for (auto &[name, served] : servedVariables) {
    Place &place = variables[name];
    if (place.op)
      continue;
    place.op = served.op;
    place.offsets.assign(classes, -1);
  }
  return success();
}

void TablePrinter::collectServed(const Group &group) {
  for (const Phase &phase : group.phases)
    for (const Buffer &buffer : phase.buffers) {
      if (buffer.purpose() != spmd::Purpose::variable)
        continue;
      Served &served = servedVariables[buffer.name().str()];
      served.op = buffer.op();
      served.offsets.resize(schedule.classes.size());
      for (auto [c, offset] : llvm::zip_equal(group.classes, buffer.offset))
        served.offsets[c].push_back(offset);
    }
}

void TablePrinter::printServed(raw_ostream &os) const {
  if (schedule.servers == 0)
    return;
  os << "\n  // What servers own: variable, axes of their groups, and where it "
        "lies for\n  // each group that they serve, per rank class.\n";
  ModuleOp module = schedule.module;
  for (auto op : module.getOps<nn::VariableOp>()) {
    auto it = servedVariables.find(op.getSymName().str());
    if (it == servedVariables.end())
      continue;
    std::vector<int64_t> axes;
    spmd::BufferOp buffer = it->second.op;
    if (auto list = buffer->getAttrOfType<ArrayAttr>(spmd::kAxesAttr))
      for (auto axis : list.getAsRange<StringAttr>())
        axes.push_back(schedule.grid.findAxis(axis.getValue()));
    std::string offsets;
    for (const std::vector<int64_t> &each : it->second.offsets)
      offsets += (offsets.empty() ? "" : ", ") + braces(each);
    printList(
        os, "  p.served.push_back({",
        {stringLiteral(op.getSymName()), braces(axes), "{" + offsets + "}"},
        "});", 6);
  }
}

std::string TablePrinter::tensorArguments(const Place &place,
                                          StringRef tensorName,
                                          RankedTensorType type,
                                          dist::LayoutAttr layout) {
  std::string offsets = llvm::all_equal(place.offsets)
                            ? braces(place.offsets.front())
                            : braces(place.offsets);
  std::string text = "tensor(p, " + stringLiteral(tensorName) +
                     ", DType::" + dtypeName(type.getElementType()).str() +
                     ", " + braces(type.getShape()) + ", " + offsets;
  std::string list =
      splits.list(cutsOf(schedule.grid, layout, type.getShape()));
  return text + (list.empty() ? "" : ", {" + list + "}") + ")";
}

void TablePrinter::printRow(raw_ostream &os, StringRef head,
                            const Place &place) {
  spmd::BufferOp op = place.op;
  std::string text =
      tensorArguments(place, op.getName(), wholeType(op), layoutOf(op));
  printList(os, head, {text}, head.ends_with("(") ? ");" : ";", 6);
}

LogicalResult TablePrinter::print(raw_ostream &os) {
  if (failed(collect()))
    return failure();
  FailureOr<std::vector<ProgramVariable>> rows = programVariables(schedule);
  if (failed(rows))
    return failure();
  ModuleOp module = schedule.module;
  auto text = [&](StringRef attribute, StringRef fallback) {
    auto value = module->getAttrOfType<StringAttr>(attribute);
    return value ? value.getValue() : fallback;
  };
  auto batch = module->getAttrOfType<IntegerAttr>("partita.batch");
  if (!batch)
    return module.emitError("has no attribute partita.batch; schedule the "
                            "module before emitting it");

  os << kTensor;
  if (!inputs.empty())
    os << kAddInput;
  if (!rows->empty())
    os << kAddVariable;
  os << "/// What the runtime knows of this program.\n"
     << "void describe(Program &p) {\n"
     << "  p.name = " << stringLiteral(name) << ";\n"
     << "  p.target = " << stringLiteral(target) << ";\n";
  std::vector<std::string> axes;
  for (auto [axis, size] :
       llvm::zip_equal(schedule.grid.getAxes(), schedule.grid.getSizes()))
    axes.push_back("{" + stringLiteral(axis.getValue()) + ", " +
                   std::to_string(size) + "}");
  printList(os, "  p.grid = {", axes, "};", 12);
  if (schedule.servers > 0)
    os << "  p.servers = " << schedule.servers << ";\n";
  os << "  p.globalBatch = " << batch.getInt() << ";\n";
  std::vector<std::string> numbers;
  for (int c : schedule.classOfRank)
    numbers.push_back(std::to_string(c));
  printList(os, "  p.classOfRank = {", numbers, "};", 6);
  auto printBytes = [&](StringRef member, auto get) {
    std::vector<std::string> values;
    for (spmd::ClassOp op : schedule.classes)
      values.push_back(std::to_string(get(op)));
    printList(os, ("  p." + member + " = {").str(), values, "};", 6);
  };
  printBytes("arenaBytes",
             [](spmd::ClassOp op) { return *op.getArenaBytes(); });
  printBytes("persistentBytes", [](spmd::ClassOp op) {
    return op.getPersistentBytes().value_or(0);
  });
  if (StringRef hash = text("partita.model_hash", ""); !hash.empty())
    os << "  p.modelHash = " << stringLiteral(hash) << ";\n";
  if (overlapsSteps(schedule))
    os << "  p.overlapsSteps = true;\n";
  os << "  p.semantics = "
     << stringLiteral(text("partita.semantics", "exact up to reduction order"))
     << ";\n  p.hyper.optimizer = "
     << stringLiteral(text("partita.optimizer", "sgd")) << ";\n";
  if (auto lr = module->getAttrOfType<FloatAttr>("partita.lr"))
    os << "  p.hyper.lr = " << doubleLiteral(lr.getValueAsDouble()) << ";\n";

  os << "\n  // Inputs: tensor, whether it is a label, limit of its values.\n";
  for (const Place &place : inputs) {
    spmd::BufferOp op = place.op;
    auto limit = op->getAttrOfType<IntegerAttr>("limit");
    std::string tail = std::string(op->hasAttr("label") ? "true" : "false") +
                       ", " + std::to_string(limit ? limit.getInt() : 0);
    printList(
        os, "  addInput(p, ",
        {tensorArguments(place, op.getName(), wholeType(op), layoutOf(op)),
         tail},
        ");", 8);
  }
  os << "\n  // Variables: role, start value (none: in weights.safetensors), "
        "tensor.\n";
  for (ProgramVariable &row : *rows) {
    const Place &place = variables[row.op.getSymName()];
    spmd::BufferOp op = place.op;
    std::vector<std::string> args = {
        "p", "Role::" + stringifyRole(row.op.getRole()).str(),
        row.fill ? doubleLiteral(*row.fill) : "{}",
        tensorArguments(place, row.op.getSymName(), row.op.getTensorType(),
                        layoutOf(op))};
    printList(os, "  addVariable(", args, ");", 14);
  }
  printServed(os);
  if (!gradients.empty())
    os << "\n  // Gradients, under the names of their parameters.\n";
  ModuleOp top = schedule.module;
  for (const Place &place : gradients) {
    // A gradient is laid out as its parameter, whatever shape it is kept in.
    spmd::BufferOp op = place.op;
    auto owner = top.lookupSymbol<nn::VariableOp>(op.getName());
    auto it = variables.find(op.getName());
    if (!owner || it == variables.end())
      return op.emitError() << "gradient of '" << op.getName()
                            << "', which is no variable of the program";
    printList(os, "  p.gradients.push_back(",
              {tensorArguments(place, op.getName(), owner.getTensorType(),
                               layoutOf(it->second.op))},
              ");", 6);
  }
  os << "\n  // Results of step(), eval() and predict().\n";
  for (const auto &[phase, place] : results) {
    spmd::BufferOp op = place.op;
    if (phase == "step")
      printRow(os, "  p.loss = ", place);
    else if (phase == "predict")
      printRow(os, "  p.predictions.push_back(", place);
    else if (op.getName() == "losses")
      printRow(os, "  p.evalLoss = ", place);
    else if (op.getName() == "hits")
      printRow(os, "  p.evalCorrect = ", place);
    else
      return op.emitError() << "result '" << op.getName()
                            << "' of eval: expected losses or hits";
  }
  os << "}\n";
  return success();
}

} // namespace partita::codegen
