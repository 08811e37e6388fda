//===- Compile.cpp - partita compile --------------------------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the phases from where the input stands to where the user wants to
// stop, and writes and builds the program.
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "Frontend.h"
#include "PlanFile.h"
#include "Subcommands.h"
#include "codegen/Program/BuildProgram.h"
#include "codegen/Program/EmitProgram.h"
#include "dialects/NN/IR/NNOps.h"
#include "dialects/SPMD/IR/SPMDDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "passes/Certificate/Certificate.h"
#include "tools/check/Check.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace partita;
using namespace partita::driver;

namespace {

struct CompileOptions {
  ModelOptions model;
  std::string target = "cpu";
  std::string archs;
  std::string emit;
  std::string saveTemps;
  std::string output;
  std::string unproven = "refuse";
  bool quiet = false;
  bool verbose = false;
};

constexpr StringLiteral kSplitHelp =
    "\nsplits (--split PATTERN=SPLIT, plan files):\n"
    "  SPLIT       WHAT:AXES, several joined by ','; or whole\n"
    "  WHAT        batch         samples\n"
    "              model         output channels, features, heads, vocabulary\n"
    "              model.in      input channels and features (partial sums)\n"
    "              domain        the first dimension of space or sequence\n"
    "              domain.h      the dimension h of space\n"
    "              n, co, d0 ... a dimension of the operation by name; a "
    "wrong\n"
    "                            one makes the compiler list those there are\n"
    "  AXES        axes of the grid joined by '+', the coarsest first\n"
    "  AXES@16     parts of whole blocks of 16 elements\n"
    "  AXES=3/3/2  parts of these sizes\n";

Arguments makeArguments(CompileOptions &options) {
  Arguments arguments(
      "compile MODEL.onnx [options] -o PROGRAM",
      "Compiles an ONNX model into a program that trains it on several ranks. "
      "Writes the program's source to PROGRAM.src and builds PROGRAM. MODEL "
      "may also be textual IR of any phase (a name that ends in .mlir).");
  addModelOptions(arguments, options.model);
  arguments.heading("Output");
  arguments.choice("--target", {"cpu", "cuda"},
                   "C++ with oneDNN and MPI, which runs anywhere (default), or "
                   "CUDA with cuDNN and NCCL",
                   options.target);
  arguments.text("--arch", "LIST",
                 "GPU architectures, for example sm_80,sm_90 (default both)",
                 options.archs);
  arguments.text("-o", "PROGRAM",
                 "the program; with --emit=source the folder of its source, "
                 "with another --emit the file of the IR",
                 options.output);
  arguments.choice("--emit",
                   {"import", "train", "plan", "plan-file", "spmd", "schedule",
                    "certificate", "source"},
                   "stop after this phase and write what it gives (to the "
                   "terminal without -o); plan-file is the plan as JSON for "
                   "--plan, certificate what partita check proves",
                   options.emit);
  arguments.choice("--unproven", {"refuse", "warn"},
                   "what to do when the checker cannot prove a program's "
                   "communication (default refuse)",
                   options.unproven);
  arguments.text("--save-temps", "DIR",
                 "also write the IR after every phase into DIR",
                 options.saveTemps);
  arguments.toggle("--quiet", "print errors only", options.quiet);
  arguments.toggle("--verbose",
                   "print what a grid shorthand leaves whole, and the commands "
                   "that build the program",
                   options.verbose);
  std::string phases = "phases (--emit):\n";
  for (Phase phase : {Phase::import, Phase::train, Phase::plan, Phase::spmd,
                      Phase::schedule, Phase::source})
    phases += "  " + phaseName(phase).str() +
              std::string(10 - phaseName(phase).size(), ' ') +
              phaseDescription(phase).str() + "\n";
  arguments.epilogue(phases + kSplitHelp.str());
  return arguments;
}

OpPrintingFlags printingFlags() {
  OpPrintingFlags flags;
  // Locations are the trail back to the ONNX file.
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  return flags;
}

bool writeIr(ModuleOp module, const std::string &path) {
  return writeFile(path, [&](llvm::raw_ostream &os) {
    module.print(os, printingFlags());
    os << '\n';
  });
}

/// Runs the phases of one compilation.
class Compilation {
public:
  explicit Compilation(const CompileOptions &options) : options(options) {}

