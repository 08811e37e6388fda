//===- RankRun.cpp - One rank's run of a program ----------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements RankRun.h.
//
//===----------------------------------------------------------------------===//

#include "core/RankRun.h"

#include "core/NpyFile.h"
#include "core/SampleOrder.h"
#include "core/Signals.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

using namespace partita;

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

static std::size_t bytesOfArena(const Program &program, int rank) {
  return static_cast<std::size_t>(
      program.arenaBytes[program.classOfRank[rank]]);
}

StepPlan partita::planSteps(const Options &options, std::int64_t samples,
                            std::int64_t batch) {
  StepPlan plan;
  plan.perEpoch = samples / batch;
  if (options.steps && !options.epochs)
    plan.all = *options.steps;
  else if (options.epochs.value_or(1) >
           INT64_MAX / std::max<std::int64_t>(plan.perEpoch, 1))
    plan.all = INT64_MAX;
  else
    plan.all = options.epochs.value_or(1) * plan.perEpoch;
  if (options.steps)
    plan.all = std::min(plan.all, *options.steps);
  if (plan.perEpoch > 0)
    plan.epochs = (plan.all + plan.perEpoch - 1) / plan.perEpoch;
  return plan;
}

RankRun::RankRun(Job &job, World &world, int localRank, RankLog &log)
    : job(job), program(job.program), world(world), log(log),
      device(job.backend.makeDevice(world.rank, localRank, job.threads,
                                    job.failure)),
      arena(*device, bytesOfArena(program, world.rank)),
      compute(device->makeCompute()), comm(device->makeComm(*compute)),
      checks(job.options.debugCollectives
                 ? std::make_unique<CallCheck>(
                       world.rank, program.classOfRank[world.rank], *device,
                       job.expected.get(), program.workers())
                 : nullptr),
      parts{program,      job.backend, world, *device, *compute, *comm,
            arena.data(), job.failure, {},    {},      &log,     checks.get()},
      rank(parts), signalsAnswered(*device) {
  compute->observeBy(&log, StreamRole::compute);
  comm->observeBy(&log, StreamRole::comm);
  log.check(checks.get());
  if (!job.options.trace.empty())
    log.trace(job.options.traceSteps);
  rank.seed = job.options.seed;
  rank.lr = static_cast<float>(job.options.lr);
  loadVariables(program, job.values, world.rank, *device, arena.data());
  emitted = program.make(rank);
  if (world.size > 1) {
    std::vector<int> members(static_cast<std::size_t>(world.size));
    std::iota(members.begin(), members.end(), 0);
    everybody = world.communicator(members);
    everybody->observeBy(parts.observer, std::move(members));
  }
}

RankRun::~RankRun() { log.check(nullptr); }

void RankRun::stop() noexcept {
  comm->finish();
  compute->finish();
}

int RankRun::run() {
  if (first())
    metrics = std::make_unique<Metrics>(job.options.metrics);
  if (talks())
    greet();
  if (job.options.trains())
    train();
  if (job.options.checkReplicas)
    checkReplicas();
  if (job.options.eval && !signal)
    evaluate();
  if (!job.options.predict.empty() && !signal)
    predict();
  // What was trained so far is worth keeping after a signal, too.
  if (!job.options.save.empty())
    save();
  return signal;
}

