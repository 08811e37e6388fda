//===- Arguments.cpp - Command lines of the subcommands -------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsing and help of the option tables.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>

using namespace llvm;
using namespace partita::driver;

namespace {

constexpr size_t kHelpColumn = 26;
constexpr size_t kWidth = 79;

/// Prints `text` wrapped, every line but the first indented.
void printWrapped(raw_ostream &os, StringRef text, size_t indent) {
  size_t column = indent;
  while (!text.empty()) {
    auto [word, rest] = text.split(' ');
    if (column > indent && column + 1 + word.size() > kWidth) {
      os << '\n';
      os.indent(indent);
      column = indent;
    }
    if (column > indent) {
      os << ' ';
      ++column;
    }
    os << word;
    column += word.size();
    text = rest;
  }
  os << '\n';
}

} // namespace

Arguments::Arguments(std::string usage, std::string summary)
    : usage(std::move(usage)), summary(std::move(summary)) {}

void Arguments::custom(Option option) { options.push_back(std::move(option)); }

void Arguments::heading(std::string text) {
  options.push_back({"", "", std::move(text), nullptr});
}

void Arguments::text(std::string name, std::string value, std::string help,
                     std::string &target) {
  custom({name, value, help, [&target](StringRef given) -> std::string {
            target = given.str();
            return given.empty() ? "a value that is not empty" : "";
          }});
}

void Arguments::number(std::string name, std::string value, std::string help,
                       double &target, double low, double high) {
  custom(
      {name, value, help, [&target, low, high](StringRef given) -> std::string {
         double parsed = 0;
         if (!given.getAsDouble(parsed) && parsed >= low && parsed <= high) {
           target = parsed;
           return "";
         }
         std::string expected;
         raw_string_ostream os(expected);
         os << "a number";
         if (high == std::numeric_limits<double>::max())
           os << " not below " << low;
         else
           os << " between " << low << " and " << high;
         return expected;
       }});
}

void Arguments::integer(std::string name, std::string value, std::string help,
                        int64_t &target, int64_t low) {
  custom({name, value, help, [&target, low](StringRef given) -> std::string {
            int64_t parsed = 0;
            if (!given.getAsInteger(10, parsed) && parsed >= low) {
              target = parsed;
              return "";
            }
            return "an integer not below " + std::to_string(low);
          }});
}

void Arguments::choice(std::string name, std::vector<std::string> choices,
                       std::string help, std::string &target) {
  std::string value = join(choices, "|");
  custom({name, value, help,
          [&target, choices, value](StringRef given) -> std::string {
            if (!is_contained(choices, given.str()))
              return value;
            target = given.str();
            return "";
          }});
}

void Arguments::toggle(std::string name, std::string help, bool &target) {
  custom({name, "", help, [&target](StringRef) -> std::string {
            target = true;
            return "";
          }});
}

void Arguments::epilogue(std::string text) { closing = std::move(text); }

const Option *Arguments::find(StringRef name) const {
  for (const Option &option : options)
    if (!option.name.empty() && option.name == name)
      return &option;
  return nullptr;
}

std::string Arguments::nearest(StringRef name) const {
  std::string best;
  unsigned bestDistance = 4;
  for (const Option &option : options) {
    unsigned distance = name.edit_distance(option.name);
    if (!option.name.empty() && distance < bestDistance) {
      best = option.name;
      bestDistance = distance;
    }
  }
  return best;
}

int Arguments::usageError(StringRef message) const {
  errs() << "partita: " << message << "\nusage: partita " << usage
         << "\n(partita " << StringRef(usage).split(' ').first
         << " --help explains every option)\n";
  return kUsage;
}

bool Arguments::parse(ArrayRef<const char *> arguments, int &exitCode) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      printHelp();
      exitCode = kSuccess;
      return false;
    }
    if (!argument.starts_with("-") || argument == "-") {
      positional.push_back(argument.str());
      continue;
    }
    auto [name, value] = argument.split('=');
    bool hasValue = argument.contains('=');
    const Option *option = find(name);
    if (!option) {
      std::string hint = nearest(name);
      exitCode =
          usageError("unknown option '" + name.str() + "'" +
                     (hint.empty() ? "" : "; did you mean " + hint + "?"));
      return false;
    }
    if (option->value.empty()) {
      if (hasValue) {
        exitCode = usageError("option " + option->name + " takes no value");
        return false;
      }
    } else if (!hasValue) {
      if (i + 1 == arguments.size()) {
        exitCode = usageError("option " + option->name +
                              " needs a value: " + option->value);
        return false;
      }
      value = arguments[++i];
    }
    std::string expected = option->set(value);
    if (!expected.empty()) {
      exitCode = usageError("option " + option->name + ": found '" +
                            value.str() + "', expected " + expected);
      return false;
    }
  }
  return true;
}

void Arguments::printHelp() const {
  outs() << "usage: partita " << usage << "\n\n";
  printWrapped(outs(), summary, 0);
  for (const Option &option : options) {
    if (option.name.empty()) {
      outs() << '\n' << option.help << ":\n";
      continue;
    }
    std::string left = "  " + option.name;
    if (!option.value.empty())
      left += " " + option.value;
    outs() << left;
    if (left.size() + 2 > kHelpColumn) {
      outs() << '\n';
      outs().indent(kHelpColumn);
    } else {
      outs().indent(kHelpColumn - left.size());
    }
    printWrapped(outs(), option.help, kHelpColumn);
  }
  if (!closing.empty())
    outs() << '\n' << closing;
}