  int run(StringRef input) {
    std::unique_ptr<MLIRContext> context = makeContext();
    DiagnosticPrinter diagnostics(context.get(), options.verbose);
    Model model = readModel(*context, input, options.model);
    if (!model.module)
      return kFailure;
    module = *model.module;
    bool isText = input.ends_with(".mlir");
    if (!isText)
      finishImport(input, model.report);
    bool isPlanFile = options.emit == "plan-file";
    bool isCertificate = options.emit == "certificate";
    std::optional<Phase> last = options.emit.empty() ? Phase::source
                                : isPlanFile         ? Phase::plan
                                : isCertificate      ? Phase::schedule
                                                     : parsePhase(options.emit);
    if (last < model.phase) {
      llvm::errs() << "partita: error: " << input << " has been through phase "
                   << phaseName(model.phase) << "; --emit=" << options.emit
                   << " is behind it\n";
      return kFailure;
    }
    if (!isText && failed(runPhase(Phase::import)))
      return kFailure;
    if (!isText && last >= Phase::train && failed(requireParameters(input)))
      return kFailure;
    for (Phase phase :
         {Phase::train, Phase::plan, Phase::spmd, Phase::schedule})
      if (phase > model.phase && phase <= *last && failed(runPhase(phase)))
        return kFailure;
    if (*last == Phase::source)
      return writeProgram();
    if (isPlanFile)
      return writeText(planAsJson(module));
    if (isCertificate) {
      FailureOr<std::string> certificate = proveProgram();
      return failed(certificate) ? kFailure : writeText(*certificate);
    }
    if (options.output.empty()) {
      module.print(llvm::outs(), printingFlags());
      llvm::outs() << '\n';
      return kSuccess;
    }
    return writeIr(module, options.output) ? kSuccess : kFailure;
  }

private:
  llvm::raw_ostream &say() {
    return options.quiet ? llvm::nulls() : llvm::errs();
  }

  void finishImport(StringRef input, const nn::ImportReport &report) {
    for (const std::string &finding : report.findings)
      say() << "partita: note: " << finding << '\n';
    auto [elements, count] = countParameters(module);
    say() << "imported  " << input << ": " << report.nodes << " nodes ("
          << report.represented << " kept, " << report.folded << " folded), "
          << count << " parameters with " << elements << " elements\n";
    OpBuilder builder(module.getContext());
    if (auto forward = module.lookupSymbol<func::FuncOp>("forward"))
      for (unsigned i = 0; i < forward.getNumArguments(); ++i)
        if (auto dim =
                forward.getArgAttrOfType<IntegerAttr>(i, "nn.batch_dim")) {
          auto type = cast<RankedTensorType>(forward.getArgumentTypes()[i]);
          module->setAttr("partita.batch", builder.getI64IntegerAttr(
                                               type.getDimSize(dim.getInt())));
          break;
        }
  }

  LogicalResult requireParameters(StringRef input) {
    if (countParameters(module).second > 0)
      return success();
    llvm::errs() << "partita: error: " << input
                 << " has nothing to train: no floating-point weight reaches "
                    "an output; if its weights are Constant or "
                    "ConstantOfShape nodes, pass --train-constants (and "
                    "--init RULE to draw initial values)\n";
    return failure();
  }

  LogicalResult runPhase(Phase phase) {
    if (failed(driver::runPhase(options.model, module, phase)))
      return failure();
    if (phase == Phase::plan)
      plan = planAsJson(module);
    if (options.saveTemps.empty())
      return success();
    if (std::error_code error =
            llvm::sys::fs::create_directories(options.saveTemps)) {
      llvm::errs() << "partita: error: cannot make folder " << options.saveTemps
                   << ": " << error.message() << '\n';
      return failure();
    }
    SmallString<128> path(options.saveTemps);
    llvm::sys::path::append(path, std::to_string(static_cast<int>(phase) + 1) +
                                      "-" + phaseName(phase).str() + ".mlir");
    return success(writeIr(module, path.str().str()));
  }

