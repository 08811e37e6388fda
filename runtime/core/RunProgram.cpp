//===- RunProgram.cpp - From the command line to the exit code --*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses the options, opens the files, starts the ranks as threads or joins
// the job of mpirun, and turns every failure into one sentence and an exit
// code.
//
//===----------------------------------------------------------------------===//

#include "core/RankRun.h"
#include "core/Signals.h"
#include "core/Watchdog.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <sched.h>
#include <unistd.h>

using namespace partita;

namespace {

/// What mpirun tells a process before MPI is initialised.
struct Launch {
  int size = 0; ///< 0: not started by a launcher.
  int rank = 0;
};

Launch detectLaunch() {
  static const char *const names[][2] = {
      {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
      {"PMI_SIZE", "PMI_RANK"},
  };
  for (const auto &pair : names) {
    const char *size = std::getenv(pair[0]), *rank = std::getenv(pair[1]);
    if (size && rank)
      return {std::atoi(size), std::atoi(rank)};
  }
  return {};
}

/// Threads for each of `ranks` ranks on this machine. A process that was bound
/// to some cores has these for itself.
int threadsPerRank(int ranks) {
  int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  cpu_set_t bound;
  if (sched_getaffinity(0, sizeof(bound), &bound) == 0) {
    int mine = CPU_COUNT(&bound);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (mine > 0 && mine < online)
      return mine;
  }
  return std::max(1, all / ranks);
}

class Run {
public:
  Run(const std::string &executable, std::vector<std::string> arguments,
      const Program &program, const Backend &backend, const Options &options)
      : executable(executable), arguments(std::move(arguments)),
        program(program), backend(backend), options(options) {}

  int asThreads();
  int asProcess();

private:
  std::unique_ptr<Job> prepare(int ranksOnMachine, bool oneProcess);
  /// Runs one rank; failures go to `failure`.
  int runRank(Job &job, World &world, int localRank, RankLog &log);
  /// A watchdog over ranks of this process, or null when none is wanted.
  std::unique_ptr<Watchdog> startWatchdog(std::vector<RankLog *> logs,
                                          std::unique_ptr<Beacon> beacon);
  /// Called by the watchdog's thread: ends the job on all ranks.
  void endHalted(const std::string &why, const std::vector<RankLog *> &logs);
  /// After a failure that is no agreed one: leaves the last collectives in
  /// files and says where.
  void leaveCalls(const std::vector<RankLog *> &logs) const;
  void note(int rank, std::exception_ptr thrown);
  /// Returns when no rank of this process works any more. Until then other
  /// ranks may be reading this one's buffers.
  void awaitOthers();
  /// Exit code of a job that came to its end.
  static int exitCodeOf(int signal) { return signal ? 128 + signal : 0; }
  void print(int rank, const std::string &message) const;
  /// On rank 0, what is wrong when processes have other arguments than it, as
  /// another seed; else nothing.
  std::string differingArguments(World &world) const;

  const std::string &executable;
  const std::vector<std::string> arguments;
  const Program &program;
  const Backend &backend;
  const Options &options;
  Failure failure;
  /// Whether the ranks are processes that have joined.
  bool joined = false;
  std::atomic<bool> halted{false};

  std::mutex mutex;
  std::condition_variable allStopped;
  int running = 1;
};

void Run::print(int rank, const std::string &message) const {
  std::fflush(stdout);
  std::string who =
      rank < 0 || program.ranks() == 1 ? "" : program.nameOf(rank) + ": ";
  std::fprintf(stderr, "%s: error: %s%s\n", executable.c_str(), who.c_str(),
               message.c_str());
}

std::string Run::differingArguments(World &world) const {
  // Arguments hold no zero byte.
  std::string mine;
  for (const std::string &argument : arguments)
    mine += argument + '\0';
  auto all = world.gather(mine.data(), mine.size());
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    std::string text(reinterpret_cast<const char *>(all[rank].data()),
                     all[rank].size());
    if (text == mine)
      continue;
    std::vector<std::string> theirs;
    for (std::size_t at = 0; at < text.size(); at += theirs.back().size() + 1)
      theirs.push_back(text.c_str() + at);
    auto [found, expected] = std::mismatch(theirs.begin(), theirs.end(),
                                           arguments.begin(), arguments.end());
    auto nameOf = [](bool isThere, const auto &argument) {
      return isThere ? "'" + *argument + "'" : std::string("nothing");
    };
    return "rank " + std::to_string(rank) +
           " was started with other options than rank 0: found " +
           nameOf(found != theirs.end(), found) + ", expected " +
           nameOf(expected != arguments.end(), expected) +
           "; give all ranks the same options";
  }
  return "";
}

std::unique_ptr<Job> Run::prepare(int ranksOnMachine, bool oneProcess) {
  auto job = std::unique_ptr<Job>(new Job{
      program,
      options,
      backend,
      failure,
      options.threads ? options.threads : threadsPerRank(ranksOnMachine),
      oneProcess,
      StartValues(program, options.weights),
      {},
      {},
      {}});
  auto open = [&](const std::string &folder, bool withLabels) {
    return folder.empty() ? makeSynthetic(program, options.seed)
                          : openFolder(program, folder, withLabels);
  };
  if (options.trains()) {
    job->training = open(options.data, /*withLabels=*/true);
    StepPlan plan =
        planSteps(options, job->training.samples, program.globalBatch);
    bool asksForSteps =
        options.steps.value_or(1) > 0 && options.epochs.value_or(1) > 0;
    if (plan.perEpoch == 0 && asksForSteps)
      throw Error(job->training.name + " has " +
                  std::to_string(job->training.samples) +
                  " samples, expected at least one batch of " +
                  std::to_string(program.globalBatch) +
                  "; add samples or compile with a smaller --batch");
  }
  if (options.eval || !options.predict.empty()) {
    job->evaluation =
        open(options.evalData.empty() ? options.data : options.evalData,
             /*withLabels=*/options.eval);
    if (job->evaluation.samples == 0)
      throw Error(job->evaluation.name + " has no samples to evaluate");
  }
  if (options.debugCollectives) {
    std::string certificate =
        options.certificate.empty() ? findCertificate() : options.certificate;
    if (!certificate.empty())
      job->expected = std::make_unique<Expected>(certificate, program);
  }
  bool oneFile =
      options.predict.size() > 4 &&
      options.predict.compare(options.predict.size() - 4, 4, ".npy") == 0;
  if (oneFile && program.predictions.size() > 1)
    throw Error("--predict: found the file '" + options.predict +
                "', expected a folder for the " +
                std::to_string(program.predictions.size()) +
                " outputs of this model");
  return job;
}

void Run::note(int rank, std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const JobEnded &) {
    // The rank that failed has told `failure`.
  } catch (const AgreedError &error) {
    failure.raise(-1, error.what());
  } catch (const std::bad_alloc &) {
    failure.raise(rank, "no memory left on the host; compile for more ranks or "
                        "for a smaller batch");
  } catch (const std::exception &error) {
    failure.raise(rank, error.what());
  }
}

