//===- Frontend.cpp - Options and import shared by subcommands ------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of model options, and reading a model of either form.
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/IR/NNOps.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/Plan/SplitText.h"
#include "passes/Plan/SyncText.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <limits>

using namespace mlir;
using namespace partita;
using namespace partita::driver;

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::max();

/// NAME=N of --dim.
std::string addDim(StringRef given, nn::ImportOptions &options) {
  auto [name, size] = given.rsplit('=');
  int64_t parsed = 0;
  if (name.empty() || size.getAsInteger(10, parsed) || parsed < 1)
    return "NAME=N with a positive N, for example batch=64";
  options.dims[name.str()] = parsed;
  return "";
}

/// RULE or PATTERN=RULE of --init.
std::string addInit(StringRef given, nn::ImportOptions &options) {
  StringRef pattern, rule = given;
  if (given.contains('='))
    std::tie(pattern, rule) = given.rsplit('=');
  if (!nn::isInitRule(rule))
    return "RULE or PATTERN=RULE, where RULE is he_normal, he_uniform, "
           "xavier_normal, xavier_uniform, lecun_normal, normal:STD, "
           "uniform:A or zeros";
  if (pattern.empty())
    options.init = rule.str();
  else
    options.initPatterns.push_back({pattern.str(), rule.str()});
  return "";
}

/// Bytes with an optional K, M or G.
std::string parseBytes(StringRef given, int64_t &bytes) {
  int64_t unit = 1;
  if (given.consume_back("K"))
    unit = int64_t(1) << 10;
  else if (given.consume_back("M"))
    unit = int64_t(1) << 20;
  else if (given.consume_back("G"))
    unit = int64_t(1) << 30;
  int64_t count = 0;
  if (given.getAsInteger(10, count) || count < 1 || count > (1 << 20) * 1024)
    return "a positive number of bytes, for example 4M";
  bytes = count * unit;
  return "";
}

/// "RATE" or "RATE,LATENCY": 100mbit, 10gbit,20us.
std::string parseNetwork(StringRef given, PipelineOptions &pipeline) {
  constexpr const char *kExpected =
      "a rate, and maybe a latency: 100mbit, 10gbit,20us";
  auto number = [](StringRef text, double unit, double &value) {
    return !text.getAsDouble(value) && (value *= unit) > 0 && value < 1e15;
  };
  auto [rate, latency] = given.split(',');
  double perSecond = pipeline.linkBytesPerSecond;
  double seconds = pipeline.linkLatency;
  bool isRate = rate.consume_back("kbit")   ? number(rate, 125, perSecond)
                : rate.consume_back("mbit") ? number(rate, 125e3, perSecond)
                : rate.consume_back("gbit") ? number(rate, 125e6, perSecond)
                                            : false;
  bool isLatency =
      !given.contains(',') ||
      (latency.consume_back("us")   ? number(latency, 1e-6, seconds)
       : latency.consume_back("ms") ? number(latency, 1e-3, seconds)
                                    : false);
  if (!isRate || !isLatency)
    return kExpected;
  pipeline.linkBytesPerSecond = perSecond;
  pipeline.linkLatency = seconds;
  return "";
}

std::string readMachineFile(StringRef path,
                            std::optional<cost::Machine> &machine) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return "a machine file (" + buffer.getError().message() + ")";
  std::string error;
  machine = cost::readMachine((*buffer)->getBuffer(), path, error);
  return machine ? "" : "a machine file; " + error;
}

Phase phaseOf(ModuleOp module) {
  for (auto classOp : module.getOps<spmd::ClassOp>())
    return classOp.getArenaBytes() ? Phase::schedule : Phase::spmd;
  if (module->hasAttr(dist::kGridAttr))
    return Phase::plan;
  if (module.lookupSymbol<func::FuncOp>("step"))
    return Phase::train;
  return Phase::import;
}

} // namespace

static void addSwitch(Arguments &arguments, StringRef name, StringRef help,
                      bool &value) {
  arguments.custom({name.str(), "on|off", help.str(),
                    [&value](StringRef given) -> std::string {
                      value = given == "on";
                      return given == "on" || given == "off" ? "" : "on|off";
                    }});
}

