//===- Options.cpp - The command line of an emitted program -----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table says for each option its name, what follows it, what it does and
// how --help explains it.
//
//===----------------------------------------------------------------------===//

#include "core/Options.h"

#include "core/Samples.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <functional>

using namespace partita;

namespace {

struct Option {
  const char *name;
  /// What follows the name in --help; null for a switch; "[=...]" where it may
  /// be left out.
  const char *argument;
  const char *help;
  /// Stores the argument.
  std::function<void(Options &, const std::string &)> store;

  bool needsArgument() const { return argument && *argument != '['; }
};

/// A group of options under one heading of --help.
struct OptionGroup {
  const char *heading;
  std::vector<Option> options;
};

[[noreturn]] void badValue(const std::string &option, const std::string &found,
                           const std::string &expected) {
  throw UsageError(option + ": found '" + found + "', expected " + expected);
}

std::int64_t wholeNumber(const char *option, const std::string &text,
                         std::int64_t least, std::int64_t most) {
  char *end = nullptr;
  errno = 0;
  long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || errno != 0 || value < least || value > most)
    badValue(option, text,
             "a whole number from " + std::to_string(least) +
                 (most < INT64_MAX ? " to " + std::to_string(most) : ""));
  return value;
}

double positiveNumber(const char *option, const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(value) || value < 0)
    badValue(option, text, "a number from 0");
  return value;
}

using Text = const std::string &;

std::vector<OptionGroup> optionTable() {
  constexpr std::int64_t any = INT64_MAX;
  return {
      {"Data",
       {{"--data", "DIR", "folder with one .npy file per model input",
         [](Options &o, Text t) { o.data = t; }},
        {"--synthetic", nullptr, "made-up samples, the same for the same seed",
         [](Options &o, Text) { o.synthetic = true; }},
        {"--no-shuffle", nullptr, "train the samples in the order of the files",
         [](Options &o, Text) { o.shuffle = false; }}}},
      {"Training",
       {{"--epochs", "N", "go N times through the data (default 1)",
         [](Options &o, Text t) {
           o.epochs = wholeNumber("--epochs", t, 0, any);
         }},
        {"--steps", "N", "stop after N steps",
         [](Options &o, Text t) {
           o.steps = wholeNumber("--steps", t, 0, any);
         }},
        {"--lr", "X", "learning rate",
         [](Options &o, Text t) { o.lr = positiveNumber("--lr", t); }},
        {"--seed", "N",
         "seed of sample order, dropout and synthetic data "
         "(default 0)",
         [](Options &o, Text t) {
           o.seed =
               static_cast<std::uint64_t>(wholeNumber("--seed", t, 0, any));
         }},
        {"--weights", "FILE", "start from these parameters (.safetensors)",
         [](Options &o, Text t) { o.weights = t; }}}},
      {"Ranks",
       {{"--ranks", "N",
         "number of ranks; must be what the program was "
         "compiled for",
         [](Options &o, Text t) {
           o.ranks = static_cast<int>(wholeNumber("--ranks", t, 1, 1 << 20));
         }},
        {"--threads", "N", "threads per rank (default: cores / ranks)",
         [](Options &o, Text t) {
           o.threads = static_cast<int>(wholeNumber("--threads", t, 1, 4096));
         }}}},
      {"After training, or without it",
       {{"--eval", nullptr, "print loss and accuracy on --data",
         [](Options &o, Text) { o.eval = true; }},
        {"--eval-data", "DIR", "evaluate and predict on this folder instead",
         [](Options &o, Text t) { o.evalData = t; }},
        {"--predict", "OUT",
         "write the model's outputs: OUT.npy, or a folder "
         "with one file each",
         [](Options &o, Text t) { o.predict = t; }},
        {"--save", "DIR", "write the parameters to DIR/parameters.safetensors",
         [](Options &o, Text t) { o.save = t; }}}},
      {"When something is wrong",
       {{"--watchdog", "SECONDS",
         "end the job when nothing moves for so long (default 60; 0: never)",
         [](Options &o, Text t) {
           o.watchdog = positiveNumber("--watchdog", t);
         }},
        {"--debug-collectives", "[=FILE]",
         "compare each collective with the certificate and across ranks",
         [](Options &o, Text t) {
           o.debugCollectives = true;
           o.certificate = t;
         }}}},
      {"Reports",
       {{"--metrics", "FILE", "write one JSON line per step to FILE",
         [](Options &o, Text t) { o.metrics = t; }},
        {"--grad-norm", nullptr,
         "add the norm of all gradients together to each line of --metrics",
         [](Options &o, Text) { o.gradientNorm = true; }},
        {"--dump-step", "FILE",
         "write the gradients of the first step "
         "(.safetensors)",
         [](Options &o, Text t) { o.dumpStep = t; }},
        {"--check-replicas", nullptr,
         "after training, compare what ranks hold copies of, bit by bit",
         [](Options &o, Text) { o.checkReplicas = true; }},
        {"--trace", "FILE",
         "write what happened when on all ranks, for ui.perfetto.dev, and "
         "print how communication is hidden",
         [](Options &o, Text t) { o.trace = t; }},
        {"--trace-steps", "N", "keep the last N steps in --trace (default 5)",
         [](Options &o, Text t) {
           o.traceSteps = wholeNumber("--trace-steps", t, 1, 1000000);
         }},
        {"--quiet", nullptr, "print errors only",
         [](Options &o, Text) { o.quiet = true; }},
        {"--help", nullptr, "print this text",
         [](Options &o, Text) { o.help = true; }}}},
  };
}

