//===- Importer.cpp - The import of one model ------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Drives the import: checks support of all operators at once, builds the nodes
// in order, makes variables of weights, and counts that no node was lost.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Importer.h"

#include "dialects/NN/Import/OperatorTable.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mlir;

namespace partita::nn::importer {

/// The first names of a list.
static std::string listNames(ArrayRef<std::string> names) {
  constexpr size_t kShown = 8;
  std::string shown;
  raw_string_ostream stream(shown);
  llvm::interleaveComma(names.take_front(kShown), stream);
  if (names.size() > kShown)
    stream << ", ...";
  return shown;
}

StringRef modelNameOf(StringRef path) { return sys::path::stem(path); }

Importer::Importer(const ModelFile &file, const Graph &graph,
                   const ImportOptions &options, Reporter &reporter,
                   ImportReport &report)
    : file(file), graph(graph), options(options), reporter(reporter),
      builder(reporter.getContext()), report(report) {}

//===----------------------------------------------------------------------===//
// Values and variables
//===----------------------------------------------------------------------===//

std::shared_ptr<OnnxValue> Importer::lookup(StringRef name) {
  auto known = values.find(name);
  if (known != values.end())
    return known->second;
  const onnx::TensorProto *tensor = graph.getInitializer(name);
  if (!tensor)
    return nullptr;
  auto value = std::make_shared<OnnxValue>();
  value->name = name.str();
  value->origin = "an initializer";
  value->tensor = tensor;
  Expected<RankedTensorType> type = file.getType(*tensor);
  if (!type) {
    reporter.error("initializer " + quote(name) + ": " +
                   toString(type.takeError()));
    value = nullptr;
  } else {
    value->type = *type;
    // Rank-0 initializers are parts of formulas (an epsilon, a scale) that an
    // exporter happened to write as initializers.
    value->trainable = isa<FloatType>(type->getElementType()) &&
                       (type->getRank() > 0 || options.trainConstants);
  }
  values[name] = value;
  return value;
}

void Importer::define(StringRef name, std::shared_ptr<OnnxValue> value) {
  values[name] = std::move(value);
}

const Constant *Importer::evaluate(OnnxValue &value) {
  if (value.constant || !value.tensor)
    return value.constant.get();
  Expected<Constant> constant = file.getConstant(*value.tensor);
  if (!constant) {
    reporter.error("tensor " + quote(value.name) + ": " +
                   toString(constant.takeError()));
    return nullptr;
  }
  value.constant = std::make_shared<const Constant>(std::move(*constant));
  return value.constant.get();
}

Value Importer::readVariable(const OnnxValue &value, StringRef symbol,
                             Role role, Purpose purpose) {
  if (Value read = reads.lookup(symbol))
    return read;
  Attribute initial;
  if (value.tensor) {
    Expected<Attribute> data = file.getInitialValue(*value.tensor);
    if (!data) {
      reporter.error("tensor " + quote(value.name) + ": " +
                     toString(data.takeError()));
      return Value();
    }
    initial = *data;
  } else {
    initial = value.constant->toAttribute();
  }
  Location loc = NameLoc::get(builder.getStringAttr(value.name));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(function);
  auto variable =
      builder.create<VariableOp>(loc, symbol, role, value.type, initial);
  variableIndex[symbol] = variables.size();
  variables.push_back({variable, purpose});
  if (lastRead)
    builder.setInsertionPointAfter(lastRead);
  else
    builder.setInsertionPointToStart(&function.getBody().front());
  auto read = builder.create<ReadOp>(loc, value.type, symbol);
  lastRead = read;
  reads[symbol] = read;
  return read;
}

Value Importer::materialize(OnnxValue &value, Purpose purpose, Location loc) {
  if (value.type.getElementType().isUnsignedInteger()) {
    reporter.error("tensor " + quote(value.name) + " from " + value.origin +
                   " has unsigned elements where a value of the training "
                   "program is needed, expected signed ones; export the model "
                   "with a conversion before it");
    return Value();
  }
  if (value.value) {
    // The first reader that knows more than `other` decides.
    auto known = variableIndex.find(value.name);
    if (known != variableIndex.end() &&
        variables[known->second].purpose == Purpose::other)
      variables[known->second].purpose = purpose;
    return value.value;
  }
  if (!value.trainable) {
    bool isSplat = value.constant && value.constant->isSplat();
    if (isSplat || value.type.getNumElements() <= kConstantLimit) {
      const Constant *constant = evaluate(value);
      if (!constant)
        return Value();
      value.value = builder.create<ConstantOp>(loc, constant->toAttribute());
      return value.value;
    }
  }
  value.value =
      readVariable(value, value.name,
                   value.trainable ? Role::parameter : Role::constant, purpose);
  return value.value;
}

//===----------------------------------------------------------------------===//
// The phases of an import
//===----------------------------------------------------------------------===//

bool Importer::checkSupport() {
  int64_t before = reporter.count();
  for (const GraphNode &node : graph.getNodes()) {
    StringRef domain = canonicalDomain(node.proto->domain());
    StringRef opType = node.proto->op_type();
    if (!domain.empty()) {
      StringRef advice =
          domain == "com.microsoft"
              ? "the model was optimised for inference with onnxruntime; "
                "export it without optimisation"
              : "only the standard domain ai.onnx and the model's own "
                "functions are known";
      reporter.error("unsupported op " + domain + "::" + opType + " (node " +
                     node.name + "); " + advice);
      continue;
    }
    if (node.opset == 0) {
      reporter.error(node.describe() +
                     ": the model imports no opset of the standard "
                     "domain");
      continue;
    }
    const Operator *op = findOperator(opType, node.opset);
    if (!op) {
      StringRef advice = adviceFor(opType);
      reporter.error("unsupported op " + opType + " (node " + node.name +
                     ") at opset " + Twine(node.opset) +
                     (advice.empty() ? "" : "; ") + advice);
      continue;
    }
    unsigned inputs = node.proto->input_size();
    unsigned outputs = node.proto->output_size();
    for (unsigned i = 0; i < op->minInputs; ++i)
      if (i >= inputs || node.proto->input(i).empty())
        reporter.error(node.describe() + ": input " + Twine(i) + " is missing");
    if (inputs > op->maxInputs)
      reporter.error(node.describe() + ": " + Twine(inputs) +
                     " inputs, expected at most " + Twine(op->maxInputs));
    if (outputs > op->maxOutputs)
      reporter.error(node.describe() + ": " + Twine(outputs) +
                     " outputs, expected at most " + Twine(op->maxOutputs));
  }
  return reporter.count() == before;
}

void Importer::createFunction() {
  SmallVector<Type> types;
  for (const DataInput &input : data.inputs)
    types.push_back(input.type);
  builder.setInsertionPointToEnd(module->getBody());
  function = builder.create<func::FuncOp>(
      NameLoc::get(builder.getStringAttr(modelNameOf(*module->getName()))),
      "forward", builder.getFunctionType(types, {}));
  Block *body = function.addEntryBlock();
  for (auto [index, input] : llvm::enumerate(data.inputs)) {
    const std::string &name = input.proto->name();
    function.setArgAttr(index, "nn.name", builder.getStringAttr(name));
    if (input.hasBatch)
      function.setArgAttr(index, "nn.batch_dim", builder.getI64IntegerAttr(0));
    auto value = std::make_shared<OnnxValue>();
    value->name = name;
    value->type = input.type;
    value->origin = "the model's inputs";
    value->value = body->getArgument(index);
    define(name, std::move(value));
  }
  builder.setInsertionPointToEnd(body);
}

void Importer::importNode(const GraphNode &node) {
  NodeContext context(*this, node);
  for (const std::string &input : node.proto->input()) {
    // A node before this one failed and has said why.
    if (!input.empty() && !lookup(input))
      return;
  }
  const Operator *op = findOperator(node.proto->op_type(), node.opset);
  bool built = succeeded(op->build(context)) && !context.hasFailed();
  if (!built)
    return;
  if (std::string name = context.unreadAttribute(); !name.empty()) {
    (void)context.error("unknown attribute " + quote(name));
    return;
  }
  for (unsigned i = 0, e = context.numOutputs(); i < e; ++i)
    if (context.wants(i) && !lookup(node.proto->output(i))) {
      (void)context.error("result " + quote(node.proto->output(i)) +
                          " is not available in a training program");
      return;
    }
  ++(context.isRepresented() ? report.represented : report.folded);
}

void Importer::finishFunction() {
  SmallVector<Value> results;
  SmallVector<StringRef> names;
  for (const onnx::ValueInfoProto *output : graph.getOutputs()) {
    const std::string &name = output->name();
    if (statisticResults.contains(name)) {
      reporter.finding("output " + quote(name) +
                       " is an updated running statistic; the training step "
                       "updates it in place, so it is no output here");
      continue;
    }
    std::shared_ptr<OnnxValue> value = lookup(name);
    Location loc = NameLoc::get(builder.getStringAttr(name));
    if (!value)
      return;
    Value result = materialize(*value, Purpose::other, loc);
    if (!result)
      return;
    results.push_back(result);
    names.push_back(name);
  }
  builder.create<func::ReturnOp>(NameLoc::get(builder.getStringAttr("outputs")),
                                 results);
  function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                           ValueRange(results).getTypes()));
  for (auto [index, name] : llvm::enumerate(names))
    function.setResultAttr(index, "nn.name", builder.getStringAttr(name));
  limitInputs(function);
}

