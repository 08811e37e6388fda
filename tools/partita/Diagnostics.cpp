//===- Diagnostics.cpp - Errors as people read them -----------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "error: node '/conv1/Conv': message" in place of IR locations.
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {

/// Where a diagnostic points: a file position, or the ONNX node.
std::string describe(Location loc) {
  if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    std::string text = file.getFilename().str();
    if (file.getLine())
      text += ":" + std::to_string(file.getLine()) + ":" +
              std::to_string(file.getColumn());
    return text + ": ";
  }
  if (auto name = dyn_cast<NameLoc>(loc)) {
    std::string inner = describe(name.getChildLoc());
    return inner + "'" + name.getName().str() + "': ";
  }
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (std::string text = describe(part); !text.empty())
        return text;
  return "";
}

StringRef severityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("unknown severity");
}

void print(const Diagnostic &diagnostic) {
  llvm::errs() << "partita: " << severityName(diagnostic.getSeverity()) << ": "
               << describe(diagnostic.getLocation()) << diagnostic << '\n';
}

} // namespace

partita::driver::DiagnosticPrinter::DiagnosticPrinter(MLIRContext *context,
                                                      bool showRemarks)
    : ScopedDiagnosticHandler(context) {
  setHandler([this, showRemarks](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Remark && !showRemarks)
      return success();
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      ++errors;
    print(diagnostic);
    for (Diagnostic &note : diagnostic.getNotes())
      print(note);
    return success();
  });
}
