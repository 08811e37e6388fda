//===- Expected.cpp - The collectives a certificate lists ----- -*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Expected.h. The certificate was proved when the program was
// compiled; here it is only looked things up in, and what is missing is said.
//
//===----------------------------------------------------------------------===//

#include "core/Expected.h"

#include "core/File.h"

#include <unistd.h>

using namespace partita;

namespace {

/// A file that is no certificate, or none that this runtime can read.
[[noreturn]] void refuse(const std::string &path, const std::string &what) {
  throw Error("'" + path + "' " + what +
              "; compile the program again, or run without "
              "--debug-collectives");
}

const Json &member(const Json &of, const char *name, Json::Kind kind,
                   const std::string &path) {
  const Json *found = of.find(name);
  if (!found || found->kind != kind)
    refuse(path, std::string("is no certificate: \"") + name +
                     "\" is missing or of another kind");
  return *found;
}

std::string textOr(const Json &of, const char *name) {
  const Json *found = of.find(name);
  return found ? found->string : "";
}

/// What the runtime calls a kind of the schedule.
std::string kindOf(const std::string &kind, bool hasServers) {
  if (kind == "all_reduce")
    return "allReduce";
  if (kind == "reduce_scatter")
    return hasServers ? "push" : "reduceScatter";
  if (kind == "all_gather")
    return hasServers ? "fetch" : "allGather";
  return "exchange";
}

/// Whether ranks [first, last, step] lists, ranges of them, name a rank.
bool contains(const Json &ranges, int rank) {
  for (const Json &range : ranges.elements) {
    const std::vector<Json> &numbers = range.elements;
    if (numbers.size() < 2)
      continue;
    std::int64_t step = numbers.size() > 2 ? numbers[2].integer : 1;
    std::int64_t from = numbers[0].integer;
    if (rank >= from && rank <= numbers[1].integer && step > 0 &&
        (rank - from) % step == 0)
      return true;
  }
  return false;
}

/// [elements, members] runs, one number per member.
std::vector<std::int64_t> partsOf(const Json &runs, int ranks) {
  std::vector<std::int64_t> parts;
  for (const Json &run : runs.elements)
    if (run.elements.size() == 2)
      for (std::int64_t i = 0; i < run.elements[1].integer &&
                               parts.size() < static_cast<std::size_t>(ranks);
           ++i)
        parts.push_back(run.elements[0].integer);
  return parts;
}

/// [delta, stride, count, elements] runs, by rank.
std::map<int, std::int64_t> messagesOf(const Json *runs, int rank,
                                       std::int64_t ranks) {
  std::map<int, std::int64_t> messages;
  if (!runs)
    return messages;
  for (const Json &run : runs->elements) {
    const std::vector<Json> &numbers = run.elements;
    if (numbers.size() != 4)
      continue;
    for (std::int64_t i = 0; i < numbers[2].integer && i < ranks; ++i)
      messages[static_cast<int>(rank + numbers[0].integer +
                                i * numbers[1].integer)] = numbers[3].integer;
  }
  return messages;
}

} // namespace

Expected::Expected(const std::string &path, const Program &program)
    : path(path) {
  MappedFile file(path);
  try {
    root = parseJson(reinterpret_cast<const char *>(file.data()), file.size());
  } catch (const Error &error) {
    refuse(path, error.what());
  }
  if (textOr(root, "format") != "partita-certificate")
    refuse(path, "is no certificate: its \"format\" is '" +
                     textOr(root, "format") +
                     "', expected 'partita-certificate'");
  std::int64_t version =
      member(root, "version", Json::Kind::number, path).integer;
  if (version != 1)
    refuse(path,
           "is of version " + std::to_string(version) + ", expected version 1");
  std::string grid, expected;
  for (const Json &axis :
       member(root, "grid", Json::Kind::array, path).elements)
    if (axis.elements.size() == 2)
      grid += axis.elements[0].string + "=" +
              std::to_string(axis.elements[1].integer) + " ";
  for (const GridAxis &axis : program.grid)
    expected += axis.name + "=" + std::to_string(axis.size) + " ";
  std::int64_t batch = member(root, "batch", Json::Kind::number, path).integer;
  if (grid != expected || batch != program.globalBatch)
    refuse(path, "belongs to another program: found the grid " + grid +
                     "and a batch of " + std::to_string(batch) + ", expected " +
                     expected + "and " + std::to_string(program.globalBatch));
  const Json *servers = root.find("servers");
  std::int64_t found = servers ? servers->integer : 0;
  if (found != program.servers)
    refuse(path, "belongs to another program: found " + std::to_string(found) +
                     " servers, expected " + std::to_string(program.servers));
}