void RankRun::greet() const {
  std::string grid;
  for (const GridAxis &axis : program.grid)
    grid += (grid.empty() ? "" : " x ") + axis.name + "=" +
            std::to_string(axis.size);
  std::string servers =
      program.servers == 0
          ? ""
          : " (" + std::to_string(program.workers()) + " that train, " +
                std::to_string(program.servers) +
                (program.servers == 1 ? " server)" : " servers)");
  std::printf(
      "%s: %d %s%s%s%s%s, %s each, %lld samples per step%s%s\n",
      program.name.c_str(), world.size, world.size == 1 ? "rank" : "ranks",
      world.size == 1  ? ""
      : job.oneProcess ? " as threads"
                       : " as processes",
      servers.c_str(), grid.empty() ? "" : ", grid ", grid.c_str(),
      device->name().c_str(), static_cast<long long>(program.globalBatch),
      program.semantics.empty() ? "" : ", ", program.semantics.c_str());
  if (checks)
    std::printf("each collective is compared across ranks before it begins%s\n",
                job.expected ? ", and with the certificate"
                             : "; there is no certificate beside the program");
  std::fflush(stdout);
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

void RankRun::train() {
  const Options &options = job.options;
  std::int64_t samples = job.training.samples, batch = program.globalBatch;
  StepPlan plan = planSteps(options, samples, batch);
  if (talks() && samples % batch != 0)
    std::printf("each epoch leaves out %lld of %lld samples, which do not fill "
                "a batch\n",
                static_cast<long long>(samples % batch),
                static_cast<long long>(samples));
  // The order is asked for batch after batch: one epoch's is kept at a time.
  auto order = std::make_shared<std::pair<std::int64_t, SampleOrder>>(
      0, SampleOrder(options.seed, 0, samples, options.shuffle));
  auto idsOf = [=](std::int64_t step) {
    std::int64_t epoch = step / plan.perEpoch;
    if (order->first != epoch)
      *order = {epoch,
                SampleOrder(options.seed, epoch, samples, options.shuffle)};
    std::int64_t place = step % plan.perEpoch * batch;
    std::vector<std::int64_t> ids(batch);
    for (std::int64_t i = 0; i < batch; ++i)
      ids[i] = order->second.at(place + i);
    return ids;
  };
  std::optional<Loader> loader;
  if (!serves())
    loader.emplace(program, job.training, world.rank, plan.all, idsOf);
  ProgressLine progress(!talks(), /*rewrites=*/job.oneProcess, batch,
                        plan.epochs, plan.perEpoch, plan.all);
  {
    RankLog::Doing doing(log, Activity::ranks);
    world.barrier();
  }
  parts.traffic.restart();
  double waitedBefore = compute->waitedSeconds() + waited;
  Clock::time_point start = Clock::now();
  std::int64_t step = 0;
  while (step < plan.all && !signal) {
    Clock::time_point stepStart = Clock::now();
    ++step;
    if (loader)
      takeInputs(nextBatch(*loader));
    rank.stepIndex = step;
    issue("step", step, &RankProgram::step);
    bool looksAtGradients =
        options.gradientNorm || (step == 1 && !options.dumpStep.empty());
    if (program.overlapsSteps && !looksAtGradients)
      finishCompute();
    else
      finishStreams();
    log.stepDone(step);
    if (looksAtGradients)
      gatherOwned();
    float loss = serves() ? 0 : lossOfStep();
    if (step == 1 && !options.dumpStep.empty()) {
      std::vector<const Tensor *> gradients;
      for (const Tensor &gradient : program.gradients)
        gradients.push_back(&gradient);
      saveTensors(program, gradients, "grad:", options.dumpStep, world, *device,
                  arena.data());
    }
    std::optional<double> norm;
    if (options.gradientNorm)
      norm = gradientNorm();
    signal = answeredSignal();
    // Servers need the answer in any case.
    if (!signal || program.servers > 0)
      askForSignals(loss);
    if (serves())
      loss = askedLoss();
    if (first())
      metrics->step(step, (step - 1) / plan.perEpoch + 1, loss, options.lr,
                    secondsSince(start),
                    double(batch) / secondsSince(stepStart), norm);
    // All ranks have the same bits and come to the same conclusion.
    if (!std::isfinite(loss)) {
      finishStreams();
      progress.finish();
    }
    checkLoss(loss, step, plan.perEpoch);
    progress.step(step, loss, secondsSince(start));
  }
  finishStreams();
  if (!signal)
    signal = answeredSignal();
  double seconds = secondsSince(start);
  stepsDone = step;
  progress.finish();
  if (signal && talks())
    std::printf("stopped by signal %d after step %lld\n", signal,
                static_cast<long long>(step));
  reportTraining(step, seconds,
                 compute->waitedSeconds() + waited - waitedBefore +
                     (loader ? loader->waitedSeconds() : 0));
  if (!options.trace.empty())
    writeTrace(std::min(step, options.traceSteps));
}

void RankRun::checkLoss(float loss, std::int64_t step,
                        std::int64_t perEpoch) const {
  if (std::isfinite(loss))
    return;
  char text[160];
  std::snprintf(text, sizeof(text),
                "the loss is %s at step %lld (epoch %lld), expected a finite "
                "number; try a smaller --lr (now %g)",
                std::isnan(loss) ? "not a number" : "infinite",
                static_cast<long long>(step),
                static_cast<long long>((step - 1) / perEpoch + 1),
                job.options.lr);
  throw AgreedError(text);
}

const Batch &RankRun::nextBatch(Loader &loader) {
  RankLog::Doing doing(log, Activity::data);
  return loader.next();
}

void RankRun::issue(const char *phase, std::int64_t number,
                    void (RankProgram::*work)()) {
  log.beginPhase(phase, number);
  if (checks)
    checks->beginPhase(phase);
  (emitted.get()->*work)();
  log.endPhase();
  if (checks)
    checks->endPhase();
}

void RankRun::gatherOwned() {
  emitted->gather();
  finishStreams();
}

float RankRun::lossOfStep() {
  float loss = 0;
  device->copyOut(&loss, arena.data() + program.loss.offsets[rank.rankClass],
                  sizeof(loss));
  return loss;
}

void RankRun::takeInputs(const Batch &batch) {
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const Tensor &tensor = program.inputs[i].tensor;
    device->copyIn(arena.data() + tensor.offsets[rank.rankClass],
                   batch.inputs[i].data(), batch.inputs[i].size());
  }
}

