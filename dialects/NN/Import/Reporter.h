//===- Reporter.h - Collects what is wrong with a model --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All faults of a model are reported in one run, so the importer goes on after
// an error as far as it makes sense and asks the reporter in the end.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_DIALECTS_NN_IMPORT_REPORTER_H
#define PARTITA_DIALECTS_NN_IMPORT_REPORTER_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace partita::nn::importer {

/// A name of the model as text of a diagnostic: quoted, control characters
/// escaped, long names cut.
inline std::string quote(llvm::StringRef name) {
  constexpr size_t kShown = 120;
  std::string text = "'";
  for (char c : name.take_front(kShown)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      text += "\\x" + llvm::toHex(llvm::StringRef(&c, 1));
    else
      text += c;
  }
  return text + (name.size() > kShown ? "...'" : "'");
}

/// "2x3x4", or "scalar".
inline std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(shape, stream, "x");
  return shape.empty() ? "scalar" : text;
}

class Reporter {
public:
  Reporter(mlir::MLIRContext *context, llvm::StringRef path,
           std::vector<std::string> &findings)
      : fileLoc(mlir::FileLineColLoc::get(context, path, 0, 0)),
        findings(findings) {}

  /// Report a fault. The location is the file; the text names the node.
  void error(const llvm::Twine &what) {
    ++errors;
    mlir::emitError(fileLoc) << what;
  }
  /// Note something the user should know; no fault.
  void finding(const llvm::Twine &what) { findings.push_back(what.str()); }

  bool failed() const { return errors > 0; }
  int64_t count() const { return errors; }
  mlir::Location getFileLoc() const { return fileLoc; }
  mlir::MLIRContext *getContext() const { return fileLoc.getContext(); }

private:
  mlir::Location fileLoc;
  std::vector<std::string> &findings;
  int64_t errors = 0;
};

} // namespace partita::nn::importer

#endif // PARTITA_DIALECTS_NN_IMPORT_REPORTER_H
