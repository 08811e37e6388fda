//===- ScalarCode.cpp - Scalar bodies of fused kernels as C++ -------------===//
//
// Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expressions with as few parentheses as their precedences allow.
//
//===----------------------------------------------------------------------===//

#include "codegen/Emit/ScalarCode.h"
#include "codegen/Emit/Text.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace partita::codegen {

std::string cType(Type type) {
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isInteger(1))
    return "bool";
  for (unsigned width : {8, 16, 32, 64})
    if (type.isInteger(width))
      return "std::int" + std::to_string(width) + "_t";
  return "";
}

StringRef dtypeName(Type type) {
  if (type.isF32())
    return "f32";
  if (type.isF64())
    return "f64";
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (type.isInteger(1))
    return "boolean";
  if (type.isInteger(8))
    return "i8";
  if (type.isInteger(16))
    return "i16";
  if (type.isInteger(32))
    return "i32";
  if (type.isInteger(64))
    return "i64";
  return "";
}

std::string textOf(ScalarHelper helper, StringRef qualifier) {
  std::string start = qualifier.empty() ? "" : (qualifier + " ").str();
  switch (helper) {
  case ScalarHelper::maximum:
    return "/// The larger of two numbers; NaN if either is NaN.\n"
           "template <typename T> " +
           start +
           "inline T maximum(T a, T b) {\n"
           "  return ((a > b) | (a != a)) ? a : b;\n"
           "}\n";
  case ScalarHelper::minimum:
    return "/// The smaller of two numbers; NaN if either is NaN.\n"
           "template <typename T> " +
           start +
           "inline T minimum(T a, T b) {\n"
           "  return ((a < b) | (a != a)) ? a : b;\n"
           "}\n";
  case ScalarHelper::integerPower:
    return "/// An integer to an integer power; 0 for fractions.\n"
           "template <typename T> " +
           start +
           "inline T integerPower(T base, T exponent) {\n"
           "  if (exponent < 0)\n"
           "    return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) "
           ": 0;\n"
           "  T result = 1;\n"
           "  for (; exponent > 0; exponent >>= 1) {\n"
           "    if (exponent & 1)\n"
           "      result *= base;\n"
           "    base *= base;\n"
           "  }\n"
           "  return result;\n"
           "}\n";
  }
  return "";
}

namespace {

/// How tightly an expression's outermost operator binds.
enum Precedence {
  kTernary = 1,
  kOr,
  kXor,
  kAnd,
  kEquality,
  kRelation,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kPrimary
};

struct Expression {
  std::string text;
  int precedence = kPrimary;
};

// Longer expressions get a name, so that lines stay short.
constexpr size_t kLongestInlined = 44;

/// Names of math operations that are functions of <cmath>.
const llvm::StringMap<const char *> &cmathFunctions() {
  static const llvm::StringMap<const char *> names = {
      {"math.absf", "abs"},          {"math.exp", "exp"},
      {"math.exp2", "exp2"},         {"math.expm1", "expm1"},
      {"math.log", "log"},           {"math.log1p", "log1p"},
      {"math.log2", "log2"},         {"math.log10", "log10"},
      {"math.sqrt", "sqrt"},         {"math.cbrt", "cbrt"},
      {"math.erf", "erf"},           {"math.tanh", "tanh"},
      {"math.sinh", "sinh"},         {"math.cosh", "cosh"},
      {"math.sin", "sin"},           {"math.cos", "cos"},
      {"math.tan", "tan"},           {"math.atan", "atan"},
      {"math.asin", "asin"},         {"math.acos", "acos"},
      {"math.asinh", "asinh"},       {"math.acosh", "acosh"},
      {"math.atanh", "atanh"},       {"math.atan2", "atan2"},
      {"math.powf", "pow"},          {"math.floor", "floor"},
      {"math.ceil", "ceil"},         {"math.trunc", "trunc"},
      {"math.round", "round"},       {"math.roundeven", "nearbyint"},
      {"math.copysign", "copysign"}, {"math.fma", "fma"},
      {"arith.remf", "fmod"},        {"arith.maxnumf", "fmax"},
      {"arith.minnumf", "fmin"},     {"math.absi", "abs"}};
  return names;
}

struct Binary {
  const char *symbol;
  int precedence;
  const char *word;
};

const llvm::StringMap<Binary> &binaryOperators() {
  static const llvm::StringMap<Binary> operators = {
      {"arith.addf", {"+", kSum, "add"}},
      {"arith.addi", {"+", kSum, "add"}},
      {"arith.subf", {"-", kSum, "sub"}},
      {"arith.subi", {"-", kSum, "sub"}},
      {"arith.mulf", {"*", kProduct, "mul"}},
      {"arith.muli", {"*", kProduct, "mul"}},
      {"arith.divf", {"/", kProduct, "div"}},
      {"arith.divsi", {"/", kProduct, "div"}},
      {"arith.remsi", {"%", kProduct, "rem"}},
      {"arith.andi", {"&", kAnd, "and"}},
      {"arith.ori", {"|", kOr, "or"}},
      {"arith.xori", {"^", kXor, "xor"}},
      {"arith.shli", {"<<", kShift, "shift"}},
      {"arith.shrsi", {">>", kShift, "shift"}}};
  return operators;
}

class Printer {
public:
  Printer(spmd::LaunchOp launch, ArrayRef<std::string> arguments)
      : launch(launch), arguments(arguments) {}

