//===- Expected.h - The collectives a certificate lists ------- -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads certificate.json, of which --debug-collectives needs one part: the
// calls of each phase of a rank class.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_EXPECTED_H
#define PARTITA_CORE_EXPECTED_H

#include "partita/program.h"

#include <map>

namespace partita {

/// A call that a certificate lists.
struct ExpectedCall {
  int index = 0;
  std::string kind; ///< As in IssuedCall.
  std::string label;
  std::string type;      ///< "f32"
  std::string reduction; ///< "sum"; empty where nothing is reduced.
  /// Elements of the buffer; -1 where that depends on the rank.
  std::int64_t count = -1;
  /// Not called at all: its group has one rank, or its buffer is empty.
  bool skipped = false;
};

/// By rank class and phase.
using ExpectedCalls =
    std::map<std::pair<int, std::string>, std::vector<ExpectedCall>>;

/// Throws `Error` when the file cannot be read, is no certificate, or belongs
/// to another program.
ExpectedCalls readExpectedCalls(const std::string &path,
                                const Program &program);

} // namespace partita

#endif // PARTITA_CORE_EXPECTED_H