void RankRun::finishCompute() {
  // The compute stream of a CPU has done its work when it was issued.
  if (device->kind() == Device::Kind::cpu)
    return compute->sync();
  RankLog::Doing doing(log, Activity::device);
  compute->sync();
}

void RankRun::finishStreams() {
  finishCompute();
  Clock::time_point start = Clock::now();
  log.waitBegan(StreamRole::compute);
  comm->sync();
  log.waitEnded(StreamRole::compute);
  waited += secondsSince(start);
}

int RankRun::agreeOnSignal() {
  Clock::time_point start = Clock::now();
  std::int64_t number = SignalWatch::pending();
  RankLog::Doing doing(log, Activity::ranks);
  world.maximum(&number, 1);
  waited += secondsSince(start);
  return static_cast<int>(number);
}

// What ranks tell each other in place of a signal, above all of these.
static constexpr std::int64_t kLossIsInfinite = 1000, kLossIsNoNumber = 1001;

void RankRun::askForSignals(float loss) {
  static constexpr CallSite site{"signals", "(runtime)", -1};
  signalOfRanks = SignalWatch::pending();
  if (!std::isfinite(loss))
    signalOfRanks = std::isnan(loss) ? kLossIsNoNumber : kLossIsInfinite;
  if (!everybody)
    return;
  everybody->allReduce(*comm, &signalOfRanks, 1, Reduction::max, site);
  comm->record(signalsAnswered);
}

int RankRun::answeredSignal() {
  compute->wait(signalsAnswered);
  return static_cast<int>(signalOfRanks);
}

float RankRun::askedLoss() {
  switch (answeredSignal()) {
  case kLossIsNoNumber:
    return std::numeric_limits<float>::quiet_NaN();
  case kLossIsInfinite:
    return std::numeric_limits<float>::infinity();
  default:
    return 0;
  }
}

