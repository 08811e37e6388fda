//===- HandWrittenMlpTest.cpp - Runs the program by hand --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The behaviour a user sees: equal losses on any number of ranks, as threads
// and under mpirun, exit codes, sentences, signals.
//
//===----------------------------------------------------------------------===//

#include "core/Json.h"
#include "core/NpyFile.h"
#include "core/Safetensors.h"
#include "partita/philox.h"

#include "gtest/gtest.h"
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace partita;

namespace fs = std::filesystem;

namespace {

struct Result {
  int code = 0;
  std::string out;
  std::string err;
};

std::string contentOf(const fs::path &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class HandWrittenMlp : public testing::Test {
protected:
  void SetUp() override {
    const testing::TestInfo *test =
        testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::temp_directory_path() /
             ("partita-mlp-" + std::to_string(getpid()) + "-" + test->name());
    fs::create_directories(folder);
    writeData();
    writeWeights();
  }

  void TearDown() override { fs::remove_all(folder); }

  static float noise(std::uint32_t purpose, std::uint64_t place) {
    return uniformOf(philox(11, purpose, place, 0).word[0]) - 0.5f;
  }

  void writeData(std::int64_t strangeLabelAt = -1) {
    constexpr std::int64_t kSamples = 107;
    std::vector<float> x;
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < kSamples; ++i) {
      labels.push_back(i * 5 % 8);
      for (std::int64_t j = 0; j < 16; ++j)
        x.push_back(2 * noise(1, labels.back() * 16 + j) +
                    noise(2, i * 16 + j));
    }
    if (strangeLabelAt >= 0)
      labels[strangeLabelAt] = 8;
    NpyWriter xFile(path("x.npy"), DType::f32, {kSamples, 16});
    xFile.append(x.data(), x.size() * 4);
    xFile.commit();
    NpyWriter labelFile(path("labels.npy"), DType::i64, {kSamples});
    labelFile.append(labels.data(), labels.size() * 8);
    labelFile.commit();
  }

  void writeWeights() {
    const std::pair<const char *, Dims> parameters[] = {
        {"fc1.weight", {24, 16}},
        {"fc1.bias", {24}},
        {"fc2.weight", {8, 24}},
        {"fc2.bias", {8}}};
    SafetensorsWriter writer;
    for (const auto &parameter : parameters)
      writer.announce(parameter.first, DType::f32, parameter.second);
    writer.begin(path("start.safetensors"));
    for (const auto &parameter : parameters) {
      std::vector<float> values;
      for (std::int64_t i = 0; i < elementsOf(parameter.second); ++i)
        values.push_back(noise(3, i));
      writer.append(values.data(), values.size() * 4);
    }
    writer.commit();
  }

  std::string path(const std::string &name) const { return folder / name; }

  /// The command that runs the program on `ranks` ranks.
  std::string command(int ranks, bool mpi, const std::string &options) const {
    // What a failure leaves in the working directory goes with the folder.
    std::string text = "cd " + folder.string() +
                       " && PARTITA_TEST_RANKS=" + std::to_string(ranks) + " ";
    if (mpi)
      text +=
          std::string(PARTITA_MPIEXEC) + " -n " + std::to_string(ranks) + " ";
    return text + PARTITA_HAND_WRITTEN_MLP + " --weights " +
           path("start.safetensors") + " " + options;
  }

  Result run(int ranks, bool mpi, const std::string &options) const {
    std::string line =
        command(ranks, mpi, options) + " >" + path("out") + " 2>" + path("err");
    int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            contentOf(path("out")), contentOf(path("err"))};
  }

  std::vector<double> lossesOf(const std::string &file) const {
    std::ifstream lines(path(file));
    std::vector<double> losses;
    for (std::string line; std::getline(lines, line);) {
      Json json = parseJson(line.data(), line.size());
      if (const Json *loss = json.find("loss"))
        losses.push_back(loss->number);
    }
    return losses;
  }

  int stopWith(const std::string &signal, const std::string &target,
               bool mpi) const;

  std::string data() const { return "--data " + folder.string() + " "; }

  fs::path folder;
};

bool haveMpi() { return std::strlen(PARTITA_MPIEXEC) > 0; }

