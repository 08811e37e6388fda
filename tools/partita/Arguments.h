//===- Arguments.h - Command lines of the subcommands ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table of options per subcommand; help text and errors are made from it.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TOOLS_PARTITA_ARGUMENTS_H
#define PARTITA_TOOLS_PARTITA_ARGUMENTS_H

#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>
#include <vector>

namespace partita::driver {

/// Exit codes of every subcommand.
constexpr int kSuccess = 0;
constexpr int kFailure = 1;
constexpr int kUsage = 2;

/// One option, or a heading when the name is empty.
struct Option {
  /// With its dashes: "--lr" or "-o".
  std::string name;
  /// What the value is called in the help; empty for a switch.
  std::string value;
  std::string help;
  /// Takes the value; returns an error (what was expected) or "".
  std::function<std::string(llvm::StringRef)> set;
};

/// A subcommand's command line.
class Arguments {
public:
  /// `usage` is the line after "usage: partita ", `summary` what it does.
  Arguments(std::string usage, std::string summary);

  /// Starts a group of options in the help.
  void heading(std::string text);
  void text(std::string name, std::string value, std::string help,
            std::string &target);
  void number(std::string name, std::string value, std::string help,
              double &target, double low, double high);
  /// Integers from `low` on.
  void integer(std::string name, std::string value, std::string help,
               int64_t &target, int64_t low);
  void choice(std::string name, std::vector<std::string> choices,
              std::string help, std::string &target);
  void toggle(std::string name, std::string help, bool &target);
  void custom(Option option);
  /// Text after the options in the help.
  void epilogue(std::string text);

  /// Parses the arguments. Returns false when the program should end with
  /// `exitCode`: after --help, or after a usage error, which is printed.
  bool parse(llvm::ArrayRef<const char *> arguments, int &exitCode);

  const std::vector<std::string> &getPositional() const { return positional; }

  /// Prints a usage error that only the subcommand can see; returns kUsage.
  int usageError(llvm::StringRef message) const;

private:
  void printHelp() const;
  const Option *find(llvm::StringRef name) const;
  std::string nearest(llvm::StringRef name) const;

  std::string usage, summary, closing;
  std::vector<Option> options;
  std::vector<std::string> positional;
};

} // namespace partita::driver

#endif // PARTITA_TOOLS_PARTITA_ARGUMENTS_H