void RankRun::reportTraining(std::int64_t steps, double seconds,
                             double waitedSeconds) {
  struct Figures {
    double utilisation, peakRate, bytes;
  };
  Figures mine{seconds > 0 ? std::clamp(1 - waitedSeconds / seconds, 0.0, 1.0)
                           : 0,
               parts.traffic.peakRate(), double(parts.traffic.totalBytes())};
  RankLog::Doing doing(log, Activity::ranks);
  std::vector<std::vector<std::byte>> all = world.gather(&mine, sizeof(mine));
  if (!first())
    return;
  Metrics::Closing closing;
  closing.steps = steps;
  closing.samples = steps * program.globalBatch;
  closing.seconds = seconds;
  closing.lowestUtilisation = 2;
  for (int index = 0; index < world.size; ++index) {
    Figures figures;
    std::memcpy(&figures, all[index].data(), sizeof(figures));
    closing.bytesSent += figures.bytes;
    closing.peakRate = std::max(closing.peakRate, figures.peakRate);
    // Servers wait for the others, which is what they are for.
    if (index >= program.workers())
      continue;
    closing.utilisation += figures.utilisation / program.workers();
    if (figures.utilisation < closing.lowestUtilisation) {
      closing.lowestUtilisation = figures.utilisation;
      closing.lowestRank = index;
    }
  }
  metrics->closing(closing);
  if (talks())
    printClosing(closing, job.oneProcess);
}

//===----------------------------------------------------------------------===//
// Evaluation and prediction
//===----------------------------------------------------------------------===//

void RankRun::forEvaluationBatches(
    const std::function<void(std::int64_t)> &issueBatch,
    const std::function<void(std::int64_t, std::int64_t)> &visit) {
  std::int64_t samples = job.evaluation.samples, batch = program.globalBatch;
  std::int64_t batches = (samples + batch - 1) / batch;
  // The last batch is filled up with samples from the beginning.
  auto idsOf = [=](std::int64_t index) {
    std::vector<std::int64_t> ids(batch);
    for (std::int64_t i = 0; i < batch; ++i)
      ids[i] = (index * batch + i) % samples;
    return ids;
  };
  std::optional<Loader> loader;
  if (!serves())
    loader.emplace(program, job.evaluation, world.rank, batches, idsOf);
  for (std::int64_t index = 0; index < batches && !signal; ++index) {
    if (loader)
      takeInputs(nextBatch(*loader));
    issueBatch(index + 1);
    finishStreams();
    visit(index, std::min(batch, samples - index * batch));
    signal = agreeOnSignal();
  }
}

std::vector<float> RankRun::tileValues(const Tensor &tensor) {
  std::vector<float> values(tileOf(program, tensor, world.rank).elements());
  device->copyOut(values.data(), arena.data() + tensor.offsets[rank.rankClass],
                  values.size() * sizeof(float));
  return values;
}

double RankRun::gradientNorm() {
  // Each element once, whatever it is cut into and however often it is held.
  double sum = 0;
  for (const Tensor &gradient : program.gradients)
    if (ownsTile(program, gradient, world.rank))
      for (float value : tileValues(gradient))
        sum += double(value) * value;
  RankLog::Doing doing(log, Activity::ranks);
  world.sum(&sum, 1);
  return std::sqrt(sum);
}