TEST_F(HandWrittenMlp, AnyNumberOfRanksTrainsTheSameModel) {
  Result one = run(1, false,
                   data() + "--epochs 4 --eval --metrics " + path("one") +
                       " --save " + path("s1") + " --dump-step " + path("g1"));
  ASSERT_EQ(one.code, 0) << one.err;
  std::vector<double> expected = lossesOf("one");
  ASSERT_EQ(expected.size(), 20u);
  EXPECT_LT(expected.back(), 0.7 * expected.front());

  Safetensors gradients(path("g1"));
  for (int ranks = 1; ranks <= 4; ++ranks)
    for (bool mpi : {false, true}) {
      if (mpi && !haveMpi())
        continue;
      SCOPED_TRACE(std::to_string(ranks) + (mpi ? " processes" : " threads"));
      // --eval makes the program compare its parameters over the ranks.
      Result many =
          run(ranks, mpi,
              data() + "--epochs 4 --eval --metrics " + path("many") +
                  " --save " + path("s") + " --dump-step " + path("g"));
      ASSERT_EQ(many.code, 0) << many.err;
      std::vector<double> losses = lossesOf("many");
      ASSERT_EQ(losses.size(), expected.size());
      for (std::size_t i = 0; i < losses.size(); ++i)
        EXPECT_NEAR(losses[i], expected[i], 1e-5 * expected[i]);
      Safetensors found(path("g"));
      ASSERT_EQ(found.all().size(), gradients.all().size());
      for (const auto &entry : gradients.all()) {
        const auto *a = reinterpret_cast<const float *>(entry.second.data);
        const auto *b =
            reinterpret_cast<const float *>(found.find(entry.first)->data);
        for (std::size_t i = 0; i < entry.second.bytes / 4; ++i)
          EXPECT_NEAR(a[i], b[i], 1e-5) << entry.first;
      }
    }
}

TEST_F(HandWrittenMlp, ThreadsAndProcessesGiveTheSameBits) {
  if (!haveMpi())
    GTEST_SKIP() << "no MPI";
  for (bool mpi : {false, true}) {
    Result result =
        run(3, mpi,
            data() + "--steps 12 --save " + path(mpi ? "mpi" : "threads") +
                " --predict " + path(mpi ? "mpi.npy" : "threads.npy"));
    ASSERT_EQ(result.code, 0) << result.err;
  }
  EXPECT_EQ(contentOf(folder / "mpi" / "parameters.safetensors"),
            contentOf(folder / "threads" / "parameters.safetensors"));
  EXPECT_EQ(contentOf(path("mpi.npy")), contentOf(path("threads.npy")));
  NpyFile predictions(path("mpi.npy"));
  EXPECT_EQ(predictions.dims(), (Dims{107, 8}));
}

TEST_F(HandWrittenMlp, EvaluationCountsEverySampleOnce) {
  std::string first, second;
  for (int ranks : {1, 3}) {
    Result result = run(ranks, false, data() + "--eval");
    ASSERT_EQ(result.code, 0) << result.err;
    std::size_t start = result.out.find("evaluation");
    ASSERT_NE(start, std::string::npos);
    (ranks == 1 ? first : second) = result.out.substr(start);
  }
  EXPECT_EQ(first, second);
  EXPECT_NE(first.find("on 107 samples"), std::string::npos);
}

TEST_F(HandWrittenMlp, SavedParametersAreAStartValue) {
  ASSERT_EQ(run(2, false, data() + "--steps 5 --save " + path("s")).code, 0);
  Result a = run(1, false,
                 data() + "--eval --quiet --metrics " + path("a") +
                     " --weights " + path("s") + "/parameters.safetensors");
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(a.out, "");
}

TEST_F(HandWrittenMlp, SyntheticDataTrain) {
  Result result =
      run(2, false, "--synthetic --epochs 2 --metrics " + path("m"));
  ASSERT_EQ(result.code, 0) << result.err;
  std::vector<double> losses = lossesOf("m");
  ASSERT_EQ(losses.size(), 128u);
  EXPECT_LT(losses.back(), 0.5 * losses.front());
  for (const char *figure :
       {"training time", "device utilisation", "network peak"})
    EXPECT_NE(result.out.find(figure), std::string::npos) << result.out;
}

//===----------------------------------------------------------------------===//
// What goes wrong
//===----------------------------------------------------------------------===//

TEST_F(HandWrittenMlp, ALabelOutOfRangeEndsAllRanks) {
  writeData(/*strangeLabelAt=*/57);
  for (bool mpi : {false, true}) {
    if (mpi && !haveMpi())
      continue;
    Result result = run(3, mpi, data() + "--epochs 1");
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(result.err.find("sample 57 of '" + path("labels.npy") +
                              "' has the label 8, expected 0 to 7"),
              std::string::npos)
        << result.err;
  }
}