void partita::driver::addModelOptions(Arguments &arguments,
                                      ModelOptions &options) {
  PipelineOptions &pipeline = options.pipeline;
  nn::ImportOptions &import = options.import;
  arguments.heading("Model");
  arguments.integer("--batch", "N",
                    "samples per step over all ranks (default: what the file "
                    "says; needed when it leaves the batch open)",
                    options.batch, 1);
  arguments.custom(
      {"--dim", "NAME=N", "size of a symbolic dimension; may be repeated",
       [&import](StringRef given) { return addDim(given, import); }});
  arguments.toggle("--train-constants",
                   "train floating-point Constant and ConstantOfShape nodes",
                   import.trainConstants);
  arguments.custom(
      {"--init", "[PATTERN=]RULE",
       "draw initial values in place of the file's: he_normal, "
       "he_uniform, xavier_normal, xavier_uniform, lecun_normal, "
       "normal:STD, uniform:A, zeros; may be repeated",
       [&import](StringRef given) { return addInit(given, import); }});
  arguments.integer("--seed", "N", "seed of --init (default 0)", import.seed,
                    0);
  arguments.choice("--batch-norm", {"global", "local", "frozen", "file"},
                   "statistics of BatchNormalization: of the global batch, of "
                   "each rank's part, or the running ones; default: global "
                   "for nodes in training mode, frozen for the others",
                   options.batchNorm);
  arguments.choice("--dropout", {"file", "training", "off"},
                   "Dropout nodes: as the file says (default), all, or none",
                   options.dropout);
  arguments.heading("Training");
  arguments.custom({"--loss", "cross_entropy|mse|output:NAME",
                    "loss over the model's output (default cross_entropy with "
                    "integer labels), or an output that is the loss",
                    [&pipeline](StringRef given) -> std::string {
                      if (given != "cross_entropy" && given != "mse" &&
                          !(given.starts_with("output:") && given.size() > 7))
                        return "cross_entropy, mse or output:NAME";
                      pipeline.loss = given.str();
                      return "";
                    }});
  arguments.text("--output", "NAME",
                 "the output the loss is taken of (default: the first)",
                 pipeline.output);
  arguments.custom({"--class-axis", "N",
                    "class dimension of cross_entropy (default 1; negative "
                    "counts from the end)",
                    [&pipeline](StringRef given) -> std::string {
                      return given.getAsInteger(10, pipeline.classAxis)
                                 ? "an integer"
                                 : "";
                    }});
  arguments.choice("--optimizer", {"sgd", "adam", "adamw"}, "default sgd",
                   pipeline.optimizer);
  arguments.number("--lr", "X",
                   "default learning rate of the program (default 0.01)",
                   pipeline.lr, 0.0, kNoLimit);
  arguments.number("--momentum", "X", "momentum of sgd (default 0)",
                   pipeline.momentum, 0.0, 0.999999);
  arguments.toggle("--nesterov", "Nesterov momentum", pipeline.nesterov);
  arguments.number("--weight-decay", "X", "weight decay (default 0)",
                   pipeline.weightDecay, 0.0, kNoLimit);
  arguments.number("--beta1", "X", "Adam's decay rates (default 0.9)",
                   pipeline.beta1, 0.0, 0.999999);
  arguments.number("--beta2", "X", "(default 0.999)", pipeline.beta2, 0.0,
                   0.99999999);
  arguments.number("--eps", "X", "Adam's epsilon (default 1e-8)", pipeline.eps,
                   1e-30, 1.0);
  arguments.heading("Parallel execution");
  arguments.integer("--ranks", "N",
                    "processes that train together (default: as the grid "
                    "says, else 1); without a grid each takes a part of the "
                    "batch",
                    pipeline.ranks, 1);
  arguments.text("--grid", "GRID",
                 "the processes as a grid: named axes (pr=2,pc=2), or a "
                 "shorthand that also splits the heavy layers: 4:batch, "
                 "4:model, 4:domain; for Pr x Pc processes 2x2:model+batch "
                 "(default of RxC), 2x2:domain+batch, 2x2:paper "
                 "(convolutions as domain+batch, products as model+batch)",
                 pipeline.grid);
  arguments.custom({"--split", "PATTERN=SPLIT",
                    "how layers are split: ONNX node names (with * and ?), "
                    "then what over which axes, for example "
                    "'conv*=batch:pc,domain.h:pr' or 'fc*=model:pr,batch:pc'; "
                    "may be repeated, later ones win; see below",
                    [&pipeline](StringRef given) -> std::string {
                      pipeline.splits.push_back(given.str());
                      return "";
                    }});
  arguments.text("--plan", "FILE",
                 "a plan file (JSON, as --emit=plan-file writes it) with the "
                 "grid and the split of every layer; --grid and --split win",
                 pipeline.planFile);
  arguments.custom({"--sync", "[PATTERN=]METHOD",
                    "how gradients are combined: parameters or ONNX nodes "
                    "(with * and ?), then all_reduce, all_reduce:ALGORITHM "
                    "(direct, ring, tree, hierarchical), parameter_server or "
                    "factor_broadcast, for example 'fc*=factor_broadcast'; "
                    "poseidon chooses for each layer by that paper's rule; may "
                    "be repeated, later ones win",
                    [&pipeline](StringRef given) -> std::string {
                      pipeline.syncs.push_back(given.str());
                      return "";
                    }});
  arguments.integer("--servers", "N",
                    "processes beside those of --ranks or the grid that own "
                    "the parameters of parameter_server, and do nothing else; "
                    "the program then runs on both together (default: the "
                    "processes that train own them)",
                    pipeline.servers, 1);
  arguments.custom({"--bucket-size", "BYTES",
                    "gradients are sent in buckets of about this size "
                    "(default: an eighth of them all, from 64K to 4M)",
                    [&pipeline](StringRef given) {
                      return parseBytes(given, pipeline.bucketBytes);
                    }});
  arguments.custom({"--network", "RATE[,LATENCY]",
                    "what the link of a rank carries, for example 100mbit or "
                    "10gbit,20us; decides which calls go first (default 1gbit)",
                    [&options, &pipeline](StringRef given) {
                      options.hasNetwork = true;
                      return parseNetwork(given, pipeline);
                    }});
  arguments.custom({"--machine", "FILE",
                    "the cluster as a machine file (partita machines explains "
                    "it): its links and devices decide which calls go first, "
                    "and what does not fit is refused",
                    [&options](StringRef given) {
                      return readMachineFile(given, options.machine);
                    }});
  addSwitch(arguments, "--overlap",
            "communicate while kernels compute; off: everything waits for "
            "every call (default on)",
            pipeline.overlap);
  addSwitch(arguments, "--priorities",
            "of what is ready to be sent, send first what the next step needs "
            "first; off: what was ready first (default on)",
            pipeline.priorities);
  addSwitch(arguments, "--overlap-steps",
            "let gradients and parameters travel while the next step's forward "
            "pass computes what it has (default on)",
            pipeline.overlapSteps);
  addSwitch(arguments, "--overlap-halos",
            "compute what needs no neighbour's rows while these arrive; "
            "off: a layer waits for all it reads (default on)",
            pipeline.overlapHalos);
}

