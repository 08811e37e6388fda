//===- EmitProgram.cpp - Writes the folder of an emitted program ----------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects the texts and puts the folder in place.
//
//===----------------------------------------------------------------------===//

#include "codegen/Program/EmitProgram.h"
#include "codegen/Cpu/CpuPrinter.h"
#include "codegen/Cuda/CudaPrinter.h"
#include "codegen/Program/CMakeFile.h"
#include "codegen/Program/SourcePrinter.h"
#include "codegen/Program/Weights.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace partita::codegen {

namespace {

std::unique_ptr<TargetPrinter> makePrinter(Target target) {
  if (target == Target::cuda)
    return std::make_unique<CudaPrinter>();
  return std::make_unique<CpuPrinter>();
}

std::string programName(ModuleOp module, const EmitOptions &options) {
  if (!options.name.empty())
    return options.name;
  if (auto model = module->getAttrOfType<StringAttr>("nn.model"))
    return model.getValue().str();
  return "model";
}

/// The folder while it is written; removed unless it is put in place.
class NewFolder {
public:
  NewFolder(ModuleOp module, StringRef folder)
      : module(module), folder(folder) {}
  ~NewFolder() {
    if (!path.empty())
      (void)llvm::sys::fs::remove_directories(path);
  }

  LogicalResult create() {
    StringRef parent = llvm::sys::path::parent_path(folder);
    if (!parent.empty())
      if (std::error_code error = llvm::sys::fs::create_directories(parent))
        return refuse(parent, error);
    SmallString<128> unique;
    llvm::sys::fs::createUniquePath(folder + ".writing-%%%%%%%%", unique,
                                    /*MakeAbsolute=*/false);
    if (std::error_code error = llvm::sys::fs::create_directory(
            unique, /*IgnoreExisting=*/false, llvm::sys::fs::all_all))
      return refuse(unique, error);
    path = unique.str();
    return success();
  }

  LogicalResult write(StringRef name,
                      llvm::function_ref<LogicalResult(raw_ostream &)> print) {
    SmallString<128> file = path;
    llvm::sys::path::append(file, name);
    std::error_code error;
    llvm::raw_fd_ostream os(file, error);
    if (error)
      return refuse(file, error);
    os.SetBufferSize(size_t(1) << 16);
    LogicalResult result = print(os);
    os.close();
    if (os.has_error()) {
      error = os.error();
      os.clear_error();
      return refuse(file, error);
    }
    return result;
  }

  LogicalResult putInPlace() {
    SmallString<128> old;
    if (llvm::sys::fs::exists(folder)) {
      if (!holdsProgram())
        return module.emitError()
               << "'" << folder
               << "' exists and holds no emitted program; choose another "
                  "name or remove it";
      llvm::sys::fs::createUniquePath(folder + ".old-%%%%%%%%", old,
                                      /*MakeAbsolute=*/false);
      if (std::error_code error = llvm::sys::fs::rename(folder, old))
        return refuse(folder, error);
    }
    if (std::error_code error = llvm::sys::fs::rename(path, folder)) {
      if (!old.empty())
        (void)llvm::sys::fs::rename(old, folder);
      return refuse(folder, error);
    }
    path.clear();
    if (!old.empty())
      (void)llvm::sys::fs::remove_directories(old);
    return success();
  }

private:
  LogicalResult refuse(StringRef what, std::error_code error) {
    return module.emitError()
           << "cannot write '" << what << "': " << error.message();
  }

  bool holdsProgram() const {
    for (StringRef name : {"train.cpp", "train.cu"}) {
      SmallString<128> file(folder);
      llvm::sys::path::append(file, name);
      if (llvm::sys::fs::exists(file))
        return true;
    }
    return false;
  }

  ModuleOp module;
  StringRef folder;
  SmallString<128> path;
};

/// Reads a module as a program of the target.
FailureOr<Schedule> readFor(ModuleOp module, Target target) {
  FailureOr<Schedule> schedule = Schedule::read(module);
  if (succeeded(schedule) && schedule->servers > 0 && target == Target::cuda)
    return module.emitError()
           << "has " << schedule->servers
           << " servers, which programs for the target cuda do not have; "
              "expected none; compile without --servers, the GPUs own the "
              "parameters of parameter_server then, or for --target cpu";
  return schedule;
}

} // namespace

LogicalResult printProgram(ModuleOp module, const EmitOptions &options,
                           raw_ostream &os) {
  FailureOr<Schedule> schedule = readFor(module, options.target);
  if (failed(schedule))
    return failure();
  std::unique_ptr<TargetPrinter> printer = makePrinter(options.target);
  return printSource(*schedule, programName(module, options), *printer, os);
}

LogicalResult emitProgram(ModuleOp module, const EmitOptions &options,
                          StringRef folder) {
  FailureOr<Schedule> schedule = readFor(module, options.target);
  if (failed(schedule))
    return failure();
  std::unique_ptr<TargetPrinter> printer = makePrinter(options.target);
  std::string name = programName(module, options);

  // The text first: most errors show before anything is written.
  std::string source;
  llvm::raw_string_ostream sourceStream(source);
  if (failed(printSource(*schedule, name, *printer, sourceStream)))
    return failure();
  FailureOr<std::vector<ProgramVariable>> variables =
      programVariables(*schedule);
  if (failed(variables))
    return failure();

  while (folder.size() > 1 && llvm::sys::path::is_separator(folder.back()))
    folder = folder.drop_back();
  NewFolder files(module, folder);
  auto content = [](StringRef text) {
    return [text](raw_ostream &os) {
      os << text;
      return success();
    };
  };
  std::string build =
      cmakeFile(name, options.target == Target::cuda, options.archs);
  if (failed(files.create()) ||
      failed(files.write(printer->fileName(), content(source))) ||
      failed(files.write("CMakeLists.txt", content(build))) ||
      failed(files.write("weights.safetensors", [&](raw_ostream &os) {
        return writeWeights(*variables, os);
      })))
    return failure();
  for (const auto &[file, text] : options.extraFiles)
    if (failed(files.write(file, content(text))))
      return failure();
  return files.putInPlace();
}

} // namespace partita::codegen
