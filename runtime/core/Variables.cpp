//===- Variables.cpp - Parameters into and out of arenas --------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Variables.h.
//
//===----------------------------------------------------------------------===//

#include "core/Variables.h"

#include "core/ServerGroups.h"

#include <cstring>
#include <filesystem>
#include <map>

using namespace partita;

std::string partita::ownWeightsPath() {
  std::error_code error;
  std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);
  return self.string() + ".src/weights.safetensors";
}

StartValues::StartValues(const Program &program, const std::string &weights) {
  if (!weights.empty())
    chosen = std::make_unique<Safetensors>(weights);
  bool complete = true;
  for (const Variable &variable : program.variables)
    complete &= variable.fill || (chosen && chosen->find(variable.tensor.name));
  if (!complete && !fileExists(ownWeightsPath()))
    throw Error("the start values '" + ownWeightsPath() +
                "' are missing, which the compiler wrote beside this program; "
                "compile again or use --weights FILE");
  if (!complete)
    own = std::make_unique<Safetensors>(ownWeightsPath());

  std::string complaints;
  auto complain = [&](const Tensor &tensor, const std::string &what) {
    complaints +=
        (complaints.empty() ? "" : "; ") + ("'" + tensor.name) + "' " + what;
  };
  for (const Variable &variable : program.variables) {
    const Tensor &tensor = variable.tensor;
    // A file of the user's may lack constants, not what was trained.
    if (chosen && variable.role == Role::parameter &&
        !chosen->find(tensor.name)) {
      complain(tensor, "is missing in '" + chosen->path() + "'");
      continue;
    }
    const Safetensors::Entry *entry = find(tensor.name);
    if (!entry && !variable.fill)
      complain(tensor, "is missing in '" + own->path() + "'");
    if (entry && (entry->dims != tensor.dims || entry->type != tensor.type))
      complain(tensor, "has shape " + toString(entry->dims) + " of " +
                           nameOf(entry->type) + " in the weights file, " +
                           "expected " + toString(tensor.dims) + " of " +
                           nameOf(tensor.type));
  }
  if (!complaints.empty())
    throw Error(complaints);
}

const Safetensors::Entry *StartValues::find(const std::string &name) const {
  const Safetensors::Entry *entry = chosen ? chosen->find(name) : nullptr;
  if (!entry && own)
    entry = own->find(name);
  return entry;
}

template <typename T>
static void fillWith(std::vector<std::byte> &bytes, double value) {
  T element = static_cast<T>(value);
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T))
    std::memcpy(bytes.data() + i, &element, sizeof(T));
}

static void fillWith(std::vector<std::byte> &bytes, DType type, double value) {
  switch (type) {
  case DType::f32:
    return fillWith<float>(bytes, value);
  case DType::f64:
    return fillWith<double>(bytes, value);
  case DType::i32:
    return fillWith<std::int32_t>(bytes, value);
  case DType::i64:
    return fillWith<std::int64_t>(bytes, value);
  default:
    break;
  }
  if (value == 0)
    return fillWith<std::uint8_t>(bytes, 0);
  throw Error(std::string("a variable of type ") + nameOf(type) +
              " has a fill value, expected f32, f64, i32 or i64");
}

void partita::loadVariables(const Program &program, const StartValues &values,
                            int rank, Device &device, std::byte *arena) {
  std::vector<std::byte> dense;
  auto load = [&](const Variable &variable, int worker, std::int64_t offset) {
    const Tensor &tensor = variable.tensor;
    Tile tile = tileOf(program, tensor, worker);
    std::size_t elementBytes = sizeOf(tensor.type);
    dense.resize(tile.elements() * elementBytes);
    // A file wins over the fill value: it may hold running statistics.
    if (const Safetensors::Entry *entry = values.find(tensor.name))
      copyTile(dense.data(), entry->data, tensor.dims, tile, elementBytes);
    else
      fillWith(dense, tensor.type, *variable.fill);
    device.copyIn(arena + offset, dense.data(), dense.size());
  };
  int rankClass = program.classOfRank[rank];
  for (const Variable &variable : program.variables)
    if (hasTile(program, variable.tensor, rank))
      load(variable, rank, variable.tensor.offsets[rankClass]);
  // A server has the tiles of those that it serves.
  for (const ServedVariable &served : program.served)
    for (const Variable &variable : program.variables)
      if (rank >= program.workers() && variable.tensor.name == served.name) {
        ServerGroups groups(program, served.axes);
        for (int place = 0; place < groups.served(rank); ++place)
          load(variable, groups.leaderOf(groups.servedGroup(rank, place)),
               served.offsets[rankClass][place]);
      }
}

