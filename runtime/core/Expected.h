//===- Expected.h - The collectives a certificate lists ------- -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads certificate.json, of which --debug-collectives needs one part: the
// calls of each phase and what they send. tools/check/README.md describes the
// format.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_EXPECTED_H
#define PARTITA_CORE_EXPECTED_H

#include "core/Json.h"
#include "partita/program.h"

#include <map>

namespace partita {

/// A call that a certificate lists, for one rank.
struct ExpectedCall {
  int index = 0;
  std::string kind; ///< As in IssuedCall.
  std::string label;
  std::string type;      ///< "f32"
  std::string reduction; ///< "sum"; empty where nothing is reduced.
  /// "ring"; empty where the channel chooses.
  std::string algorithm;
  /// Elements of the buffer; of an exchange, those that the rank sends.
  std::int64_t count = 0;
  /// Elements of each member of the group; empty for kinds without parts.
  std::vector<std::int64_t> parts;
  /// Of an exchange: elements sent and awaited, by rank of the job.
  std::map<int, std::int64_t> sends, awaits;
  /// Not called at all: its group has one rank, or its buffer is empty.
  bool isSkipped = false;
};

/// A certificate that has been read.
class Expected {
public:
  /// Throws `Error` when the file cannot be read, is no certificate of a known
  /// version, or belongs to another program.
  Expected(const std::string &path, const Program &program);

  /// The calls of a rank in a phase ("step", "eval" or "predict"), in order.
  /// Throws `Error` when the certificate is faulty there.
  std::vector<ExpectedCall> calls(int rank, const std::string &phase) const;

private:
  ExpectedCall read(const Json &action, int rank) const;
  /// The ranks of a group over these axes.
  std::int64_t groupSize(const Json &axes) const;
  void readTable(const Json &table, int rank, ExpectedCall &call) const;

  std::string path;
  Json root;
};

/// Where the certificate of the running program is looked for: in the folder of
/// its source beside it, then beside it. Empty when it is in neither place.
std::string findCertificate();

} // namespace partita

#endif // PARTITA_CORE_EXPECTED_H
