// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls as text, run by their element formulas and by the interpreter, on
// numbers where formulas go wrong: NaN, infinities, both zeros, ties, the ends
// of integer types.
#ifndef CUTBACK_TEST_UNIT_DIALECT_ATEN_ELEMENTSHARNESS_H
#define CUTBACK_TEST_UNIT_DIALECT_ATEN_ELEMENTSHARNESS_H

#include "../../Interpreter/ElementRun.h"
#include "InferHarness.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Interpreter/Kernel.h"

#include <cmath>
#include <limits>
#include <random>

namespace cutback::aten::test {

using namespace mlir;
using namespace cutback::interpreter;

struct Row {
  const char *call;
  /// d: f64, s: f32, b: bf16, h: f16, l: i64, i: i32, y: i8, u: ui8, t: i1.
  const char *types;
  double about = 0;
  /// Operand 1 has no zeros: the interpreter refuses them.
  bool isDivision = false;
  /// Operand 0 has no infinities: times what is not 0 in double only, they are
  /// NaN in f32.
  bool isFinite = false;
  /// Operands of type i64 hold places from `low` on, before `high`.
  int64_t low = 0, high = 0;
};

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline const char *nameOfType(char type) {
  switch (type) {
  case 'd':
    return "f64";
  case 's':
    return "f32";
  case 'b':
    return "bf16";
  case 'h':
    return "f16";
  case 'l':
    return "i64";
  case 'i':
    return "i32";
  case 'y':
    return "i8";
  case 'u':
    return "u8";
  default:
    return "b8";
  }
}

inline std::vector<double> specialReals() {
  return {0.0, -0.0, 1,    -1, 0.5, -0.5, 1.5,  -2.5, 3,     -3,  6,
          7,   -7,   20.5, 88, -88, 0.01, -0.3, kInf, -kInf, kNan};
}

inline std::vector<int64_t> specialIntegers(DType type) {
  int bits = static_cast<int>(8 * itemSize(type));
  int64_t most = type == DType::U8
                     ? 255
                     : static_cast<int64_t>(~uint64_t(0) >> (65 - bits));
  int64_t least = type == DType::U8 ? 0 : -most - 1;
  std::vector<int64_t> values = {0, 1, 2, 3, 5, 7, 8, 31, 64, most, most - 1};
  if (least < 0)
    for (int64_t value : {int64_t(-1), int64_t(-2), int64_t(-7), least})
      values.push_back(value);
  return values;
}

/// Special numbers so that each pair of two operands occurs, then random ones.
inline void fillWith(const Tensor &tensor, unsigned operand, const Row &row,
                     std::mt19937 &random) {
  std::uniform_real_distribution<double> uniform(-4, 4);
  std::vector<double> reals = specialReals();
  std::vector<int64_t> integers = specialIntegers(tensor.type);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    bool isSpecial = i < 441; // 21 by 21
    auto pick = [&](size_t count) {
      if (operand > 1 || !isSpecial)
        return static_cast<size_t>(random() % count);
      return static_cast<size_t>(operand == 0 ? i / 21 : i % 21) % count;
    };
    if (row.high && tensor.type == DType::I64) {
      auto range = static_cast<uint64_t>(row.high - row.low);
      tensor.setInt(i, row.low + static_cast<int64_t>(random() % range));
      continue;
    }
    if (tensor.type == DType::Bool)
      tensor.setInt(i, static_cast<int64_t>(pick(2)));
    else if (isIntegral(tensor.type)) {
      int64_t value = integers[pick(integers.size())];
      tensor.setInt(i,
                    row.isDivision && operand == 1 && value == 0 ? 5 : value);
    } else if (isSpecial) {
      double value = reals[pick(reals.size())];
      bool isCut = row.isFinite && operand == 0 && std::isinf(value);
      tensor.set(i, isCut ? 2 : value);
    } else
      tensor.set(i, uniform(random));
  }
}

inline double stepOf(DType type) {
  switch (type) {
  case DType::F64:
    return 1e-12;
  case DType::F32:
    return 8 * 0x1p-24;
  case DType::BF16:
    return 2 * 0x1p-8;
  default:
    return 2 * 0x1p-11;
  }
}

/// Where a type has no more bits.
inline double leastOf(DType type) {
  return type == DType::F64 ? 1e-300 : type == DType::F16 ? 0x1p-23 : 0x1p-125;
}