TEST_F(HandWrittenMlp, ALossThatIsNoNumberEndsAllRanks) {
  for (bool mpi : {false, true}) {
    if (mpi && !haveMpi())
      continue;
    Result result = run(2, mpi, data() + "--lr 1e30 --epochs 1");
    EXPECT_EQ(result.code, 1);
    std::string sentence = "expected a finite number; try a smaller --lr";
    std::size_t place = result.err.find(sentence);
    ASSERT_NE(place, std::string::npos) << result.err;
    EXPECT_EQ(result.err.find(sentence, place + 1), std::string::npos)
        << "said by more than one rank:\n"
        << result.err;
  }
}

TEST_F(HandWrittenMlp, AllFilesThatDoNotFitAreListed) {
  fs::remove(path("x.npy"));
  NpyWriter labels(path("labels.npy"), DType::f64, {4});
  double zeros[4] = {};
  labels.append(zeros, sizeof(zeros));
  labels.commit();
  Result result = run(2, false, data());
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("'" + path("x.npy") +
                            "' is missing, expected [samples, 16] of f32"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("'" + path("labels.npy") +
                            "' holds [4] of f64, expected [samples] of i64"),
            std::string::npos)
      << result.err;
}

TEST_F(HandWrittenMlp, AWrongCommandLineExitsWithTwo) {
  Result unknown = run(1, false, data() + "--epoch 3");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("did you mean --epochs?"), std::string::npos);
  Result ranks = run(2, false, data() + "--ranks 5");
  EXPECT_EQ(ranks.code, 2);
  EXPECT_NE(ranks.err.find("found 5, expected 2"), std::string::npos);
}

TEST_F(HandWrittenMlp, TheNumberOfProcessesMustFit) {
  if (!haveMpi())
    GTEST_SKIP() << "no MPI";
  std::string line = "PARTITA_TEST_RANKS=3 " + std::string(PARTITA_MPIEXEC) +
                     " -n 2 " + PARTITA_HAND_WRITTEN_MLP + " " + data() +
                     " 2>" + path("err") + " >/dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 1);
  EXPECT_NE(
      contentOf(path("err")).find("mpirun started 2 processes, expected 3"),
      std::string::npos);
}

/// Starts the program with endless training, sends a signal to `target` once
/// the metrics show that it runs, and returns the exit code.
int HandWrittenMlp::stopWith(const std::string &signal,
                             const std::string &target, bool mpi) const {
  std::ofstream(path("stop.sh"))
      << "cd " << folder.string()
      << "\nexport PARTITA_TEST_RANKS=2\nexec >/dev/null 2>&1\n"
      << (mpi ? std::string(PARTITA_MPIEXEC) + " -n 2 " : "")
      << PARTITA_HAND_WRITTEN_MLP << " --weights " << path("start.safetensors")
      << " " << data() << "--epochs 1000000 --quiet --metrics " << path("m")
      << " --save " << path("s") << " &\njob=$!\n"
      << "for i in $(seq 100); do test -s " << path("m")
      << " && break; sleep 0.1; done\nkill -" << signal << " " << target
      << "\nwait $job\n";
  return WEXITSTATUS(std::system(("bash " + path("stop.sh")).c_str()));
}

TEST_F(HandWrittenMlp, ASignalStopsAllRanksAtOneStep) {
  EXPECT_EQ(stopWith("TERM", "$job", /*mpi=*/false), 128 + SIGTERM);
  EXPECT_TRUE(fs::exists(folder / "s" / "parameters.safetensors"));
}

TEST_F(HandWrittenMlp, ASignalToOneProcessStopsAll) {
  if (!haveMpi())
    GTEST_SKIP() << "no MPI";
  EXPECT_EQ(stopWith("TERM", "$(pgrep -P $job | tail -n 1)", /*mpi=*/true),
            128 + SIGTERM);
  EXPECT_TRUE(fs::exists(folder / "s" / "parameters.safetensors"));
}

TEST_F(HandWrittenMlp, TheDeathOfOneProcessEndsAll) {
  if (!haveMpi())
    GTEST_SKIP() << "no MPI";
  EXPECT_EQ(stopWith("KILL", "$(pgrep -P $job | tail -n 1)", /*mpi=*/true),
            128 + SIGKILL);
  EXPECT_FALSE(fs::exists(folder / "s" / "parameters.safetensors"));
}

} // namespace