int Run::runRank(Job &job, World &world, int localRank, RankLog &log) {
  std::unique_ptr<RankRun> run;
  int signal = 0;
  log.enter();
  try {
    run = std::make_unique<RankRun>(job, world, localRank, log);
    signal = run->run();
  } catch (...) {
    note(world.rank, std::current_exception());
  }
  if (run)
    run->stop();
  if (job.oneProcess)
    log.leave();
  awaitOthers();
  return signal;
}

void Run::awaitOthers() {
  std::unique_lock<std::mutex> lock(mutex);
  --running;
  allStopped.notify_all();
  allStopped.wait(lock, [this] { return running == 0; });
}

std::unique_ptr<Watchdog> Run::startWatchdog(std::vector<RankLog *> logs,
                                             std::unique_ptr<Beacon> beacon) {
  if (options.watchdog == 0)
    return nullptr;
  return std::make_unique<Watchdog>(
      options.watchdog, logs, program.ranks(), std::move(beacon),
      /*hasLauncher=*/joined,
      [this, logs](const std::string &why) { endHalted(why, logs); });
}

void Run::endHalted(const std::string &why,
                    const std::vector<RankLog *> &logs) {
  std::string text =
      why + ". --watchdog SECONDS changes how long is waited, 0 means for ever";
  if (joined) {
    print(-1, text);
    leaveCalls(logs);
    backend.processes->abort(1);
    _exit(1);
  }
  halted = true;
  failure.raise(-1, text);
  // Ranks look at the failure wherever they wait for each other; elsewhere they
  // have to be left behind.
  constexpr auto kGrace = std::chrono::seconds(5);
  std::unique_lock<std::mutex> lock(mutex);
  if (allStopped.wait_for(lock, kGrace, [this] { return running == 0; }))
    return;
  print(-1, text);
  leaveCalls(logs);
  _exit(1);
}

void Run::leaveCalls(const std::vector<RankLog *> &logs) const {
  std::string names;
  for (const RankLog *log : logs)
    if (writeCalls(*log) && names.size() < 200)
      names += (names.empty() ? "" : ", ") + callFileOf(log->rank);
  if (!names.empty())
    std::fprintf(stderr, "%s: the last collectives are listed in %s%s\n",
                 executable.c_str(), names.c_str(),
                 joined && program.ranks() > 1
                     ? " and, where there was time, in those of other ranks"
                     : "");
}

