//===- Check.h - Proving a certificate -------------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The checker as a library. It shares nothing with the compiler: all it knows
// is the text of the certificate. README.md says what is proven and under
// which assumptions.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TOOLS_CHECK_CHECK_H
#define PARTITA_TOOLS_CHECK_CHECK_H

#include <string>
#include <vector>

namespace partita::check {

struct Result {
  /// Whether everything is proven; then there are no errors.
  bool isProven = false;
  /// Messages of several lines, the first one being "NAME: error: ...".
  std::vector<std::string> errors;
  /// "proved: 12 calls in 3 communicators on 4 ranks ..."; empty without a
  /// proof. Holds no times.
  std::string summary;
};

/// Checks the text of a certificate; `name` is the file's name in messages.
/// At most 20 errors are reported. Takes time linear in the text, the calls of
/// all ranks and the messages between them.
Result check(const std::string &text, const std::string &name);

} // namespace partita::check

#endif // PARTITA_TOOLS_CHECK_CHECK_H
