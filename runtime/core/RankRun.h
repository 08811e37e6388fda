//===- RankRun.h - One rank's run of a program ------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Training, evaluation, prediction and saving, as one rank does them; the
// same code runs on all ranks.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_RANKRUN_H
#define PARTITA_CORE_RANKRUN_H

#include "core/Loader.h"
#include "core/Options.h"
#include "core/RankLog.h"
#include "core/RankParts.h"
#include "core/Report.h"
#include "core/Samples.h"
#include "core/Variables.h"

namespace partita {

/// What all ranks of a process share; made before they start.
struct Job {
  const Program &program;
  const Options &options;
  const Backend &backend;
  Failure &failure;
  /// Threads per rank.
  int threads = 1;
  /// Whether the ranks are threads of this process.
  bool oneProcess = true;
  StartValues values;
  /// Training data; empty when nothing is trained.
  DataSet training;
  /// What is evaluated and predicted on; empty when neither is asked for.
  DataSet evaluation;
  /// The calls of --debug-collectives; null without certificate.
  std::unique_ptr<Expected> expected;
};

/// An error that all ranks meet at the same point, so that none has to be
/// ended by another and the message is needed once.
class AgreedError : public Error {
public:
  using Error::Error;
};

/// The number of steps that the options ask for.
struct StepPlan {
  std::int64_t perEpoch = 0;
  std::int64_t all = 0;
  std::int64_t epochs = 0;
};
StepPlan planSteps(const Options &options, std::int64_t samples,
                   std::int64_t batch);

/// Made and used on the rank's own thread.
class RankRun {
public:
  RankRun(Job &job, World &world, int localRank, RankLog &log);
  ~RankRun();

  /// Does everything the options ask for. Returns the signal that stopped it,
  /// or 0. Throws on failure.
  int run();

  /// Returns when no queued work is left; to be called before the end of this
  /// object. After a failure, `job.failure` must have been told: queued work
  /// may wait for other ranks until then.
  void stop() noexcept;

private:
  bool first() const { return world.rank == 0; }
  /// Whether this rank owns parameters and does nothing else.
  bool serves() const { return world.rank >= program.workers(); }
  bool talks() const { return first() && !job.options.quiet; }
  void greet() const;
  void train();
  float lossOfStep();
  /// Ends the run where `loss`, which all workers have, is no finite number.
  void checkLoss(float loss, std::int64_t step, std::int64_t perEpoch) const;
  /// Lets every rank have what only owners keep.
  void gatherOwned();
  void evaluate();
  void predict();
  void checkReplicas();
  void save();
  /// The next batch, for which the rank may have to wait.
  const Batch &nextBatch(Loader &loader);
  /// Issues one phase, as step `number`.
  void issue(const char *phase, std::int64_t number,
             void (RankProgram::*work)());
  void writeTrace(std::int64_t steps);
  /// Calls `visit(number of samples that count)` after `issueBatch`, which gets
  /// the number of the batch from 1, for each batch of the evaluation data;
  /// ends early after a signal.
  void forEvaluationBatches(
      const std::function<void(std::int64_t)> &issueBatch,
      const std::function<void(std::int64_t, std::int64_t)> &visit);
  void takeInputs(const Batch &batch);
  /// Returns when the compute stream is idle.
  void finishCompute();
  /// Returns when both streams are idle.
  void finishStreams();
  /// The highest signal that any rank has noted; the streams are idle.
  int agreeOnSignal();
  /// Queues the same question behind the communication of a step, so that no
  /// rank waits for it now. Servers, which have no loss, learn so whether it
  /// is finite.
  void askForSignals(float loss);
  /// The answer to the latest question, 0 if there was none.
  int answeredSignal();
  /// On a server, the loss as far as it matters: 0 if it is finite. Waits for
  /// the workers to have done the step.
  float askedLoss();
  void reportTraining(std::int64_t steps, double seconds, double waited);
  std::vector<float> tileValues(const Tensor &tensor);
  /// The norm of all gradients of the last step together (2-norm over all
  /// elements of the whole tensors), equal on all ranks.
  double gradientNorm();

  Job &job;
  const Program &program;
  World &world;
  RankLog &log;
  std::unique_ptr<Device> device;
  Memory arena;
  std::unique_ptr<Stream> compute;
  std::unique_ptr<Stream> comm;
  std::unique_ptr<CallCheck> checks;
  Rank::Parts parts;
  Rank rank;
  std::unique_ptr<RankProgram> emitted;
  /// All ranks, over host memory, for the question after signals; null when
  /// there is one rank.
  std::unique_ptr<Communicator> everybody;
  Event signalsAnswered;
  std::int64_t signalOfRanks = 0;
  std::unique_ptr<Metrics> metrics;
  std::int64_t stepsDone = 0;
  int signal = 0;
  /// Seconds spent at borders and waiting for the comm stream.
  double waited = 0;
};

} // namespace partita

#endif // PARTITA_CORE_RANKRUN_H
