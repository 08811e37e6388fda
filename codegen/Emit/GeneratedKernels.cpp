//===- GeneratedKernels.cpp - Kernels printed into the program ------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Broadcasting as loops, and the optimizers' formulas.
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/GeneratedKernels.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace partita::codegen {

namespace {

/// Names of the pointers a fused kernel reads.
std::string inputName(unsigned i) {
  constexpr llvm::StringLiteral letters = "abcdefgh";
  if (i < letters.size())
    return std::string(1, letters[i]);
  return "x" + std::to_string(i);
}

/// The loops of a fused launch: dimensions of the output, neighbours merged
/// where every input moves in both or stands still in both.
struct LoopNest {
  SmallVector<Number, 4> sizes;
  /// moves[input][loop]
  std::vector<SmallVector<bool, 4>> moves;
};

bool isOne(const Number &number) {
  return llvm::all_of(number, [](int64_t v) { return v == 1; });
}

FailureOr<LoopNest> loopNest(const Launch &launch) {
  ArrayRef<Number> shape = launch.output(0).shape;
  for (unsigned i = 1; i < launch.numOutputs(); ++i)
    if (ArrayRef<Number>(launch.output(i).shape) != shape)
      return launch.op().emitError("the outputs of a fused kernel must have "
                                   "one shape");
  LoopNest nest;
  nest.moves.resize(launch.numInputs());
  SmallVector<bool, 8> previous;
  for (size_t d = 0; d < shape.size(); ++d) {
    SmallVector<bool, 8> moves;
    for (unsigned i = 0; i < launch.numInputs(); ++i) {
      ArrayRef<Number> own = launch.input(i).shape;
      size_t missing = shape.size() - own.size();
      if (own.size() > shape.size())
        return launch.op().emitError()
               << "input " << i << " has more dimensions than the outputs";
      bool moving = d >= missing && own[d - missing] == shape[d];
      if (!moving && d >= missing && !isOne(own[d - missing]))
        return launch.op().emitError()
               << "input " << i << " does not broadcast to the outputs";
      moves.push_back(moving);
    }
    if (isOne(shape[d]))
      continue;
    if (!nest.sizes.empty() && moves == previous) {
      nest.sizes.back() =
          product({nest.sizes.back(), shape[d]}, launch.numClasses());
      continue;
    }
    nest.sizes.push_back(shape[d]);
    for (auto [list, moving] : llvm::zip_equal(nest.moves, moves))
      list.push_back(moving);
    previous = moves;
  }
  // A single element is a loop of one.
  if (nest.sizes.empty()) {
    nest.sizes.push_back(Number(launch.numClasses(), 1));
    for (auto &list : nest.moves)
      list.push_back(true);
  }
  return nest;
}

LogicalResult checkElements(const Launch &launch, const Buffer &buffer,
                            bool updates) {
  if (updates ? buffer.elementType.isF32() : !cType(buffer.elementType).empty())
    return success();
  return launch.op().emitError()
         << "kernel '" << launch.kernel() << "' cannot hold elements of "
         << buffer.elementType << " (buffer '" << buffer.name()
         << "'): expected "
         << (updates ? "f32" : "f32, f64, i1, i8, i16, i32 or i64");
}

/// The operands' part of a kernel's key.
std::string keyOf(const GeneratedKernel &kernel) {
  std::string key = std::to_string(kernel.loops);
  for (const KernelOperand &operand : kernel.operands) {
    key += "|" + operand.type + (operand.isRead ? "r" : "") +
           (operand.isWritten ? "w" : "");
    for (bool moves : operand.moves)
      key += moves ? '1' : '0';
  }
  return key;
}

std::string literal(double value) {
  return floatLiteral(static_cast<float>(value));
}

/// A parameter that must be equal in all classes.
FailureOr<double> constant(const Launch &launch, StringRef param,
                           std::optional<double> fallback = {}) {
  FailureOr<Real> value = launch.real(param, fallback);
  if (failed(value))
    return failure();
  if (!isSame(ArrayRef<double>(*value)))
    return launch.op().emitError()
           << "parameter '" << param << "' differs between rank classes";
  return value->front();
}

} // namespace

unsigned GeneratedKernel::numReads() const {
  return llvm::count_if(operands,
                        [](const KernelOperand &o) { return o.isRead; });
}

ScalarCode GeneratedKernels::used() const {
  ScalarCode all;
  for (const auto &kernel : kernels) {
    ScalarCode code =
        kernel->code(std::vector<std::string>(kernel->numReads(), "x"));
    all.helpers.insert(code.helpers.begin(), code.helpers.end());
    all.floatFunctions.insert(code.floatFunctions.begin(),
                              code.floatFunctions.end());
  }
  return all;
}

bool GeneratedKernels::generates(StringRef kernel) {
  return kernel == "nn.fused" || kernel == "nn.sgd" || kernel == "nn.adam";
}

FailureOr<GeneratedCall> GeneratedKernels::add(const Launch &launch,
                                               Names &names) {
  bool updates = launch.kernel() != "nn.fused";
  for (unsigned i = 0; i < launch.numInputs(); ++i)
    if (failed(checkElements(launch, launch.input(i), updates)))
      return failure();
  for (unsigned i = 0; i < launch.numOutputs(); ++i)
    if (failed(checkElements(launch, launch.output(i), updates)))
      return failure();
  if (launch.kernel() == "nn.sgd")
    return addSgd(launch, names);
  if (launch.kernel() == "nn.adam")
    return addAdam(launch, names);
  return addFused(launch, names);
}

GeneratedKernel &GeneratedKernels::find(GeneratedKernel kernel, StringRef key,
                                        StringRef title, const Launch &launch,
                                        ArrayRef<Number> sizes, Names &names) {
  // A kernel for tensors of 2^31 elements counts in 64 bits, and one whose
  // rows come in fours moves 16 bytes at a time: other kernels.
  for (size_t c = 0; c < launch.numClasses(); ++c) {
    int64_t total = 1;
    for (const Number &size : sizes)
      total *= size[c];
    kernel.isNarrow &= total < (int64_t(1) << 31);
    kernel.isInFours &= sizes.back()[c] % 4 == 0;
  }
  // A flat kernel handles the last few elements itself.
  kernel.isInFours |= kernel.loops == 1;
  std::string fullKey = key.str() + "|" + keyOf(kernel) +
                        (kernel.isNarrow ? "n" : "w") +
                        (kernel.isInFours ? "4" : "1");
  auto it = llvm::find(keys, fullKey);
  if (it == keys.end()) {
    kernel.name = names.make(title);
    kernels.push_back(std::make_unique<GeneratedKernel>(std::move(kernel)));
    keys.push_back(fullKey);
    it = std::prev(keys.end());
  }
  GeneratedKernel &found = *kernels[it - keys.begin()];
  for (StringRef node : nodeNames(launch.loc()))
    if (!llvm::is_contained(found.usedBy, node))
      found.usedBy.push_back(node.str());
  return found;
}

FailureOr<GeneratedCall> GeneratedKernels::addFused(const Launch &launch,
                                                    Names &names) {
  FailureOr<LoopNest> nest = loopNest(launch);
  if (failed(nest))
    return failure();
  GeneratedKernel kernel;
  kernel.loops = nest->sizes.size();
  GeneratedCall call;
  call.sizes = nest->sizes;
  std::vector<std::string> values;
  for (unsigned i = 0; i < launch.numInputs(); ++i) {
    const Buffer &buffer = launch.input(i);
    values.push_back(inputName(i));
    kernel.operands.push_back({values.back(), cType(buffer.elementType),
                               /*isRead=*/true, /*isWritten=*/false,
                               nest->moves[i]});
    call.buffers.push_back(&buffer);
  }
  SmallVector<bool, 4> all(kernel.loops, true);
  for (unsigned i = 0; i < launch.numOutputs(); ++i) {
    const Buffer &buffer = launch.output(i);
    std::string name = launch.numOutputs() == 1 ? "y" : "y" + std::to_string(i);
    kernel.operands.push_back({name, cType(buffer.elementType),
                               /*isRead=*/false, /*isWritten=*/true, all});
    call.buffers.push_back(&buffer);
  }
  FailureOr<ScalarCode> code = printScalarCode(launch.op(), values);
  if (failed(code))
    return failure();
  std::string key =
      llvm::join(code->statements, "") + "|" + llvm::join(code->results, ";");
  kernel.code = [op = launch.op()](ArrayRef<std::string> names) {
    return *printScalarCode(op, names);
  };
  call.kernel = &find(std::move(kernel), key, "fused" + typeCase(code->title),
                      launch, call.sizes, names);
  return call;
}

FailureOr<GeneratedCall> GeneratedKernels::addSgd(const Launch &launch,
                                                  Names &names) {
  FailureOr<double> momentum = constant(launch, "momentum", 0.0);
  FailureOr<double> decay = constant(launch, "weight_decay", 0.0);
  if (failed(momentum) || failed(decay))
    return failure();
  bool nesterov = launch.has("nesterov");
  bool hasState = *momentum != 0.0;
  unsigned tensors = hasState ? 3 : 2;
  if (launch.numInputs() != tensors || launch.numOutputs() != tensors - 1)
    return launch.op().emitError()
           << "kernel 'nn.sgd' with momentum " << *momentum << " takes "
           << tensors << " inputs and " << tensors - 1 << " outputs, found "
           << launch.numInputs() << " and " << launch.numOutputs();
  GeneratedKernel kernel;
  SmallVector<bool, 4> flat = {true};
  kernel.scalars = {{"lr", "float"}};
  kernel.operands = {{"w", "float", true, true, flat},
                     {"g", "float", true, false, flat}};
  if (hasState)
    kernel.operands.push_back({"m", "float", true, true, flat});
  kernel.purpose = "stochastic gradient descent";
  if (hasState)
    kernel.purpose += nesterov ? " with Nesterov momentum" : " with momentum";
  if (*decay != 0.0)
    kernel.purpose +=
        *momentum != 0.0 ? " and weight decay" : " with weight decay";
  kernel.code = [=, m = *momentum, d = *decay](ArrayRef<std::string> names) {
    ScalarCode code;
    const std::string &w = names[0], &g = names[1];
    code.reads = {1, 1, 1};
    std::string direction = g;
    if (d != 0.0) {
      code.reads = {2, 1, 1};
      direction = "decayed";
      code.statements.push_back("const float decayed = " + g + " + " +
                                literal(d) + " * " + w + ";");
    }
    if (!hasState) {
      code.results = {w + " - lr * " + direction};
      return code;
    }
    code.statements.push_back("const float moved = " + literal(m) + " * " +
                              names[2] + " + " + direction + ";");
    std::string step = "moved";
    if (nesterov) {
      code.reads[1] += d == 0.0;
      step = "(" + direction + " + " + literal(m) + " * moved)";
    }
    code.results = {w + " - lr * " + step, "moved"};
    return code;
  };
  GeneratedCall call;
  call.sizes = {launch.input(0).elements()};
  call.scalars = {"rank.lr"};
  for (unsigned i = 0; i < tensors; ++i)
    call.buffers.push_back(&launch.input(i));
  std::string key = "sgd" + literal(*momentum) + "|" + literal(*decay) +
                    (nesterov ? "n" : "");
  call.kernel =
      &find(std::move(kernel), key, "sgdUpdate", launch, call.sizes, names);
  return call;
}

GeneratedKernels::AdamCorrection &
GeneratedKernels::findCorrection(double beta1, double beta2, Names &names) {
  for (AdamCorrection &known : corrections)
    if (known.beta1 == beta1 && known.beta2 == beta2)
      return known;
  AdamCorrection next{
      beta1, beta2, names.make("stepSize"), names.make("rootCorrection"), {}};
  auto power = [](double beta) {
    return "(1.0 - std::pow(" + doubleLiteral(beta) + ", rank.stepIndex))";
  };
  next.statements = {
      "// Adam's moments began at zero; these correct them in step t.",
      "const auto " + next.stepSize + " =",
      "    static_cast<float>(rank.lr / " + power(beta1) + ");",
      "const auto " + next.root + " =",
      "    static_cast<float>(1.0 / std::sqrt" + power(beta2) + ");"};
  corrections.push_back(std::move(next));
  return corrections.back();
}

FailureOr<GeneratedCall> GeneratedKernels::addAdam(const Launch &launch,
                                                   Names &names) {
  FailureOr<double> beta1 = constant(launch, "beta1", 0.9);
  FailureOr<double> beta2 = constant(launch, "beta2", 0.999);
  FailureOr<double> eps = constant(launch, "eps", 1e-8);
  FailureOr<double> decay = constant(launch, "weight_decay", 0.0);
  if (failed(beta1) || failed(beta2) || failed(eps) || failed(decay))
    return failure();
  if (launch.numInputs() != 4 || launch.numOutputs() != 3)
    return launch.op().emitError()
           << "kernel 'nn.adam' takes 4 inputs and 3 outputs, found "
           << launch.numInputs() << " and " << launch.numOutputs();
  bool decoupled = launch.has("decoupled") && *decay != 0.0;
  bool coupled = *decay != 0.0 && !decoupled;
  GeneratedKernel kernel;
  SmallVector<bool, 4> flat = {true};
  kernel.scalars = {{"stepSize", "float"}, {"rootCorrection", "float"}};
  if (decoupled)
    kernel.scalars.push_back({"lr", "float"});
  kernel.operands = {{"w", "float", true, true, flat},
                     {"g", "float", true, false, flat},
                     {"m", "float", true, true, flat},
                     {"v", "float", true, true, flat}};
  kernel.purpose = decoupled ? "AdamW"
                   : coupled ? "Adam with weight decay"
                             : "Adam";
  kernel.code = [=, b1 = *beta1, b2 = *beta2, e = *eps,
                 d = *decay](ArrayRef<std::string> names) {
    ScalarCode code;
    std::string w = names[0], g = names[1];
    code.reads = {1u + coupled, coupled ? 1u : 3u, 1, 1};
    if (coupled) {
      code.statements.push_back("const float decayed = " + g + " + " +
                                literal(d) + " * " + w + ";");
      g = "decayed";
    }
    code.statements.push_back("const float first = " + literal(b1) + " * " +
                              names[2] + " + " + literal(1.0 - b1) + " * " + g +
                              ";");
    code.statements.push_back("const float second = " + literal(b2) + " * " +
                              names[3] + " + " + literal(1.0 - b2) + " * " + g +
                              " * " + g + ";");
    code.statements.push_back(
        "const float root = std::sqrt(second) * rootCorrection + " +
        literal(e) + ";");
    if (decoupled)
      w = "(1.0f - lr * " + literal(d) + ") * " + w;
    code.results = {w + " - stepSize * first / root", "first", "second"};
    return code;
  };
  GeneratedCall call;
  call.sizes = {launch.input(0).elements()};
  AdamCorrection &correction = findCorrection(*beta1, *beta2, names);
  call.scalars = {correction.stepSize, correction.root};
  if (decoupled)
    call.scalars.push_back("rank.lr");
  call.preparation = correction.statements;
  for (unsigned i = 0; i < 4; ++i)
    call.buffers.push_back(&launch.input(i));
  std::string key = "adam" + doubleLiteral(*beta1) + "|" +
                    doubleLiteral(*beta2) + "|" + literal(*eps) + "|" +
                    literal(*decay) + (decoupled ? "d" : "");
  call.kernel =
      &find(std::move(kernel), key, "adamUpdate", launch, call.sizes, names);
  return call;
}

} // namespace partita::codegen
