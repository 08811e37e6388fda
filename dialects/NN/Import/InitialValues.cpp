//===- InitialValues.cpp - Rules for fresh weights -------------*- C++ -*-===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The named initialisation rules: Glorot and Bengio (AISTATS'10, called
// xavier), He et al. (ICCV'15), LeCun et al. (Efficient BackProp, 1998). Each
// gives a standard deviation or a bound from the numbers of inputs and outputs
// of a unit.
//
//===----------------------------------------------------------------------===//

#include "dialects/NN/Import/Importer.h"

#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace llvm;
using namespace mlir;

namespace partita::nn {
namespace {

enum class Scheme {
  heNormal,
  heUniform,
  xavierNormal,
  xavierUniform,
  lecunNormal,
  normal,
  uniform,
  zeros
};

struct Rule {
  Scheme scheme = Scheme::zeros;
  /// Standard deviation or bound of `normal` and `uniform`.
  double scale = 0.0;
};

std::optional<Rule> parseRule(StringRef text) {
  auto [name, number] = text.split(':');
  std::optional<Scheme> scheme =
      llvm::StringSwitch<std::optional<Scheme>>(name)
          .Case("he_normal", Scheme::heNormal)
          .Case("he_uniform", Scheme::heUniform)
          .Case("xavier_normal", Scheme::xavierNormal)
          .Case("xavier_uniform", Scheme::xavierUniform)
          .Case("lecun_normal", Scheme::lecunNormal)
          .Case("normal", Scheme::normal)
          .Case("uniform", Scheme::uniform)
          .Case("zeros", Scheme::zeros)
          .Default(std::nullopt);
  if (!scheme)
    return std::nullopt;
  Rule rule{*scheme};
  bool takesNumber = *scheme == Scheme::normal || *scheme == Scheme::uniform;
  if (takesNumber != text.contains(':'))
    return std::nullopt;
  if (takesNumber && (number.getAsDouble(rule.scale) ||
                      !std::isfinite(rule.scale) || rule.scale < 0))
    return std::nullopt;
  return rule;
}

/// Whether `pattern` with `*` (any text) and `?` (any character) matches.
bool matches(StringRef pattern, StringRef name) {
  size_t p = 0, n = 0, star = StringRef::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]) &&
        pattern[p] != '*') {
      ++p;
      ++n;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (star != StringRef::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.drop_front(p).find_first_not_of('*') == StringRef::npos;
}

/// The 63 low bits of the FNV-1a hash: a number for a name that no compiler
/// or library version changes.
int64_t streamOf(StringRef name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : name)
    hash = (hash ^ c) * 0x100000001b3;
  return static_cast<int64_t>(hash & 0x7fffffffffffffff);
}

/// Inputs and outputs of one unit of a weight.
struct Fan {
  double in = 1, out = 1;
};

Fan fanOf(ArrayRef<int64_t> shape, importer::Purpose purpose) {
  double field = 1;
  for (int64_t size : shape.drop_front(std::min<size_t>(2, shape.size())))
    field *= static_cast<double>(size);
  double first = shape.empty() ? 1 : static_cast<double>(shape[0]);
  double second = shape.size() < 2 ? first : static_cast<double>(shape[1]);
  if (purpose == importer::Purpose::inByOut)
    return {first, second};
  return {std::max(1.0, second * field), std::max(1.0, first * field)};
}

Attribute randomValue(MLIRContext *context, StringRef rule, double scale,
                      int64_t seed, StringRef name) {
  return RandomAttr::get(context, rule,
                         FloatAttr::get(Float64Type::get(context), scale), seed,
                         streamOf(name));
}

Attribute fillValue(RankedTensorType type, double value) {
  return importer::Constant::splat(type, value).toAttribute();
}