inline std::string difference(const Tensor &expected, const Tensor &actual,
                              double about) {
  if (expected.type != actual.type || expected.sizes != actual.sizes)
    return "another type or shape";
  for (int64_t i = 0; i < expected.numel(); ++i) {
    std::string where = " at element " + std::to_string(i);
    if (isIntegral(expected.type)) {
      if (expected.getInt(i) != actual.getInt(i))
        return std::to_string(actual.getInt(i)) + ", not " +
               std::to_string(expected.getInt(i)) + where;
      continue;
    }
    double a = expected.getDouble(i), b = actual.getDouble(i);
    std::string message =
        std::to_string(b) + ", not " + std::to_string(a) + where;
    if (std::isnan(a) != std::isnan(b) || std::isinf(a) != std::isinf(b))
      return message;
    if (std::isnan(a))
      continue;
    if (expected.type == DType::F64 && a == 0 && b == 0 &&
        std::signbit(a) != std::signbit(b))
      return "the other zero" + where;
    double size = std::max(std::fabs(a), about);
    if (a != b && !(std::fabs(a - b) <=
                    stepOf(expected.type) * size + leastOf(expected.type)))
      return message;
  }
  return "";
}

class ElementsTest : public testing::Test, protected InferHarness {
protected:
  ElementsTest() { context.loadDialect<AtenDialect, joint::JointDialect>(); }

  /// The op of a call as InferHarness writes it; null after an error.
  Operation *build(StringRef call) {
    auto [name, rest] = call.split('(');
    const SchemaTable &schemas = SchemaTable::get(&context);
    const Schema *schema = schemas.lookup(name);
    if (!schema)
      schema = schemas.lookup((name + ".default").str());
    if (!schema)
      return nullptr;
    ArrayAttr args = parse(*schema, rest.substr(0, rest.rfind(')')));
    SmallVector<Type> types;
    Location loc = builder.getUnknownLoc();
    if (failed(inferResultTypes(*schema, args, operandTypes, operandInts, loc,
                                types)))
      return nullptr;
    if (!module)
      module = ModuleOp::create(loc);
    for (Type &type : types)
      type = isa<NoneType>(type) ? operandTypes.front() : type;
    SmallVector<Value> operands;
    for (Type type : operandTypes)
      operands.push_back(module->getBody()->addArgument(type, loc));
    OpBuilder b(&context);
    b.setInsertionPointToEnd(module->getBody());
    return createCall(b, loc, *schema, args, operands, types, {});
  }

  bool hasElement(StringRef call) {
    Operation *op = build(call);
    EXPECT_TRUE(op) << call.str();
    return op && cast<joint::LowerableOpInterface>(op).hasElement();
  }

  /// What is wrong with the formula of a call; empty if nothing is.
  std::string check(StringRef call, const Row &row) {
    Operation *op = build(call);
    if (!op)
      return "no such call";
    std::mt19937 random(7);
    std::vector<RuntimeValue> operands;
    for (auto [i, type] : llvm::enumerate(op->getOperandTypes())) {
      auto tensor = cast<RankedTensorType>(type);
      operands.emplace_back(
          Tensor::zeros(*dtypeOf(tensor.getElementType()), tensor.getShape()));
      fillWith(std::get<Tensor>(operands.back()), static_cast<unsigned>(i), row,
               random);
    }
    std::vector<RuntimeValue> expected(op->getNumResults());
    InterpreterOptions options;
    KernelFn kernel = getKernel(op->getName());
    if (!kernel ||
        failed(kernel(KernelCall(CallOp(op), operands, expected, options))))
      return "the interpreter does not run it";
    cutback::test::ElementRun run = cutback::test::runElements(op, operands);
    if (!run.hasRun)
      return "it has no formula, or no loops";
    if (!run.fault.empty())
      return "its formula " + run.fault;
    for (auto [value, actual] : llvm::zip_equal(expected, run.results))
      if (const auto *tensor = std::get_if<Tensor>(&value))
        if (std::string apart = difference(*tensor, actual, row.about);
            !apart.empty())
          return apart;
    return "";
  }

  void checkRows(ArrayRef<Row> rows) {
    for (const Row &row : rows)
      for (char type : StringRef(row.types)) {
        std::string call;
        for (char c : StringRef(row.call))
          call += c == '$' ? nameOfType(type) : std::string(1, c);
        EXPECT_EQ(check(call, row), "") << call;
      }
  }

  OwningOpRef<ModuleOp> module;
};

} // namespace cutback::aten::test

#endif // CUTBACK_TEST_UNIT_DIALECT_ATEN_ELEMENTSHARNESS_H