std::vector<std::byte> partita::gatherTensor(const Program &program,
                                             const Tensor &tensor, World &world,
                                             Device &device,
                                             const std::byte *arena) {
  std::size_t elementBytes = sizeOf(tensor.type);
  std::vector<std::byte> dense;
  if (ownsTile(program, tensor, world.rank)) {
    dense.resize(tileOf(program, tensor, world.rank).elements() * elementBytes);
    device.copyOut(dense.data(),
                   arena + tensor.offsets[program.classOfRank[world.rank]],
                   dense.size());
  }
  std::vector<std::vector<std::byte>> tiles =
      world.gather(dense.data(), dense.size());
  if (world.rank != 0)
    return {};
  std::vector<std::byte> whole(elementsOf(tensor.dims) * elementBytes);
  for (int rank = 0; rank < world.size; ++rank)
    if (ownsTile(program, tensor, rank))
      placeTile(whole.data(), tiles[rank].data(), tensor.dims,
                tileOf(program, tensor, rank), elementBytes);
  return whole;
}

void partita::saveTensors(const Program &program,
                          const std::vector<const Tensor *> &tensors,
                          const std::string &prefix, const std::string &path,
                          World &world, Device &device,
                          const std::byte *arena) {
  SafetensorsWriter writer;
  if (world.rank == 0) {
    for (const Tensor *tensor : tensors)
      writer.announce(prefix + tensor->name, tensor->type, tensor->dims);
    writer.note("producer", "partita");
    writer.note("program", program.name);
    if (!program.modelHash.empty())
      writer.note("model", program.modelHash);
    writer.begin(path);
  }
  for (const Tensor *tensor : tensors) {
    std::vector<std::byte> whole =
        gatherTensor(program, *tensor, world, device, arena);
    if (world.rank == 0)
      writer.append(whole.data(), whole.size());
  }
  if (world.rank == 0)
    writer.commit();
}

namespace {

/// FNV-1a, 64 bits: enough to tell copies apart that should be equal.
std::uint64_t hashOf(const std::vector<std::byte> &bytes) {
  std::uint64_t hash = 14695981039346656037u;
  for (std::byte byte : bytes)
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211u;
  return hash;
}

} // namespace

const Tensor *partita::findDifferingCopy(
    const Program &program, const std::vector<const Tensor *> &tensors,
    World &world, Device &device, const std::byte *arena) {
  // What each tensor's tile hashes to on this rank, then on all of them.
  std::vector<std::uint64_t> hashes;
  for (const Tensor *tensor : tensors) {
    if (!hasTile(program, *tensor, world.rank)) {
      hashes.push_back(0);
      continue;
    }
    std::vector<std::byte> dense(
        tileOf(program, *tensor, world.rank).elements() * sizeOf(tensor->type));
    device.copyOut(dense.data(),
                   arena + tensor->offsets[program.classOfRank[world.rank]],
                   dense.size());
    hashes.push_back(hashOf(dense));
  }
  std::vector<std::vector<std::byte>> all =
      world.gather(hashes.data(), hashes.size() * sizeof(std::uint64_t));
  // One more than the index of the first difference; 0 for none.
  std::int64_t differing = 0;
  for (std::size_t i = 0; i < tensors.size() && !all.empty() && !differing;
       ++i) {
    std::map<std::pair<Dims, Dims>, std::uint64_t> hashOfTile;
    for (int rank = 0; rank < world.size && !differing; ++rank) {
      if (!hasTile(program, *tensors[i], rank))
        continue;
      std::uint64_t hash = 0;
      std::memcpy(&hash, all[rank].data() + i * sizeof(hash), sizeof(hash));
      Tile tile = tileOf(program, *tensors[i], rank);
      auto [it, isFirst] =
          hashOfTile.try_emplace({tile.start, tile.size}, hash);
      if (!isFirst && it->second != hash)
        differing = static_cast<std::int64_t>(i) + 1;
    }
  }
  world.maximum(&differing, 1);
  return differing ? tensors[differing - 1] : nullptr;
}
