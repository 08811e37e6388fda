//===- Variables.h - Parameters into and out of arenas ----------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Start values come from fill values and safetensors files; results are
// gathered from the ranks' tiles into whole tensors.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_VARIABLES_H
#define PARTITA_CORE_VARIABLES_H

#include "core/Safetensors.h"
#include "core/Tile.h"
#include "partita/backend.h"

#include <memory>

namespace partita {

/// The files with start values, opened once per process.
class StartValues {
public:
  /// Opens `weights` (the user's choice, may be empty) and, when that does not
  /// have everything, the file that came with the program. Throws one `Error`
  /// that lists every variable that is missing or has another shape.
  StartValues(const Program &program, const std::string &weights);

  /// The entry of a variable without fill value.
  const Safetensors::Entry *find(const std::string &name) const;

private:
  std::unique_ptr<Safetensors> chosen;
  std::unique_ptr<Safetensors> own;
};

/// The weights that the compiler wrote for the program that is running:
/// <its own path>.src/weights.safetensors.
std::string ownWeightsPath();

/// Fills one rank's tiles of all variables.
void loadVariables(const Program &program, const StartValues &values, int rank,
                   Device &device, std::byte *arena);

/// The whole tensor on rank 0, nothing on the others. All ranks call it, while
/// their streams are idle.
std::vector<std::byte> gatherTensor(const Program &program,
                                    const Tensor &tensor, World &world,
                                    Device &device, const std::byte *arena);

/// Writes whole tensors to a file; all ranks call it, rank 0 writes. The names
/// get `prefix`.
void saveTensors(const Program &program,
                 const std::vector<const Tensor *> &tensors,
                 const std::string &prefix, const std::string &path,
                 World &world, Device &device, const std::byte *arena);

/// Compares, bit by bit, what ranks with the same tile of a tensor hold.
/// Returns the first tensor whose copies differ, or null; the same on all
/// ranks, which all call it while their streams are idle.
const Tensor *findDifferingCopy(const Program &program,
                                const std::vector<const Tensor *> &tensors,
                                World &world, Device &device,
                                const std::byte *arena);

} // namespace partita

#endif // PARTITA_CORE_VARIABLES_H