Attribute initialValue(const Rule &rule, VariableOp variable,
                       importer::Purpose purpose, int64_t seed) {
  RankedTensorType type = variable.getTensorType();
  Fan fan = fanOf(type.getShape(), purpose);
  auto random = [&](StringRef name, double scale) {
    return randomValue(variable.getContext(), name, scale, seed,
                       variable.getSymName());
  };
  switch (rule.scheme) {
  case Scheme::heNormal:
    return random("normal", std::sqrt(2.0 / fan.in));
  case Scheme::heUniform:
    return random("uniform", std::sqrt(6.0 / fan.in));
  case Scheme::xavierNormal:
    return random("normal", std::sqrt(2.0 / (fan.in + fan.out)));
  case Scheme::xavierUniform:
    return random("uniform", std::sqrt(6.0 / (fan.in + fan.out)));
  case Scheme::lecunNormal:
    return random("normal", std::sqrt(1.0 / fan.in));
  case Scheme::normal:
    return random("normal", rule.scale);
  case Scheme::uniform:
    return random("uniform", rule.scale);
  case Scheme::zeros:
    return fillValue(type, 0.0);
  }
  llvm_unreachable("all schemes are handled");
}

} // namespace

/// Whether the scale comes from the numbers of inputs and outputs of a unit,
/// which vectors do not have.
static bool takesFan(Scheme scheme) {
  return scheme != Scheme::normal && scheme != Scheme::uniform &&
         scheme != Scheme::zeros;
}

/// 0 for what shifts, 1 for what scales, nothing for others.
static Attribute neutralValue(const importer::Variable &variable) {
  VariableOp op = variable.op;
  switch (variable.purpose) {
  case importer::Purpose::shift:
    return fillValue(op.getTensorType(), 0.0);
  case importer::Purpose::scale:
    return fillValue(op.getTensorType(), 1.0);
  default:
    return Attribute();
  }
}

bool isInitRule(StringRef rule) { return parseRule(rule).has_value(); }

namespace importer {

void applyInitRules(MutableArrayRef<Variable> variables,
                    const ImportOptions &options, Reporter &reporter) {
  constexpr StringLiteral kExpected =
      ", expected he_normal, he_uniform, xavier_normal, xavier_uniform, "
      "lecun_normal, normal:STD, uniform:A or zeros";
  std::optional<Rule> general;
  if (!options.init.empty()) {
    general = parseRule(options.init);
    if (!general)
      reporter.error("unknown initialisation rule " + quote(options.init) +
                     kExpected);
  }
  std::vector<Rule> rules;
  for (const auto &[pattern, text] : options.initPatterns) {
    std::optional<Rule> rule = parseRule(text);
    if (!rule)
      reporter.error("unknown initialisation rule " + quote(text) + kExpected);
    rules.push_back(rule.value_or(Rule()));
  }

  std::vector<bool> used(rules.size(), false);
  for (Variable &variable : variables) {
    VariableOp op = variable.op;
    if (op.getRole() != Role::parameter && op.getRole() != Role::state)
      continue;
    RankedTensorType type = op.getTensorType();
    Attribute value;
    // General rule: what shifts starts at 0, what scales at 1, and vectors of
    // unknown purpose keep the file's values.
    if (general) {
      value = neutralValue(variable);
      if (!value && type.getRank() >= 2)
        value = initialValue(*general, op, variable.purpose, options.seed);
    }
    for (auto [i, entry] : llvm::enumerate(options.initPatterns)) {
      if (!matches(entry.first, op.getSymName()))
        continue;
      used[i] = true;
      if (takesFan(rules[i].scheme) && type.getRank() < 2)
        value = neutralValue(variable);
      else
        value = initialValue(rules[i], op, variable.purpose, options.seed);
    }
    if (value)
      op.setInitialAttr(value);
  }
  for (auto [i, entry] : llvm::enumerate(options.initPatterns))
    if (!used[i])
      reporter.error("--init " + entry.first + "=" + entry.second +
                     ": no trained variable matches " + quote(entry.first));
}

} // namespace importer
} // namespace partita::nn
