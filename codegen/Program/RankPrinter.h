//===- RankPrinter.h - The RankProgram of emitted programs -----*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the class whose step(), eval() and predict() issue a rank's work in
// the order of the schedule, with the buffers, kernels, communicators and
// events they use.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CODEGEN_PROGRAM_RANKPRINTER_H
#define PARTITA_CODEGEN_PROGRAM_RANKPRINTER_H

#include "codegen/Emit/GeneratedKernels.h"
#include "codegen/Emit/LibraryKernels.h"
#include "codegen/Emit/Moves.h"
#include "codegen/Emit/Schedule.h"

#include <map>
#include <tuple>

namespace partita::codegen {

/// The communicator of a communication, or of an action with `parts`.
struct CommunicatorKey {
  /// The axes as arguments: "pr", "pc".
  std::string axes;
  bool hasServers = false;
  /// Which of a server's groups.
  int64_t group = 0;

  /// Of a move over these axes; of an action.
  explicit CommunicatorKey(mlir::ArrayAttr axes);
  explicit CommunicatorKey(mlir::Operation *op);

  bool operator<(const CommunicatorKey &other) const {
    return std::tie(axes, hasServers, group) <
           std::tie(other.axes, other.hasServers, other.group);
  }
};

/// What all groups of a program share.
struct SharedText {
  SharedText(dist::GridAttr grid) : splits(grid) {}

  /// Names at namespace scope.
  Names names;
  GeneratedKernels generated;
  SplitTables splits;
  /// The communicators of the grid's ranks in the order of their first use,
  /// which is the order in which all ranks make theirs, servers too.
  std::vector<CommunicatorKey> communicators;
};

/// The flat buffer that an action with `parts` works on.
mlir::Value partsOf(mlir::Operation *op);

/// The nodes of a location as one name, or "".
std::string layerName(mlir::Location loc);

/// Prints one group of rank classes.
class RankPrinter {
public:
  /// `modelName` names the C++ class; `number` ends the names of the class and
  /// its tables, and tells the groups apart.
  RankPrinter(const Schedule &schedule, const Group &group, SharedText &shared,
              const std::string &modelName, const std::string &number);

  /// Chooses the generated kernels, which the groups share. Must have been
  /// called for all groups before `prepare`. Errors are diagnostics.
  mlir::LogicalResult chooseGenerated();
  /// Chooses library kernels and names. Errors are diagnostics.
  mlir::LogicalResult prepare();

  /// The class; the tables it needs are complete afterwards.
  void print(llvm::raw_ostream &os);
  /// Whether tensors change their layout.
  bool hasMoves() const { return !moves.empty(); }
  /// The table of what differs between the classes; after `print`.
  void printNumbers(llvm::raw_ostream &os) const;

private:
  struct LibraryObject {
    LibraryKernel kernel;
    std::string name;
  };
  /// Shares of flat buffers, one per communicator and size.
  struct SharesMember {
    std::string communicator, elements, name;
    /// Ranks before the servers that own them; 0 where there are none.
    int64_t workers = 0;
  };
  struct CommunicatorMember {
    CommunicatorKey key;
    std::string name;
  };
  struct Member {
    const Buffer *buffer;
    std::string name;
  };
  /// What is decided about an action before printing.
  struct Choice {
    int object = -1; ///< Into `objects`, for library kernels.
    std::unique_ptr<GeneratedCall> call;
    int move = -1; ///< Into `moves`, for the actions of a move.
    int site = -1; ///< The place among the phase's communications.
  };
  enum class Section { none, forward, loss, backward, update };

  void collectMembers();
  void collectCommunicators();
  void collectShares();
  /// The shares that an action with `parts` works by.
  const std::string &sharesOf(const Phase &phase, const Action &action);
  void collectEvents();
  mlir::LogicalResult chooseKernels(const Phase &phase);

  void printPhase(llvm::raw_ostream &os, const Phase &phase);
  void printLaunch(llvm::raw_ostream &os, const Phase &phase, size_t action);
  void printMove(llvm::raw_ostream &os, const Phase &phase, size_t action);
  void printSection(llvm::raw_ostream &os, llvm::StringRef section);
  void printNodes(llvm::raw_ostream &os, spmd::LaunchOp launch);
  void printWhy(llvm::raw_ostream &os, const Phase &phase,
                spmd::CommunicateOp op);
  void printCommunicate(llvm::raw_ostream &os, const Phase &phase,
                        size_t action);
  /// gather(), where owners keep what others do not have.
  void printGather(llvm::raw_ostream &os);
  /// The ranks of the grid in a communicator.
  int64_t workersOf(mlir::Operation *op) const;
  /// The tables of call sites.
  void printCalls(llvm::raw_ostream &os);
  std::string callTable(const Phase &phase) const;
  std::string callSite(const Phase &phase, size_t action);
  /// Says to the runtime which layer comes next.
  void printLayer(llvm::raw_ostream &os, mlir::Location loc,
                  llvm::StringRef section);
  void printMembers(llvm::raw_ostream &os);
  std::string communicatorOf(const CommunicatorKey &key) const;
  std::string declaration(const Buffer &buffer, llvm::StringRef name,
                          bool isMember);
  std::string describe(const Buffer &buffer);
  /// The variable of a buffer that is read or written now, declared here if it
  /// was not before.
  std::string readName(llvm::raw_ostream &os, const Buffer &buffer);
  std::string writtenName(llvm::raw_ostream &os, const Buffer &buffer,
                          spmd::LaunchOp launch);
  std::string declare(llvm::raw_ostream &os, const Buffer &buffer);
  /// An empty line between groups of statements.
  void separate(llvm::raw_ostream &os);

  const Schedule &schedule;
  const Group &group;
  SharedText &shared;
  std::string number, className, typeName, tableName;
  NumberTable numbers;
  Names names;

  std::vector<LibraryObject> objects;
  MoveObjects moves;
  std::map<std::string, int> objectIndex;
  std::vector<SharesMember> shares;
  std::vector<Member> members;
  std::vector<CommunicatorMember> communicators;
  /// Per phase and event.
  std::map<std::pair<const Phase *, int64_t>, std::string> eventNames;
  std::vector<std::string> eventList;
  std::map<const Phase *, std::vector<Choice>> choices;

  // While a phase is printed.
  std::map<const Buffer *, std::string> locals;
  Names localNames;
  /// By place, name and section; by place; section by variable.
  std::map<std::string, std::string> localViews, latestAt, declaredIn;
  std::set<std::string> printedPreparations;
  std::string currentSection;
  llvm::SmallVector<llvm::StringRef> currentNodes;
  bool isFirstLine = true;
};

/// "rank 0" or "ranks 1-2, 5"
std::string describeRanks(llvm::ArrayRef<int64_t> ranks);

} // namespace partita::codegen

#endif // PARTITA_CODEGEN_PROGRAM_RANKPRINTER_H
