//===- partita.cpp - The command line of Partita --------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the subcommand.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Subcommands.h"
#include "tools/check/Run.h"
#include "llvm/Support/raw_ostream.h"

using namespace partita;
using namespace partita::driver;

namespace {

constexpr char kHelp[] =
    R"(usage: partita COMMAND ...

Partita compiles ONNX models into programs that train them on several ranks.

commands:
  compile   make a training program of an ONNX model
  lint      tell whether a model can be trained and what stands in the way
  export    put trained weights back into the ONNX model
  check     prove that a program's communication cannot hang or mix up data
  machines  list the devices and links that machine files may name
  simulate  play a training step on a described cluster
  reproduce tables of the papers whose methods Partita has, by their formulas

A first run, from a model to a trained model:

  partita compile model.onnx --batch 64 --ranks 4 --optimizer adam --lr 0.001 \
          -o train
  ./train --data folder --epochs 3 --save trained
  partita export model.onnx --weights trained -o trained.onnx

partita COMMAND --help explains every option.
Exit codes: 0 success, 1 failure, 2 wrong usage.
)";

} // namespace

int main(int argc, char **argv) {
  llvm::ArrayRef<const char *> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    llvm::errs() << kHelp;
    return kUsage;
  }
  llvm::StringRef command = arguments.front();
  arguments = arguments.drop_front();
  if (command == "compile")
    return runCompile(arguments);
  if (command == "lint")
    return runLint(arguments);
  if (command == "export")
    return runExport(arguments);
  if (command == "check")
    return check::runCheck("partita check",
                           {arguments.begin(), arguments.end()});
  if (command == "machines")
    return runMachines(arguments);
  if (command == "simulate")
    return runSimulate(arguments);
  if (command == "reproduce")
    return runReproduce(arguments);
  if (command == "--version") {
    llvm::outs() << "partita " << PARTITA_VERSION << '\n';
    return kSuccess;
  }
  if (command == "--help" || command == "-h" || command == "help") {
    llvm::outs() << kHelp;
    return kSuccess;
  }
  llvm::errs() << "partita: unknown command '" << command
               << "'; the commands are compile, lint, export, check, machines, "
                  "simulate and reproduce\n";
  return kUsage;
}