std::int64_t Expected::groupSize(const Json &axes) const {
  std::int64_t size = 1;
  for (const Json &axis : root.find("grid")->elements)
    for (const Json &name : axes.elements)
      if (axis.elements.size() == 2 && axis.elements[0].string == name.string)
        size *= axis.elements[1].integer;
  return size;
}

void Expected::readTable(const Json &table, int rank,
                         ExpectedCall &call) const {
  bool isParts = table.find("parts") != nullptr;
  std::int64_t ranks = 1;
  for (const Json &axis : root.find("grid")->elements)
    ranks *= axis.elements[1].integer;
  const Json &entries =
      member(table, isParts ? "parts" : "messages", Json::Kind::array, path);
  for (const Json &entry : entries.elements) {
    if (!contains(member(entry, "ranks", Json::Kind::array, path), rank))
      continue;
    if (isParts) {
      call.parts = partsOf(member(entry, "parts", Json::Kind::array, path),
                           static_cast<int>(ranks));
      return;
    }
    call.sends = messagesOf(entry.find("send"), rank, ranks);
    call.awaits = messagesOf(entry.find("receive"), rank, ranks);
    return;
  }
}

ExpectedCall Expected::read(const Json &action, int rank) const {
  ExpectedCall call;
  call.index = static_cast<int>(action.find("call")->integer);
  const Json *servers = action.find("servers");
  bool hasServers = servers && servers->integer > 0;
  call.kind = kindOf(textOr(action, "kind"), hasServers);
  call.label = textOr(action, "label");
  call.type = textOr(action, "type");
  if (call.type == "i1")
    call.type = nameOf(DType::boolean);
  call.reduction = textOr(action, "reduction");
  call.algorithm = textOr(action, "algorithm");
  call.count = member(action, "count", Json::Kind::number, path).integer;
  const Json &axes = member(action, "axes", Json::Kind::array, path);
  std::int64_t size = groupSize(axes) + (hasServers ? servers->integer : 0);
  if (const Json *parts = action.find("parts"))
    call.parts = partsOf(*parts, static_cast<int>(size));
  if (const Json *number = action.find("table")) {
    const Json &tables = member(root, "tables", Json::Kind::array, path);
    if (number->integer < 0 ||
        number->integer >= static_cast<std::int64_t>(tables.elements.size()))
      refuse(path,
             "is faulty: it has no table " + std::to_string(number->integer));
    readTable(tables.elements[static_cast<std::size_t>(number->integer)], rank,
              call);
  }
  if (call.kind == "exchange") {
    call.count = 0;
    for (auto [peer, elements] : call.sends)
      call.count += elements;
    call.isSkipped = size == 1;
  } else {
    call.isSkipped = size == 1 || call.count == 0;
  }
  return call;
}

std::vector<ExpectedCall> Expected::calls(int rank,
                                          const std::string &phase) const {
  std::vector<ExpectedCall> calls;
  for (const Json &each :
       member(root, "classes", Json::Kind::array, path).elements) {
    if (!contains(member(each, "ranks", Json::Kind::array, path), rank))
      continue;
    for (const Json &candidate :
         member(each, "phases", Json::Kind::array, path).elements)
      if (textOr(candidate, "phase") == phase)
        for (const Json &action :
             member(candidate, "actions", Json::Kind::array, path).elements)
          if (action.find("call"))
            calls.push_back(read(action, rank));
    return calls;
  }
  refuse(path, "does not speak of rank " + std::to_string(rank));
}

std::string partita::findCertificate() {
  char buffer[4096];
  ssize_t length = readlink("/proc/self/exe", buffer, sizeof(buffer));
  if (length <= 0 || length == static_cast<ssize_t>(sizeof(buffer)))
    return "";
  std::string program(buffer, static_cast<std::size_t>(length));
  std::string folder = program.substr(0, program.find_last_of('/'));
  for (const std::string &path : {program + ".src/certificate.json",
                                  joinPath(folder, "certificate.json")})
    if (fileExists(path))
      return path;
  return "";
}