  /// One line per rank class: ranks, their part of the batch, arena.
  void describeClasses() {
    for (auto classOp : module.getOps<spmd::ClassOp>()) {
      ArrayRef<int64_t> ranks = classOp.getRanks();
      say() << "class " << classOp.getSymName() << "  ranks " << ranks.front();
      if (ranks.size() > 1)
        say() << (ranks.size() == size_t(ranks.back() - ranks.front() + 1)
                      ? "-"
                      : ", ..., ")
              << ranks.back();
      say() << (classOp->hasAttr(spmd::kServersAttr) ? ", servers" : "")
            << ": arena " << formatBytes(classOp.getArenaBytes().value_or(0))
            << " (peak, all buffers), of it "
            << formatBytes(classOp.getPersistentBytes().value_or(0))
            << " for parameters, gradients, optimizer state, inputs\n";
    }
    int64_t buckets = 0, bytes = 0;
    for (auto function : module.getOps<func::FuncOp>())
      if (function.getName() == "step_c0")
        function.walk([&](spmd::CommunicateOp op) {
          auto type = cast<MemRefType>(op.getBuffer().getType());
          bytes += type.getNumElements() * type.getElementTypeBitWidth() / 8;
          ++buckets;
        });
    if (buckets)
      say() << "per step  " << buckets << " collectives, " << formatBytes(bytes)
            << " combined over ranks\n";
  }

  int writeText(const std::string &text) {
    if (options.output.empty()) {
      llvm::outs() << text;
      return kSuccess;
    }
    return writeFile(options.output, [&](llvm::raw_ostream &os) { os << text; })
               ? kSuccess
               : kFailure;
  }

  /// The certificate of the scheduled program, after the checker has proven
  /// it from its text alone.
  FailureOr<std::string> proveProgram() {
    FailureOr<std::string> certificate = makeCertificate(module);
    if (failed(certificate))
      return failure();
    check::Result result = check::check(*certificate, "certificate.json");
    for (const std::string &error : result.errors)
      llvm::errs() << "partita: " << error << '\n';
    if (!result.isProven && options.unproven == "warn") {
      llvm::errs() << "partita: warning: the program's communication is not "
                      "proven to be right\n";
      return certificate;
    }
    if (!result.isProven) {
      llvm::errs() << "partita: the program's communication is not proven to "
                      "be right; nothing was written. This is a fault of the "
                      "compiler: please report it with the model and options "
                      "used; --unproven warn writes the program all the same\n";
      return failure();
    }
    say() << result.summary << '\n';
    return certificate;
  }

  int writeProgram() {
    describeClasses();
    FailureOr<std::string> certificate = proveProgram();
    if (failed(certificate))
      return kFailure;
    codegen::EmitOptions emit;
    emit.target =
        options.target == "cuda" ? codegen::Target::cuda : codegen::Target::cpu;
    if (!options.archs.empty()) {
      SmallVector<StringRef> archs;
      StringRef(options.archs).split(archs, ',');
      emit.archs.assign(archs.begin(), archs.end());
    }
    if (!plan.empty())
      emit.extraFiles.push_back({"plan.json", plan});
    emit.extraFiles.push_back({"certificate.json", *certificate});
    bool sourceOnly = options.emit == "source";
    std::string folder = sourceOnly ? options.output : options.output + ".src";
    if (failed(codegen::emitProgram(module, emit, folder)))
      return kFailure;
    say() << "emitted   " << folder << '\n';
    if (sourceOnly)
      return kSuccess;
    codegen::BuildOptions build;
    build.target = emit.target;
    build.archs = emit.archs;
    build.verbose = options.verbose;
    if (llvm::Error error =
            codegen::buildProgram(folder, options.output, build)) {
      llvm::errs() << "partita: error: " << llvm::toString(std::move(error))
                   << '\n';
      return kFailure;
    }
    say() << "built     " << options.output << "; run it with --help to see "
          << "what it can do\n";
    return kSuccess;
  }

  const CompileOptions &options;
  ModuleOp module;
  std::string plan;
};

} // namespace

int partita::driver::runCompile(ArrayRef<const char *> given) {
  CompileOptions options;
  Arguments arguments = makeArguments(options);
  int exitCode = kSuccess;
  if (!arguments.parse(given, exitCode))
    return exitCode;
  if (arguments.getPositional().size() != 1)
    return arguments.usageError(
        "expected one model, found " +
        std::to_string(arguments.getPositional().size()));
  std::string error = finishModelOptions(options.model);
  if (!error.empty())
    return arguments.usageError(error);
  if (options.target == "cuda" && options.model.pipeline.servers > 0)
    return arguments.usageError(
        "--servers " + std::to_string(options.model.pipeline.servers) +
        ": programs for the target cuda have no servers; leave it out, the "
        "GPUs own the parameters of parameter_server then, or compile for "
        "--target cpu");
  if (options.output.empty() &&
      (options.emit.empty() || options.emit == "source"))
    return arguments.usageError("where to? give the program's name with -o");
  return Compilation(options).run(arguments.getPositional()[0]);
}