void Importer::demoteUntrained() {
  // A parameter is trained only where floating-point values lead from it to an
  // output.
  SmallVector<Operation *> pending = {
      function.getBody().front().getTerminator()};
  llvm::DenseSet<Operation *> reached;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    for (Value operand : op->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (definition && isa<FloatType>(tensorType(operand).getElementType()) &&
          reached.insert(definition).second)
        pending.push_back(definition);
    }
  }
  for (Variable &variable : variables) {
    if (variable.op.getRole() != Role::parameter)
      continue;
    StringRef name = variable.op.getSymName();
    if (reached.contains(reads.lookup(name).getDefiningOp())) {
      report.parameters.push_back(name.str());
      continue;
    }
    variable.op.setRole(Role::constant);
    reporter.finding("weight " + quote(name) +
                     " reaches no output by floating-point values and is not "
                     "trained");
  }
}

void Importer::writeFindings() {
  for (const auto &[opType, nodes] : inferenceNodes) {
    std::string shown = listNames(nodes);
    if (opType == "BatchNormalization")
      reporter.finding(
          Twine(nodes.size()) +
          " BatchNormalization nodes were exported for inference: their "
          "running statistics stay frozen; --batch-norm=global trains with "
          "the statistics of the batch (" +
          shown + ")");
    else
      reporter.finding(Twine(nodes.size()) +
                       " Dropout nodes were exported for inference and drop "
                       "nothing; --dropout=training turns them on (" +
                       shown + ")");
  }
  // PyTorch's exporter numbers the weights that it made itself.
  std::vector<std::string> folded;
  for (Variable &variable : variables)
    if (variable.op.getSymName().starts_with("onnx::Conv_"))
      folded.push_back(variable.op.getSymName().str());
  if (!folded.empty())
    reporter.finding(Twine(folded.size()) +
                     " weights were made by the exporter, which folds "
                     "BatchNormalization into convolutions when it exports "
                     "for inference; export with TrainingMode.TRAINING and "
                     "do_constant_folding=False to train these layers as they "
                     "were (" +
                     listNames(folded) + ")");
  if (data.replacedBatch != 0)
    reporter.finding("the file's fixed batch " + Twine(data.replacedBatch) +
                     " was replaced by " + Twine(data.batch));
  if (!rebatchedNodes.empty())
    reporter.finding("the targets of " + Twine(rebatchedNodes.size()) +
                     " Reshape nodes begin with the file's batch, which was "
                     "replaced there, too (" +
                     listNames(rebatchedNodes) + ")");
  for (const auto &entry : values) {
    const OnnxValue *value = entry.second.get();
    if (value && value->tensor && value->value && !value->trainable &&
        value->type.getRank() == 0 && graph.getInitializer(value->name) &&
        isa<FloatType>(value->type.getElementType()))
      constantScalars.insert(value->name);
  }
  for (const std::string &name : constantScalars)
    reporter.finding("initializer " + quote(name) +
                     " is a single number and is not trained; "
                     "--train-constants trains it");
}

