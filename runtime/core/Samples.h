//===- Samples.h - Where samples come from ----------------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A source gives the samples of one model input or label: from a .npy file,
// or made up.
//
//===----------------------------------------------------------------------===//

#ifndef PARTITA_CORE_SAMPLES_H
#define PARTITA_CORE_SAMPLES_H

#include "core/Tile.h"

#include <memory>

namespace partita {

/// The samples of one input. Reading is safe from several threads.
class SampleSource {
public:
  virtual ~SampleSource();

  /// How many there are.
  virtual std::int64_t samples() const = 0;

  /// Copies the part `tile` of the samples `ids`, one after the other, to
  /// `out`; the tile's first dimension is not looked at. Throws `Error` for a
  /// value that the model cannot take.
  virtual void read(const std::vector<std::int64_t> &ids, const Tile &tile,
                    std::byte *out) const = 0;
};

/// All inputs of a program from one place.
struct DataSet {
  /// One per input; null where the input was not asked for.
  std::vector<std::unique_ptr<SampleSource>> sources;
  std::int64_t samples = 0;
  /// What messages call it: the folder, or "synthetic data".
  std::string name;
};

/// The file name that an input is read from.
std::string dataFileOf(const Program &program, const Input &input);

/// Opens the .npy files of a folder: NAME.npy per input, labels.npy for the
/// labels, or one file per label when there are several. Labels are left out
/// when `withLabels` is not set. Throws one `Error` that lists every file that
/// is missing or does not fit.
DataSet openFolder(const Program &program, const std::string &folder,
                   bool withLabels);

/// Samples made of random numbers, functions of seed, sample and element.
/// Where a sample has one label, its other inputs depend on the label, so that
/// there is something to learn.
DataSet makeSynthetic(const Program &program, std::uint64_t seed);

} // namespace partita

#endif // PARTITA_CORE_SAMPLES_H
