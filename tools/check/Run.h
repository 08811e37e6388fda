//===- Run.h - The command line of the checker -----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `partita-check` and `partita check` are the same command.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TOOLS_CHECK_RUN_H
#define PARTITA_TOOLS_CHECK_RUN_H

#include <string>
#include <vector>

namespace partita::check {

/// Checks the files that are named; `program` is what the user has called.
/// Returns the exit code: 0 all are proven, 1 one is not, 2 wrong usage.
int runCheck(const std::string &program,
             const std::vector<std::string> &arguments);

} // namespace partita::check

#endif // PARTITA_TOOLS_CHECK_RUN_H