OwningOpRef<ModuleOp> Importer::run(StringRef name) {
  report.nodes = graph.getNodeCount();
  report.folded =
      graph.getNodeCount() - static_cast<int64_t>(graph.getNodes().size());
  bool supported = checkSupport();
  data = resolveInputs(graph, options, reporter);
  if (!supported || reporter.failed())
    return nullptr;

  module = ModuleOp::create(NameLoc::get(builder.getStringAttr(name)), name);
  const onnx::ModelProto &model = file.getModel();
  (*module)->setAttr("nn.model", builder.getStringAttr(name));
  for (const onnx::OperatorSetIdProto &import : model.opset_import())
    if (canonicalDomain(import.domain()).empty())
      (*module)->setAttr("nn.opset",
                         builder.getI64IntegerAttr(import.version()));
  if (!model.producer_name().empty()) {
    std::string producer = model.producer_name();
    if (!model.producer_version().empty())
      producer += " " + model.producer_version();
    (*module)->setAttr("nn.producer", builder.getStringAttr(producer));
  }
  createFunction();
  for (const GraphNode &node : graph.getNodes())
    importNode(node);
  if (reporter.failed())
    return nullptr;
  finishFunction();
  if (reporter.failed())
    return nullptr;
  demoteUntrained();
  applyInitRules(variables, options, reporter);
  writeFindings();
  if (reporter.failed())
    return nullptr;
  if (report.represented + report.folded != report.nodes) {
    reporter.error(Twine(report.nodes) + " nodes, but " +
                   Twine(report.represented) + " are represented and " +
                   Twine(report.folded) + " folded");
    return nullptr;
  }
  // What the builders let through, the verifiers of nn refuse with the node's
  // location.
  if (failed(verify(*module)))
    return nullptr;
  return std::move(module);
}

} // namespace partita::nn::importer

namespace partita::nn {

OwningOpRef<ModuleOp> importOnnx(MLIRContext &context, StringRef path,
                                 const ImportOptions &options,
                                 ImportReport &report) {
  using namespace importer;
  context.loadDialect<NNDialect, func::FuncDialect>();
  report = ImportReport();
  Reporter reporter(&context, path, report.findings);
  Expected<std::unique_ptr<ModelFile>> file = ModelFile::open(path, &context);
  if (!file) {
    reporter.error(toString(file.takeError()));
    return nullptr;
  }
  Graph graph((*file)->getModel(), reporter);
  if (reporter.failed() && graph.getNodes().empty())
    return nullptr;
  return Importer(**file, graph, options, reporter, report)
      .run(modelNameOf(path));
}

} // namespace partita::nn