  FailureOr<ScalarCode> run();

private:
  LogicalResult print(Operation *op);
  FailureOr<Expression> expression(Operation *op);
  Expression constant(arith::ConstantOp op);
  Expression compare(arith::CmpFOp op);
  Expression compare(arith::CmpIOp op);

  /// A value as an operand of an operator that binds as `precedence`;
  /// `strict` asks for parentheses at equal precedence.
  std::string use(Value value, int precedence, bool strict = false) {
    const Expression &e = values[value];
    bool paren = e.precedence < precedence ||
                 (strict && e.precedence == precedence) ||
                 // What compilers warn about: mixed bitwise operators.
                 (e.precedence < kShift && e.precedence != kTernary &&
                  precedence < kShift && precedence != e.precedence &&
                  precedence > kTernary);
    return paren ? "(" + e.text + ")" : e.text;
  }

  Expression infix(Value a, StringRef symbol, Value b, int precedence) {
    return {use(a, precedence) + " " + symbol.str() + " " +
                use(b, precedence, /*strict=*/true),
            precedence};
  }

  Expression call(StringRef function, ValueRange operands) {
    std::string text = function.str() + "(";
    for (auto [i, operand] : llvm::enumerate(operands))
      text += (i ? ", " : "") + values[operand].text;
    return {text + ")", kPrimary};
  }

  Expression cast(Value from, Type to) {
    return {"static_cast<" + cType(to) + ">(" + values[from].text + ")",
            kPrimary};
  }

  // Words of the title, which ends after the third.
  void addWord(StringRef word) {
    if (words.empty() || words.back() != word)
      words.push_back(word.str());
  }
  /// The last `count` operations have a name of their own.
  void replaceWords(size_t count, StringRef word) {
    words.resize(words.size() - std::min(count, words.size()));
    addWord(word);
  }

  static bool isConstant(Value value, double number) {
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    auto attr =
        constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
    return attr && attr.getValueAsDouble() == number;
  }

  /// 1 / (1 + exp(-x))
  static bool isSigmoid(Operation *op) {
    if (!isa<arith::DivFOp>(op) || !isConstant(op->getOperand(0), 1.0))
      return false;
    auto sum = op->getOperand(1).getDefiningOp<arith::AddFOp>();
    if (!sum || !isConstant(sum.getLhs(), 1.0))
      return false;
    auto exp = sum.getRhs().getDefiningOp<math::ExpOp>();
    return exp && exp.getOperand().getDefiningOp<arith::NegFOp>();
  }

