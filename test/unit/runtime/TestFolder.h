//===- TestFolder.h - A folder for the files of one test --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Removed at the end of the test.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_TEST_UNIT_RUNTIME_TESTFOLDER_H
#define PARTITA_TEST_UNIT_RUNTIME_TESTFOLDER_H

#include "partita/types.h"

#include "gtest/gtest.h"
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace partita {

class TestFolder : public testing::Test {
protected:
  void SetUp() override {
    const testing::TestInfo *test =
        testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::temp_directory_path() /
             ("partita-unit-" + std::to_string(getpid()) + "-" + test->name());
    std::filesystem::create_directories(folder);
  }

  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name) const { return folder / name; }

  /// Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  std::filesystem::path folder;
};

/// What `action` throws; empty when it does not.
template <typename Action> std::string messageOf(Action action) {
  try {
    action();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

/// A message that holds `part` passes.
inline testing::AssertionResult says(const std::string &message,
                                     const std::string &part) {
  if (!part.empty() && message.find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "found \"" << message << "\", expected \"..." << part << "...\"";
}

} // namespace partita

#endif // PARTITA_TEST_UNIT_RUNTIME_TESTFOLDER_H
