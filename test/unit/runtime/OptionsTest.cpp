//===- OptionsTest.cpp - The command line -----------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every option, every way to get one wrong, and the text of --help.
//
//===----------------------------------------------------------------------===//

#include "core/Options.h"

#include "TestFolder.h"

using namespace partita;

namespace {

Program twoRanks() {
  Program program;
  program.name = "lenet5";
  program.grid = {{"data", 2}};
  program.globalBatch = 64;
  program.hyper = {"adam", 0.001};
  program.inputs.push_back({{"input/0", DType::f32, {64, 1, 28, 28}}});
  program.inputs.push_back({{"y", DType::i64, {64}}, true, 10});
  program.evalLoss = Tensor{"losses", DType::f32, {64}};
  program.predictions.push_back({"logits", DType::f32, {64, 10}});
  return program;
}

Options parse(std::vector<const char *> arguments) {
  arguments.insert(arguments.begin(), "train");
  return parseOptions(static_cast<int>(arguments.size()), arguments.data(),
                      twoRanks());
}

std::string complaint(const std::vector<const char *> &arguments) {
  try {
    parse(arguments);
  } catch (const UsageError &error) {
    return error.what();
  }
  return "";
}

TEST(Options, Defaults) {
  Options options = parse({"--data", "d"});
  EXPECT_EQ(options.data, "d");
  EXPECT_TRUE(options.trains());
  EXPECT_TRUE(options.shuffle);
  EXPECT_EQ(options.lr, 0.001);
  EXPECT_EQ(options.seed, 0u);
  EXPECT_EQ(options.trace, "");
  EXPECT_EQ(options.traceSteps, 5);
  EXPECT_EQ(options.watchdog, 60);
  EXPECT_FALSE(options.debugCollectives);
}

TEST(Options, WatchingARun) {
  Options options =
      parse({"--synthetic", "--trace", "t.json", "--trace-steps", "3",
             "--watchdog", "2.5", "--debug-collectives", "--steps", "1"});
  EXPECT_EQ(options.trace, "t.json");
  EXPECT_EQ(options.traceSteps, 3);
  EXPECT_EQ(options.watchdog, 2.5);
  EXPECT_TRUE(options.debugCollectives);
  // What follows a switch whose value may be left out is another option.
  EXPECT_EQ(options.certificate, "");
  EXPECT_EQ(options.steps, 1);
  EXPECT_EQ(parse({"--synthetic", "--debug-collectives=c.json"}).certificate,
            "c.json");
  EXPECT_EQ(parse({"--synthetic", "--watchdog", "0"}).watchdog, 0);
}

TEST(Options, AllOfThem) {
  Options options = parse({"--ranks",    "2",           "--synthetic",
                           "--epochs=3", "--steps",     "10",
                           "--seed",     "5",           "--no-shuffle",
                           "--lr",       "0.5",         "--threads",
                           "1",          "--eval",      "--eval-data",
                           "e",          "--predict",   "p.npy",
                           "--save",     "s",           "--weights",
                           "w",          "--metrics",   "m",
                           "--quiet",    "--dump-step", "g"});
  EXPECT_EQ(options.epochs, 3);
  EXPECT_EQ(options.steps, 10);
  EXPECT_EQ(options.seed, 5u);
  EXPECT_FALSE(options.shuffle);
  EXPECT_EQ(options.lr, 0.5);
  EXPECT_EQ(options.threads, 1);
  EXPECT_EQ(options.evalData, "e");
  EXPECT_EQ(options.predict, "p.npy");
  EXPECT_EQ(options.save, "s");
  EXPECT_EQ(options.weights, "w");
  EXPECT_EQ(options.metrics, "m");
  EXPECT_EQ(options.dumpStep, "g");
  EXPECT_TRUE(options.quiet);
}

TEST(Options, EvaluationAloneDoesNotTrain) {
  EXPECT_FALSE(parse({"--data", "d", "--eval"}).trains());
  EXPECT_FALSE(parse({"--data", "d", "--predict", "p"}).trains());
  EXPECT_TRUE(parse({"--data", "d", "--eval", "--steps", "1"}).trains());
}

TEST(Options, WrongOnesAreNamed) {
  EXPECT_EQ(complaint({"--epoch", "3"}),
            "unknown option '--epoch', did you mean --epochs?");
  EXPECT_EQ(complaint({"--checkpoint", "d"}), "unknown option '--checkpoint'");
  EXPECT_EQ(complaint({"data"}),
            "found 'data', expected an option that begins with --");
  EXPECT_EQ(complaint({"--data"}), "--data needs a value: --data DIR");
  EXPECT_EQ(complaint({"--quiet=1"}), "--quiet takes no value, found '1'");
  EXPECT_EQ(complaint({"--steps", "many"}),
            "--steps: found 'many', expected a whole number from 0");
  EXPECT_EQ(complaint({"--steps", "-1"}),
            "--steps: found '-1', expected a whole number from 0");
  EXPECT_EQ(complaint({"--steps", "99999999999999999999"}),
            "--steps: found '99999999999999999999', expected a whole number "
            "from 0");
  EXPECT_EQ(complaint({"--threads", "0"}),
            "--threads: found '0', expected a whole number from 1 to 4096");
  EXPECT_EQ(complaint({"--trace-steps", "0"}),
            "--trace-steps: found '0', expected a whole number from 1 to "
            "1000000");
  EXPECT_EQ(complaint({"--watchdog", "soon"}),
            "--watchdog: found 'soon', expected a number from 0");
  EXPECT_EQ(complaint({"--debug-collectives="}),
            "--debug-collectives needs a value: --debug-collectives[=FILE]");
  EXPECT_EQ(complaint({"--lr", "nan"}),
            "--lr: found 'nan', expected a number from 0");
}

TEST(Options, WhatDoesNotFitTogether) {
  EXPECT_EQ(complaint({"--data", "d", "--eval", "--trace", "t"}),
            "--trace needs a training step, expected --steps or --epochs");
  EXPECT_EQ(complaint({"--synthetic", "--grad-norm"}),
            "--grad-norm goes into the metrics file, expected --metrics FILE "
            "as well");
  EXPECT_EQ(complaint({}),
            "nothing to train on, expected --data DIR or --synthetic");
  EXPECT_EQ(complaint({"--data", "d", "--synthetic"}),
            "--data and --synthetic exclude each other");
  EXPECT_EQ(complaint({"--eval"}),
            "no data, expected --data DIR, --eval-data DIR or --synthetic");
  EXPECT_EQ(complaint({"--data", "d", "--ranks", "4"}),
            "--ranks: found 4, expected 2, which this program was compiled "
            "for; compile it again with 'partita compile ... --ranks 4'");
}

TEST(Options, WhatTheProgramCannotDo) {
  Program program = twoRanks();
  program.evalLoss.reset();
  program.predictions.clear();
  auto refusal = [&](std::vector<const char *> arguments) {
    arguments.insert(arguments.begin(), {"train", "--data", "d"});
    try {
      parseOptions(static_cast<int>(arguments.size()), arguments.data(),
                   program);
    } catch (const UsageError &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal({"--steps", "1"}), "");
  EXPECT_EQ(refusal({"--eval"}), "--eval: this program cannot evaluate, its "
                                 "loss is not one per sample");
  EXPECT_EQ(refusal({"--predict", "p"}),
            "--predict: this program has no outputs to predict");
}

TEST(Options, HelpSaysWhatTheProgramNeeds) {
  std::string help = helpText(twoRanks(), "./train");
  for (const char *part :
       {"Trains the model 'lenet5' on 2 ranks", "mpirun -np 2 ./train",
        "input_0.npy  [samples, 1, 28, 28] of f32",
        "labels.npy  [samples] of "
        "i64, values 0 to 9",
        "--no-shuffle", "(default 0.001)", "--debug-collectives[=FILE]",
        "keep the last N steps in --trace (default 5)"})
    EXPECT_TRUE(says(help, part));
  EXPECT_TRUE(parse({"--help"}).help);
}

} // namespace