void RankRun::evaluate() {
  // Sums over the samples that count: losses, hits, positions.
  double sums[3] = {0, 0, 0};
  auto add = [&](const Tensor &tensor, std::int64_t counting, double &sum,
                 double *positions) {
    if (!ownsTile(program, tensor, world.rank))
      return;
    Tile tile = tileOf(program, tensor, world.rank);
    std::vector<float> values = tileValues(tensor);
    if (values.empty())
      return;
    std::int64_t perSample = tile.elements() / tile.size[0];
    std::int64_t rows =
        std::clamp<std::int64_t>(counting - tile.start[0], 0, tile.size[0]);
    for (std::int64_t i = 0; i < rows * perSample; ++i)
      sum += values[i];
    if (positions)
      *positions += double(rows * perSample);
  };
  forEvaluationBatches(
      [&](std::int64_t number) { issue("eval", number, &RankProgram::eval); },
      [&](std::int64_t, std::int64_t counting) {
        add(*program.evalLoss, counting, sums[0], &sums[2]);
        if (program.evalCorrect)
          add(*program.evalCorrect, counting, sums[1], nullptr);
      });
  if (signal)
    return;
  RankLog::Doing doing(log, Activity::ranks);
  world.sum(sums, 3);
  if (!first())
    return;
  double loss = sums[0] / sums[2], accuracy = sums[1] / sums[2];
  metrics->evaluation(stepsDone, loss, accuracy,
                      program.evalCorrect.has_value(), job.evaluation.samples);
  if (!talks())
    return;
  std::printf("evaluation          loss %.6g", loss);
  if (program.evalCorrect)
    std::printf(", accuracy %.2f %%", 100 * accuracy);
  std::printf(" on %lld samples of %s\n",
              static_cast<long long>(job.evaluation.samples),
              job.evaluation.name.c_str());
  std::fflush(stdout);
}

void RankRun::predict() {
  const std::string &target = job.options.predict;
  std::vector<std::unique_ptr<NpyWriter>> writers;
  if (first()) {
    bool oneFile =
        target.size() > 4 && target.compare(target.size() - 4, 4, ".npy") == 0;
    if (!oneFile)
      makeFolder(target);
    for (const Tensor &tensor : program.predictions) {
      Dims dims = tensor.dims;
      dims[0] = job.evaluation.samples;
      writers.push_back(std::make_unique<NpyWriter>(
          oneFile ? target : joinPath(target, fileNameOf(tensor.name) + ".npy"),
          tensor.type, dims));
    }
  }
  forEvaluationBatches(
      [&](std::int64_t number) {
        issue("predict", number, &RankProgram::predict);
      },
      [&](std::int64_t, std::int64_t counting) {
        for (std::size_t i = 0; i < program.predictions.size(); ++i) {
          RankLog::Doing doing(log, Activity::ranks);
          std::vector<std::byte> whole = gatherTensor(
              program, program.predictions[i], world, *device, arena.data());
          if (first())
            writers[i]->append(whole.data(),
                               whole.size() / program.globalBatch * counting);
        }
      });
  if (signal || !first())
    return;
  for (auto &writer : writers)
    writer->commit();
  if (talks())
    std::printf("predictions         %lld samples written to '%s'\n",
                static_cast<long long>(job.evaluation.samples), target.c_str());
}

void RankRun::checkReplicas() {
  RankLog::Doing doing(log, Activity::ranks);
  gatherOwned();
  std::vector<const Tensor *> tensors;
  for (const Variable &variable : program.variables)
    tensors.push_back(&variable.tensor);
  if (const Tensor *differing =
          findDifferingCopy(program, tensors, world, *device, arena.data()))
    throw AgreedError("'" + differing->name +
                      "' differs between ranks that should hold equal copies; "
                      "this is a fault of the program, not of the data");
  if (talks())
    std::printf("copies              equal on all ranks, %zu variables\n",
                tensors.size());
}

void RankRun::save() {
  RankLog::Doing doing(log, Activity::files);
  std::vector<const Tensor *> tensors;
  for (const Variable &variable : program.variables)
    if (variable.role == Role::parameter || variable.role == Role::state)
      tensors.push_back(&variable.tensor);
  std::string path = joinPath(job.options.save, "parameters.safetensors");
  if (first())
    makeFolder(job.options.save);
  saveTensors(program, tensors, "", path, world, *device, arena.data());
  if (talks())
    std::printf("parameters          written to '%s'\n", path.c_str());
}
