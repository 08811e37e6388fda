//===- Run.cpp - The command line of the checker --------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads files and prints what was proven.
//
//===----------------------------------------------------------------------===//

#include "Run.h"
#include "Check.h"
#include "Json.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace partita::check {

namespace {

void printHelp(const std::string &program) {
  std::printf(
      "usage: %s FILE...\n"
      "\n"
      "Proves from certificates of compiled programs that their communication\n"
      "cannot hang or mix up data: ranks of a communicator issue the same\n"
      "calls with matching counts, no ranks wait for each other in a circle,\n"
      "streams do not race, every gradient is reduced once and every "
      "parameter\n"
      "updated once, and sample weights add up to the global batch.\n"
      "\n"
      "FILE is a certificate.json, from the folder of an emitted program or\n"
      "from `partita compile --emit=certificate`; - reads standard input.\n"
      "\n"
      "  --quiet   print errors only\n"
      "  --help    print this\n"
      "\n"
      "Exit codes: 0 everything proven, 1 a contradiction or an unreadable\n"
      "file, 2 wrong usage.\n",
      program.c_str());
}

/// Reads a file, at most one byte more than is checked. False after a message.
bool readFile(const std::string &program, const std::string &name,
              std::string &text) {
  std::FILE *file = name == "-" ? stdin : std::fopen(name.c_str(), "rb");
  if (!file) {
    std::fprintf(stderr, "%s: error: cannot open %s: %s\n", program.c_str(),
                 name.c_str(), std::strerror(errno));
    return false;
  }
  std::vector<char> block(std::size_t(1) << 20);
  std::size_t count = 0;
  while (text.size() <= kMaxBytes &&
         (count = std::fread(block.data(), 1, block.size(), file)) > 0)
    text.append(block.data(), count);
  bool isGood = std::ferror(file) == 0;
  int error = errno;
  if (file != stdin)
    std::fclose(file);
  if (!isGood)
    std::fprintf(stderr, "%s: error: cannot read %s: %s\n", program.c_str(),
                 name.c_str(), std::strerror(error));
  return isGood;
}

} // namespace

int runCheck(const std::string &program,
             const std::vector<std::string> &arguments) {
  std::vector<std::string> files;
  bool quiet = false;
  for (const std::string &argument : arguments) {
    if (argument == "--help" || argument == "-h") {
      printHelp(program);
      return 0;
    }
    if (argument == "--quiet") {
      quiet = true;
    } else if (argument.size() > 1 && argument[0] == '-') {
      std::fprintf(stderr, "%s: unknown option %s; see %s --help\n",
                   program.c_str(), argument.c_str(), program.c_str());
      return 2;
    } else {
      files.push_back(argument);
    }
  }
  if (files.empty()) {
    std::fprintf(stderr,
                 "%s: expected a certificate.json, found no file; see %s "
                 "--help\n",
                 program.c_str(), program.c_str());
    return 2;
  }
  bool isProven = true;
  for (const std::string &name : files) {
    std::string text;
    if (!readFile(program, name, text)) {
      isProven = false;
      continue;
    }
    auto begin = std::chrono::steady_clock::now();
    Result result = check(text, name);
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - begin;
    isProven &= result.isProven;
    for (const std::string &error : result.errors)
      std::fprintf(stderr, "%s\n", error.c_str());
    if (result.isProven && !quiet)
      std::printf("%s%s%s; %.3f s\n", files.size() > 1 ? name.c_str() : "",
                  files.size() > 1 ? ": " : "", result.summary.c_str(),
                  seconds.count());
  }
  return isProven ? 0 : 1;
}

} // namespace partita::check