int Run::asThreads() {
  int ranks = program.ranks();
  std::unique_ptr<Job> job;
  try {
    job = prepare(ranks, /*oneProcess=*/true);
  } catch (const std::exception &error) {
    print(-1, error.what());
    return 1;
  }
  running = ranks;
  SignalWatch watch;
  std::vector<std::unique_ptr<World>> worlds =
      backend.makeThreadWorlds(ranks, failure);
  std::vector<int> signals(ranks, 0);
  std::vector<std::unique_ptr<RankLog>> logs;
  std::vector<RankLog *> allLogs;
  for (int rank = 0; rank < ranks; ++rank)
    allLogs.push_back(
        logs.emplace_back(std::make_unique<RankLog>(rank, program.workers()))
            .get());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      signals[rank] =
          runRank(*job, *worlds[rank], /*localRank=*/rank, *logs[rank]);
    });
  std::unique_ptr<Watchdog> watchdog =
      startWatchdog(allLogs, /*beacon=*/nullptr);
  for (std::thread &thread : threads)
    thread.join();
  watchdog.reset();
  if (!failure.raised())
    return exitCodeOf(signals[0]);
  print(failure.rank(), failure.message());
  if (failure.rank() >= 0 || halted)
    leaveCalls(allLogs);
  return 1;
}

int Run::asProcess() {
  std::unique_ptr<World> world;
  std::unique_ptr<Job> job;
  std::unique_ptr<RankLog> log;
  std::unique_ptr<Watchdog> watchdog;
  int signal = 0;
  try {
    world = backend.processes->join(failure);
    joined = true;
    std::string complaint;
    if (world->size != program.ranks())
      complaint =
          "mpirun started " + std::to_string(world->size) +
          " processes, expected " + std::to_string(program.ranks()) +
          ", which this program was compiled for" +
          (program.servers > 0
               ? ", " + std::to_string(program.workers()) + " that train and " +
                     std::to_string(program.servers) + " servers"
               : "") +
          "; use mpirun -np " + std::to_string(program.ranks()) +
          " or compile it again with 'partita compile ... --ranks " +
          (program.servers > 0 ? "N --servers M'"
                               : std::to_string(world->size) + "'");
    else
      try {
        job = prepare(backend.processes->localSize(), /*oneProcess=*/false);
      } catch (const std::exception &error) {
        complaint = error.what();
      }
    std::string differing = differingArguments(*world);
    if (complaint.empty())
      complaint = differing;
    // The first rank that cannot start says why, and all end in good order.
    std::int64_t order = complaint.empty() ? 0 : world->size - world->rank;
    std::int64_t first = order;
    world->maximum(&first, 1);
    if (first > 0) {
      if (order == first)
        print(world->size == program.ranks() ? world->rank : -1, complaint);
      world.reset();
      backend.processes->leave();
      return 1;
    }
    SignalWatch watch;
    int localRank = backend.processes->localRank();
    log = std::make_unique<RankLog>(world->rank, program.workers());
    std::unique_ptr<Beacon> beacon;
    if (options.watchdog > 0 && world->size > 1)
      beacon = backend.processes->makeBeacon();
    watchdog = startWatchdog({log.get()}, std::move(beacon));
    signal = runRank(*job, *world, localRank, *log);
    // The others listen for signs of life as long as they work.
    if (!failure.raised()) {
      RankLog::Doing doing(*log, Activity::ranks);
      world->barrier();
    }
    watchdog.reset();
  } catch (const std::exception &error) {
    failure.raise(world ? world->rank : -1, error.what());
  }
  if (failure.raised()) {
    bool agreed = failure.rank() < 0 && world;
    if (!agreed || world->rank == 0)
      print(failure.rank(), failure.message());
    if (!agreed && log)
      leaveCalls({log.get()});
    watchdog.reset();
    // The others may wait for this rank for ever.
    if (!agreed)
      backend.processes->abort(1);
  }
  job.reset();
  world.reset();
  backend.processes->leave();
  return failure.raised() ? 1 : exitCodeOf(signal);
}

} // namespace

int partita::runProgramOn(int argc, char **argv, const Program &program,
                          const Backend &backend) {
  std::string executable = argc > 0 ? argv[0] : program.name;
  executable = executable.substr(executable.find_last_of('/') + 1);
  Launch launch = detectLaunch();
  bool speaks = launch.rank == 0;
  Options options;
  try {
    options = parseOptions(argc, argv, program);
    if (options.help) {
      if (speaks)
        std::fputs(helpText(program, argc > 0 ? argv[0] : "train").c_str(),
                   stdout);
      return 0;
    }
    checkTables(program);
    if (launch.size > 1 && !backend.processes)
      throw Error("this program was built without MPI and cannot run under "
                  "mpirun; run it by itself, its ranks are threads then, or "
                  "install MPI (Debian: libopenmpi-dev) and build it again");
  } catch (const UsageError &error) {
    if (speaks)
      std::fprintf(stderr, "%s: error: %s\ntry %s --help\n", executable.c_str(),
                   error.what(), executable.c_str());
    return 2;
  } catch (const std::exception &error) {
    if (speaks)
      std::fprintf(stderr, "%s: error: %s\n", executable.c_str(), error.what());
    return 1;
  }
  Run run(executable,
          std::vector<std::string>(argv + std::min(argc, 1), argv + argc),
          program, backend, options);
  if (launch.size > 0 && backend.processes)
    return run.asProcess();
  return run.asThreads();
}
