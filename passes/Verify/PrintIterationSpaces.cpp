//===- PrintIterationSpaces.cpp - How each operation iterates -------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints iteration spaces as remarks.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"
#include "passes/Verify/Passes.h"

using namespace mlir;
using namespace partita;
using namespace partita::nn;

namespace partita {
#define GEN_PASS_DEF_PRINTITERATIONSPACES
#include "passes/Verify/Passes.h.inc"
} // namespace partita

namespace {

StringRef kindName(const IterationDim &dim) {
  switch (dim.kind) {
  case DimKind::parallel:
    return "parallel";
  case DimKind::coupled:
    return "coupled";
  case DimKind::whole:
    return "whole";
  case DimKind::reduction:
    break;
  }
  switch (dim.combiner) {
  case Combiner::sum:
    return "sum";
  case Combiner::max:
    return "max";
  case Combiner::min:
    return "min";
  case Combiner::prod:
    return "prod";
  }
  llvm_unreachable("unknown combiner");
}

StringRef roleName(DimRole role) {
  switch (role) {
  case DimRole::batch:
    return " batch";
  case DimRole::model:
    return " model";
  case DimRole::domain:
    return " domain";
  case DimRole::none:
    return "";
  }
  llvm_unreachable("unknown role");
}

void print(llvm::raw_ostream &out, const IterationSpace &space,
           const TensorMap &map) {
  out << '(';
  llvm::interleaveComma(map, out, [&](const DimMap &entry) {
    if (entry.dim < 0) {
      out << '*';
      return;
    }
    static constexpr StringLiteral kinds[] = {"", "", "windows over ",
                                              "windows with "};
    out << kinds[entry.kind] << space.dims[entry.dim].name;
    if (entry.kind != DimMap::direct)
      out << " * " << entry.stride << " - " << entry.pad << " : "
          << entry.extent;
    if (entry.block != 1)
      out << " by " << entry.block;
  });
  out << ')';
}

std::string describe(const IterationSpace &space) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleaveComma(space.dims, out, [&](const IterationDim &dim) {
    out << dim.name << " = " << dim.size << ' ' << kindName(dim)
        << roleName(dim.role);
  });
  out << ':';
  for (const TensorMap &map : space.operands) {
    out << ' ';
    print(out, space, map);
  }
  out << " ->";
  for (const TensorMap &map : space.results) {
    out << ' ';
    print(out, space, map);
  }
  for (const TensorMap &map : space.computed) {
    out << " from ";
    print(out, space, map);
  }
  return text;
}

struct PrintIterationSpacesPass
    : partita::impl::PrintIterationSpacesBase<PrintIterationSpacesPass> {
  void runOnOperation() override {
    getOperation().walk([](PartitionableOp op) {
      op->emitRemark() << describe(op.getIterationSpace());
    });
    markAllAnalysesPreserved();
  }
};

} // namespace
