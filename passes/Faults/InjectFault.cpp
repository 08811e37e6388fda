//===- InjectFault.cpp - Break a program on purpose -----------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the place of a fault.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/IR/NNOps.h"
#include "passes/Faults/Passes.h"
#include "passes/Faults/ProgramFaults.h"

using namespace mlir;
using namespace partita;
using namespace partita::faults;

namespace partita {
#define GEN_PASS_DEF_INJECTFAULT
#include "passes/Faults/Passes.h.inc"
} // namespace partita

namespace {

struct InjectFaultPass : partita::impl::InjectFaultBase<InjectFaultPass> {
  using InjectFaultBase::InjectFaultBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (kind == "list") {
      for (const Fault &fault : allFaults())
        llvm::outs() << fault.name << ": " << fault.what << '\n';
      return;
    }
    const Fault *fault = llvm::find_if(
        allFaults(), [&](const Fault &each) { return each.name == kind; });
    if (fault == allFaults().end()) {
      module.emitError() << "there is no fault '" << kind
                         << "'; kind=list prints all";
      return signalPassFailure();
    }
    if (!module->getAttrOfType<dist::GridAttr>(dist::kGridAttr) ||
        failed(nn::verifyFunctions(module))) {
      module.emitError("is no partitioned program");
      return signalPassFailure();
    }
    Program program(module);
    std::vector<Place> places;
    fault->find(program, places);
    if (places.empty()) {
      module.emitError() << "has no place for the fault '" << kind << "'";
      return signalPassFailure();
    }
    size_t number = static_cast<size_t>(std::max<int64_t>(seed, 0));
    Place &place = places[number % places.size()];
    place.op->emitRemark() << kind << ": place " << number % places.size()
                           << " of " << places.size();
    place.breakIt();
  }
};

} // namespace