/// The number of insertions, deletions and replacements between two words.
std::size_t editDistance(const std::string &a, const std::string &b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

[[noreturn]] void unknownOption(const std::string &name) {
  std::string nearest;
  std::size_t least = name.size() / 2 + 1;
  for (const OptionGroup &group : optionTable())
    for (const Option &option : group.options) {
      std::size_t distance = editDistance(name, option.name);
      if (distance < least) {
        least = distance;
        nearest = option.name;
      }
    }
  if (name.empty() || name[0] != '-')
    throw UsageError("found '" + name +
                     "', expected an option that begins with --");
  throw UsageError("unknown option '" + name + "'" +
                   (nearest.empty() ? "" : ", did you mean " + nearest + "?"));
}

/// What fits together and what does not.
void checkTogether(const Options &options, const Program &program) {
  if (!options.data.empty() && options.synthetic)
    throw UsageError("--data and --synthetic exclude each other");
  bool hasData = !options.data.empty() || options.synthetic;
  if (options.trains() && !hasData)
    throw UsageError("nothing to train on, expected --data DIR or "
                     "--synthetic");
  if (!hasData && options.evalData.empty())
    throw UsageError("no data, expected --data DIR, --eval-data DIR or "
                     "--synthetic");
  if (!options.evalData.empty() && !options.eval && options.predict.empty())
    throw UsageError("--eval-data is given, and neither --eval nor --predict");
  if (options.gradientNorm && options.metrics.empty())
    throw UsageError("--grad-norm goes into the metrics file, expected "
                     "--metrics FILE as well");
  if (!options.dumpStep.empty() && !options.trains())
    throw UsageError("--dump-step needs a training step, expected --steps or "
                     "--epochs");
  if (!options.trace.empty() && !options.trains())
    throw UsageError("--trace needs a training step, expected --steps or "
                     "--epochs");
  int compiled = program.ranks();
  if (options.ranks && options.ranks != compiled)
    throw UsageError(
        "--ranks: found " + std::to_string(options.ranks) + ", expected " +
        std::to_string(compiled) + ", which this program was compiled for" +
        (program.servers > 0
             ? ", " + std::to_string(program.workers()) + " that train and " +
                   std::to_string(program.servers) +
                   " servers; compile it again with 'partita "
                   "compile ... --ranks N --servers M'"
             : "; compile it again with 'partita compile ... "
               "--ranks " +
                   std::to_string(options.ranks) + "'"));
  if (options.eval && !program.evalLoss)
    throw UsageError(
        "--eval: this program cannot evaluate, its loss is not one "
        "per sample");
  if (!options.predict.empty() && program.predictions.empty())
    throw UsageError("--predict: this program has no outputs to predict");
}

} // namespace