  spmd::LaunchOp launch;
  ArrayRef<std::string> arguments;
  ScalarCode code;
  llvm::DenseMap<Value, Expression> values;
  std::vector<std::string> words;
};

FailureOr<ScalarCode> Printer::run() {
  if (!launch.getBody().hasOneBlock())
    return launch.emitError("a fused kernel needs a body");
  Block &body = launch.getBody().front();
  if (body.getNumArguments() != arguments.size())
    return launch.emitError()
           << "the body has " << body.getNumArguments() << " arguments for "
           << arguments.size() << " inputs";
  auto yield = dyn_cast<spmd::YieldOp>(body.back());
  if (!yield || yield.getValues().size() != launch.getOutputs().size())
    return launch.emitError("the body must yield one value per output");
  for (auto [argument, name] :
       llvm::zip_equal(body.getArguments(), arguments)) {
    values[argument] = {name, kPrimary};
    code.reads.push_back(
        std::distance(argument.use_begin(), argument.use_end()));
  }
  for (Operation &op : body.without_terminator())
    if (failed(print(&op)))
      return failure();
  for (Value value : yield.getValues())
    code.results.push_back(values[value].text);
  if (words.size() > 3)
    words.resize(3);
  for (const std::string &word : words)
    code.title += code.title.empty() ? word : typeCase(word);
  if (code.title.empty())
    code.title = arguments.empty() ? "fill" : "spread";
  return code;
}

LogicalResult Printer::print(Operation *op) {
  if (op->getNumResults() != 1)
    return op->emitError("has no C++ form in a fused kernel");
  Type type = op->getResult(0).getType();
  if (cType(type).empty())
    return op->emitError() << "type " << type
                           << " is not computed with in emitted kernels: "
                              "expected f32, f64, i1, i8, i16, i32 or i64";
  FailureOr<Expression> e = expression(op);
  if (failed(e))
    return failure();
  bool named = !op->getResult(0).hasOneUse() ||
               (e->text.size() > kLongestInlined &&
                !isa<spmd::YieldOp>(*op->getResult(0).user_begin()));
  if (named && !isa<arith::ConstantOp>(op)) {
    std::string name = "t" + std::to_string(code.statements.size());
    code.statements.push_back("const " + cType(type) + " " + name + " = " +
                              e->text + ";");
    e = Expression{name, kPrimary};
  }
  values[op->getResult(0)] = *e;
  return success();
}

FailureOr<Expression> Printer::expression(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (auto it = binaryOperators().find(name); it != binaryOperators().end()) {
    const Binary &binary = it->second;
    Value a = op->getOperand(0), b = op->getOperand(1);
    if (a.getType().isInteger(1) && name == "arith.xori")
      if (auto one = b.getDefiningOp<arith::ConstantOp>();
          one && !llvm::cast<IntegerAttr>(one.getValue()).getValue().isZero()) {
        addWord("not");
        return Expression{"!" + use(a, kUnary), kUnary};
      }
    if (isSigmoid(op))
      replaceWords(3, "sigmoid");
    else
      addWord(binary.word);
    return infix(a, binary.symbol, b, binary.precedence);
  }
  if (auto it = cmathFunctions().find(name); it != cmathFunctions().end()) {
    addWord(it->second);
    if (op->getResult(0).getType().isF32())
      code.floatFunctions.insert(it->second);
    return call(std::string("std::") + it->second, op->getOperands());
  }
  return llvm::TypeSwitch<Operation *, FailureOr<Expression>>(op)
      .Case([&](arith::ConstantOp c) { return constant(c); })
      .Case([&](arith::CmpFOp c) {
        addWord("compare");
        return compare(c);
      })
      .Case([&](arith::CmpIOp c) {
        addWord("compare");
        return compare(c);
      })
      .Case<arith::MaximumFOp, arith::MaxSIOp>([&](Operation *) {
        addWord(isConstant(op->getOperand(1), 0.0) ? "relu" : "max");
        code.helpers.insert(ScalarHelper::maximum);
        return call("maximum", op->getOperands());
      })
      .Case<arith::MinimumFOp, arith::MinSIOp>([&](Operation *) {
        addWord("min");
        code.helpers.insert(ScalarHelper::minimum);
        return call("minimum", op->getOperands());
      })
      .Case([&](math::IPowIOp) {
        addWord("pow");
        code.helpers.insert(ScalarHelper::integerPower);
        return call("integerPower", op->getOperands());
      })
      .Case([&](math::FPowIOp) {
        addWord("pow");
        return call("std::pow", op->getOperands());
      })
      .Case([&](math::RsqrtOp) {
        addWord("rsqrt");
        std::string one = op->getResult(0).getType().isF32() ? "1.0f" : "1.0";
        return Expression{one + " / std::sqrt(" +
                              values[op->getOperand(0)].text + ")",
                          kProduct};
      })
      .Case([&](arith::NegFOp) {
        addWord("neg");
        std::string operand = use(op->getOperand(0), kUnary);
        bool spaced = StringRef(operand).starts_with("-");
        return Expression{(spaced ? "- " : "-") + operand, kUnary};
      })
      .Case([&](arith::SelectOp select) {
        auto condition = select.getCondition().getDefiningOp<arith::CmpFOp>();
        if (condition &&
            condition.getPredicate() == arith::CmpFPredicate::OGT &&
            isConstant(condition.getRhs(), 0.0) &&
            isConstant(select.getFalseValue(), 0.0))
          replaceWords(1, "reluGrad");
        else
          addWord("select");
        return Expression{use(select.getCondition(), kEquality) + " ? " +
                              use(select.getTrueValue(), kTernary, true) +
                              " : " + use(select.getFalseValue(), kTernary),
                          kTernary};
      })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::FPToSIOp, arith::SIToFPOp,
            arith::UIToFPOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(
          [&](Operation *) -> FailureOr<Expression> {
            Value from = op->getOperand(0);
            bool isBool = from.getType().isInteger(1);
            if (isa<arith::UIToFPOp, arith::ExtUIOp>(op) && !isBool)
              return op->emitError("unsigned integers have no C++ form in a "
                                   "fused kernel; only i1 is extended so");
            Type to = op->getResult(0).getType();
            if (isa<arith::TruncIOp>(op) && to.isInteger(1))
              return Expression{use(from, kAnd) + " & 1", kAnd};
            Expression e = cast(from, to);
            if (isBool && isa<arith::ExtSIOp, arith::SIToFPOp>(op))
              return Expression{"-" + e.text, kUnary};
            return e;
          })
      .Default([&](Operation *) -> FailureOr<Expression> {
        return op->emitError("has no C++ form in a fused kernel");
      });
}

Expression Printer::constant(arith::ConstantOp op) {
  if (auto value = dyn_cast<FloatAttr>(op.getValue())) {
    double number = value.getValueAsDouble();
    std::string text = op.getType().isF32()
                           ? floatLiteral(static_cast<float>(number))
                           : doubleLiteral(number);
    return {text, StringRef(text).starts_with("-") ? kUnary : kPrimary};
  }
  auto value = llvm::cast<IntegerAttr>(op.getValue()).getValue();
  if (op.getType().isInteger(1))
    return {value.isZero() ? "false" : "true", kPrimary};
  int64_t number = value.getSExtValue();
  std::string type = cType(op.getType());
  if (number == INT64_MIN)
    return {"INT64_MIN", kPrimary};
  // The cast keeps templates and overloads from seeing an int.
  return {type + "{" + std::to_string(number) + "}", kPrimary};
}

Expression Printer::compare(arith::CmpFOp op) {
  Value a = op.getLhs(), b = op.getRhs();
  auto negated = [&](StringRef symbol) {
    return Expression{"!(" + infix(a, symbol, b, kRelation).text + ")", kUnary};
  };
  auto isNaN = [&](Value v) {
    std::string text = use(v, kEquality, true);
    return text + " != " + text;
  };
  switch (op.getPredicate()) {
  case arith::CmpFPredicate::AlwaysFalse:
    return {"false", kPrimary};
  case arith::CmpFPredicate::AlwaysTrue:
    return {"true", kPrimary};
  case arith::CmpFPredicate::OEQ:
    return infix(a, "==", b, kEquality);
  case arith::CmpFPredicate::UNE:
    return infix(a, "!=", b, kEquality);
  case arith::CmpFPredicate::OLT:
    return infix(a, "<", b, kRelation);
  case arith::CmpFPredicate::OLE:
    return infix(a, "<=", b, kRelation);
  case arith::CmpFPredicate::OGT:
    return infix(a, ">", b, kRelation);
  case arith::CmpFPredicate::OGE:
    return infix(a, ">=", b, kRelation);
  case arith::CmpFPredicate::ULT:
    return negated(">=");
  case arith::CmpFPredicate::ULE:
    return negated(">");
  case arith::CmpFPredicate::UGT:
    return negated("<=");
  case arith::CmpFPredicate::UGE:
    return negated("<");
  case arith::CmpFPredicate::ONE:
    return {"(" + infix(a, "<", b, kRelation).text + ") | (" +
                infix(a, ">", b, kRelation).text + ")",
            kOr};
  case arith::CmpFPredicate::UEQ:
    return {"!((" + infix(a, "<", b, kRelation).text + ") | (" +
                infix(a, ">", b, kRelation).text + "))",
            kUnary};
  case arith::CmpFPredicate::UNO:
    return {"(" + isNaN(a) + ") | (" + isNaN(b) + ")", kOr};
  case arith::CmpFPredicate::ORD:
    return {"!((" + isNaN(a) + ") | (" + isNaN(b) + "))", kUnary};
  }
  return {"false", kPrimary};
}

Expression Printer::compare(arith::CmpIOp op) {
  Value a = op.getLhs(), b = op.getRhs();
  auto asUnsigned = [&](StringRef symbol) {
    std::string type = "static_cast<std::uint64_t>(";
    return Expression{type + values[a].text + ") " + symbol.str() + " " + type +
                          values[b].text + ")",
                      kRelation};
  };
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return infix(a, "==", b, kEquality);
  case arith::CmpIPredicate::ne:
    return infix(a, "!=", b, kEquality);
  case arith::CmpIPredicate::slt:
    return infix(a, "<", b, kRelation);
  case arith::CmpIPredicate::sle:
    return infix(a, "<=", b, kRelation);
  case arith::CmpIPredicate::sgt:
    return infix(a, ">", b, kRelation);
  case arith::CmpIPredicate::sge:
    return infix(a, ">=", b, kRelation);
  case arith::CmpIPredicate::ult:
    return asUnsigned("<");
  case arith::CmpIPredicate::ule:
    return asUnsigned("<=");
  case arith::CmpIPredicate::ugt:
    return asUnsigned(">");
  case arith::CmpIPredicate::uge:
    return asUnsigned(">=");
  }
  return {"false", kPrimary};
}

} // namespace

FailureOr<ScalarCode> printScalarCode(spmd::LaunchOp launch,
                                      ArrayRef<std::string> arguments) {
  return Printer(launch, arguments).run();
}

} // namespace partita::codegen
