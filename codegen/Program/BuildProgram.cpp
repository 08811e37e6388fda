//===- BuildProgram.cpp - Compiles an emitted program ---------------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What to pass to the compiler is in a link file, which CMake writes beside the
// runtime's libraries (see RuntimeLink.cmake): one argument per line, library
// files and include folders relative to the file itself.
//
//===----------------------------------------------------------------------===//

#include "codegen/Program/BuildProgram.h"
#include "codegen/Program/CMakeFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace partita::codegen {

namespace {

namespace fs = sys::fs;
namespace path = sys::path;

Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// What a link file says.
struct RuntimeLink {
  std::vector<std::string> compile, link;
};

StringRef linkFileName(Target target) {
  return target == Target::cuda ? "PartitaRuntimeCuda.link"
                                : "PartitaRuntimeCpu.link";
}

Expected<std::string> findLinkFile(const BuildOptions &options) {
  StringRef name = linkFileName(options.target);
  std::vector<std::string> folders;
  if (!options.runtimeFolder.empty()) {
    folders = {options.runtimeFolder, options.runtimeFolder + "/lib"};
  } else {
    static int anchor;
    std::string self = fs::getMainExecutable(nullptr, &anchor);
    SmallString<128> prefix = path::parent_path(path::parent_path(self));
    for (StringRef lib :
         {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"}) {
      SmallString<128> folder = prefix;
      path::append(folder, lib);
      folders.push_back(folder.str().str());
    }
  }
  for (const std::string &folder : folders) {
    SmallString<128> file(folder);
    path::append(file, name);
    if (fs::exists(file))
      return file.str().str();
  }
  return fail("the runtime for this target was not found: no '" + name +
              "' in " + join(folders, ", ") +
              (options.target == Target::cuda
                   ? "; build Partita where CUDA is installed"
                   : "; build or install the runtime with the compiler"));
}

Expected<RuntimeLink> readLinkFile(StringRef file) {
  auto buffer = MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!buffer)
    return fail("cannot read '" + file + "': " + buffer.getError().message());
  StringRef folder = path::parent_path(file);
  auto absolute = [&](StringRef name) {
    SmallString<128> full = folder;
    path::append(full, name);
    path::remove_dots(full, /*remove_dot_dot=*/true);
    return full.str().str();
  };
  RuntimeLink result;
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    auto [kind, value] = line.split(' ');
    if (kind == "include")
      result.compile.push_back(
          "-I" + (path::is_absolute(value) ? value.str() : absolute(value)));
    else if (kind == "compile")
      result.compile.push_back(value.str());
    else if (kind == "library")
      result.link.push_back(absolute(value));
    else if (kind == "link")
      result.link.push_back(value.str());
    else
      return fail("'" + file + "' has the line '" + line +
                  "', which no link file of this version has; build the "
                  "runtime and the compiler together");
  }
  return result;
}

/// The first of these programs that exists.
Expected<std::string> findCompiler(StringRef chosen, const char *variable,
                                   StringRef builtWith,
                                   ArrayRef<StringRef> names, StringRef what) {
  std::vector<StringRef> candidates;
  if (!chosen.empty())
    candidates = {chosen};
  else {
    if (const char *value = std::getenv(variable); value && *value)
      candidates.push_back(value);
    candidates.push_back(builtWith);
    candidates.insert(candidates.end(), names.begin(), names.end());
  }
  for (StringRef candidate : candidates)
    if (!candidate.empty())
      if (auto program = sys::findProgramByName(candidate))
        return *program;
  return fail("no " + what + " found; install one or set " + variable);
}

/// Runs a command; the error holds what it wrote to stderr.
Error run(ArrayRef<std::string> command, bool verbose) {
  if (verbose) {
    for (const std::string &word : command) {
      sys::printArg(errs(), word, /*Quote=*/false);
      errs() << ' ';
    }
    errs() << '\n';
  }
  SmallString<128> log;
  if (std::error_code error =
          fs::createTemporaryFile("partita-build", "log", log))
    return fail("cannot create a temporary file: " + error.message());
  SmallVector<StringRef> words(command.begin(), command.end());
  std::string message;
  int code =
      sys::ExecuteAndWait(words.front(), words, std::nullopt,
                          {std::nullopt, StringRef(log), StringRef(log)},
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  std::string said;
  if (auto buffer = MemoryBuffer::getFile(log, /*IsText=*/true))
    said = (*buffer)->getBuffer().str();
  (void)fs::remove(log);
  if (code == 0) {
    if (verbose)
      errs() << said;
    return Error::success();
  }
  std::string text = "'" + command.front() + "' failed on the emitted program";
  text += message.empty() ? " with exit code " + std::to_string(code)
                          : ": " + message;
  return fail(said.empty() ? text : text + "\n" + said);
}

} // namespace

Error buildProgram(StringRef folder, StringRef executable,
                   const BuildOptions &options) {
  bool isCuda = options.target == Target::cuda;
  Expected<std::string> linkFile = findLinkFile(options);
  if (!linkFile)
    return linkFile.takeError();
  Expected<RuntimeLink> runtime = readLinkFile(*linkFile);
  if (!runtime)
    return runtime.takeError();
  Expected<std::string> compiler =
      findCompiler(options.compiler, "CXX", PARTITA_CXX_COMPILER,
                   {"c++", "g++", "clang++"}, "C++ compiler");
  if (!compiler)
    return compiler.takeError();

  SmallString<128> source(folder), partial, object;
  path::append(source, isCuda ? "train.cu" : "train.cpp");
  fs::createUniquePath(executable + ".building-%%%%%%", partial,
                       /*MakeAbsolute=*/false);
  object = partial;
  object += ".o";

  std::vector<std::string> compile;
  if (isCuda) {
    Expected<std::string> nvcc =
        findCompiler(options.cudaCompiler, "CUDACXX", PARTITA_CUDA_COMPILER,
                     {"nvcc", "/usr/local/cuda/bin/nvcc"}, "CUDA compiler");
    if (!nvcc)
      return nvcc.takeError();
    compile = {*nvcc, "-std=c++17", "-O3", "-ccbin", *compiler};
    for (StringRef arch : options.archs) {
      StringRef number = arch;
      number.consume_front("sm_");
      compile.push_back(
          ("-gencode=arch=compute_" + number + ",code=sm_" + number).str());
    }
    for (const std::string &flag : runtime->compile) {
      if (!StringRef(flag).starts_with("-I"))
        compile.push_back("-Xcompiler");
      compile.push_back(flag);
    }
  } else {
    compile = {*compiler, "-std=c++17"};
    for (StringRef flag : cpuFlags())
      compile.push_back(flag == "-march=native" ? "-march=" + options.cpuArch
                                                : flag.str());
    append_range(compile, runtime->compile);
  }
  append_range(compile, std::vector<std::string>{"-c", source.str().str(), "-o",
                                                 object.str().str()});
  std::vector<std::string> link = {*compiler, object.str().str(), "-o",
                                   partial.str().str()};
  append_range(link, runtime->link);

  Error error = run(compile, options.verbose);
  if (!error)
    error = run(link, options.verbose);
  (void)fs::remove(object);
  if (!error)
    if (std::error_code code = fs::rename(partial, executable))
      error = fail("cannot write '" + executable + "': " + code.message());
  if (error)
    (void)fs::remove(partial);
  return error;
}

} // namespace partita::codegen