Options partita::parseOptions(int argc, const char *const *argv,
                              const Program &program) {
  Options options;
  options.lr = program.hyper.lr;
  std::vector<OptionGroup> table = optionTable();
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i], value;
    std::size_t equals = name.find('=');
    bool hasValue = name.rfind("--", 0) == 0 && equals != std::string::npos;
    if (hasValue) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    if (name == "-h")
      name = "--help";
    const Option *found = nullptr;
    for (const OptionGroup &group : table)
      for (const Option &option : group.options)
        if (name == option.name)
          found = &option;
    if (!found)
      unknownOption(name);
    if (!found->argument && hasValue)
      throw UsageError(name + " takes no value, found '" + value + "'");
    if (found->needsArgument() && !hasValue) {
      if (i + 1 == argc)
        throw UsageError(name + " needs a value: " + name + " " +
                         found->argument);
      value = argv[++i];
    }
    if (found->argument && value.empty() &&
        (hasValue || found->needsArgument()))
      throw UsageError(name + " needs a value: " + name +
                       (found->needsArgument() ? " " : "") + found->argument);
    found->store(options, value);
  }
  if (!options.help)
    checkTogether(options, program);
  return options;
}

std::string partita::helpText(const Program &program,
                              const std::string &executable) {
  std::string text;
  text += "Trains the model '" + program.name + "' on " +
          std::to_string(program.ranks()) +
          (program.ranks() == 1 ? " rank" : " ranks") +
          (program.servers > 0
               ? ", " + std::to_string(program.servers) + " of them servers,"
               : "") +
          " (" + program.target + "), " + std::to_string(program.globalBatch) +
          " samples per step, with " + program.hyper.optimizer +
          ".\nCompiled by Partita.\n\n";
  text += "Usage:\n  " + executable +
          " --data DIR --epochs 3       ranks are threads of this process\n";
  text += "  mpirun -np " + std::to_string(program.ranks()) + " " + executable +
          " --data DIR ...   ranks are processes\n\n";
  text += "Files in DIR, one row per sample:\n";
  for (const Input &input : program.inputs) {
    Dims dims(input.tensor.dims.begin() + 1, input.tensor.dims.end());
    std::string shape = toString(dims);
    shape.insert(1, dims.empty() ? "samples" : "samples, ");
    text += "  " + dataFileOf(program, input) + "  " + shape + " of " +
            nameOf(input.tensor.type);
    if (input.tensor.type == DType::f32)
      text += " (u8 is divided by 255)";
    if (input.limit > 0)
      text += ", values 0 to " + std::to_string(input.limit - 1);
    text += "\n";
  }
  for (const OptionGroup &group : optionTable()) {
    text += std::string("\n") + group.heading + ":\n";
    for (const Option &option : group.options) {
      std::string left = std::string("  ") + option.name;
      if (option.argument)
        left +=
            (option.needsArgument() ? " " : "") + std::string(option.argument);
      left.resize(std::max<std::size_t>(left.size() + 2, 22), ' ');
      text += left + option.help;
      if (option.name == std::string("--lr")) {
        char value[32];
        std::snprintf(value, sizeof(value), "%g", program.hyper.lr);
        text += std::string(" (default ") + value + ")";
      }
      text += "\n";
    }
  }
  text += "\nTraining leaves out the last samples of an epoch when they do not "
          "fill a batch.\nThe order of the samples depends on the seed, never "
          "on the number of ranks.\nExit codes: 0 done, 1 failed, 2 wrong "
          "usage, 128 + n stopped by signal n.\n";
  return text;
}