std::string partita::driver::finishModelOptions(ModelOptions &options) {
  options.import.batch = options.batch;
  options.import.batchNorm = nn::symbolizeBatchNormMode(options.batchNorm);
  options.import.dropout = options.dropout == "training"
                               ? nn::DropoutMode::training
                           : options.dropout == "off" ? nn::DropoutMode::off
                                                      : nn::DropoutMode::asFile;
  const PipelineOptions &pipeline = options.pipeline;
  bool isSgd = pipeline.optimizer == "sgd";
  if (!isSgd && (pipeline.momentum != 0.0 || pipeline.nesterov))
    return "--momentum and --nesterov belong to --optimizer sgd; " +
           pipeline.optimizer + " has --beta1 and --beta2";
  if (pipeline.nesterov && pipeline.momentum == 0.0)
    return "--nesterov needs --momentum, for example --momentum 0.9";
  std::string error;
  if (!pipeline.grid.empty() &&
      !plan::parseGrid(pipeline.grid, pipeline.ranks, error))
    return "option --grid: " + error;
  for (const std::string &split : pipeline.splits)
    if (!plan::parseSplitRule(split, error))
      return "option --split: " + error;
  for (const std::string &sync : pipeline.syncs)
    if (!plan::parseSyncRule(sync, error))
      return "option --sync: " + error;
  if (!pipeline.splits.empty() && pipeline.grid.empty() &&
      pipeline.planFile.empty() && pipeline.ranks == 0)
    return "--split needs a grid to split over; give --grid such as pr=2,pc=2, "
           "or --ranks N with the one axis 'data'";
  return "";
}

std::unique_ptr<MLIRContext> partita::driver::makeContext() {
  DialectRegistry registry;
  registerAllPartitaDialects(registry);
  // Two cores train better than they wait for threads of a small compiler.
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

Model partita::driver::readModel(MLIRContext &context, StringRef path,
                                 const ModelOptions &options) {
  Model model;
  if (!path.ends_with(".mlir")) {
    model.module = nn::importOnnx(context, path, options.import, model.report);
    return model;
  }
  if (!llvm::sys::fs::exists(path)) {
    emitError(FileLineColLoc::get(&context, path, 0, 0))
        << "there is no such file";
    return model;
  }
  model.module = parseSourceFile<ModuleOp>(path, ParserConfig(&context));
  if (model.module)
    model.phase = phaseOf(*model.module);
  return model;
}

std::pair<int64_t, int64_t> partita::driver::countParameters(ModuleOp module) {
  int64_t elements = 0, count = 0;
  for (auto variable : module.getOps<nn::VariableOp>())
    if (variable.getRole() == nn::Role::parameter) {
      elements += variable.getTensorType().getNumElements();
      ++count;
    }
  return {elements, count};
}
