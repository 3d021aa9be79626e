// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The view of a call that inference reads: its errors, the entry point, type
// promotion, and that no call, however wrong, does more than fail.

#include "InferHarness.h"

#include <random>

using namespace cutback;
using namespace cutback::aten;
using namespace cutback::aten::test;

namespace {

TEST(InferTest, WrongArgumentsAreNamed) {
  checkInference({
      {"aten.relu.default(f32[2], 3)",
       "error: aten.relu: 2 arguments given for 1 parameters"},
      {"aten.relu.default(none)",
       "error: aten.relu: argument 'self' must be a ranked tensor, not None"},
      {"aten.relu.default(%5)", "error: aten.relu: argument 'self' must be a "
                                "ranked tensor, not of type 'index'"},
      {"aten.relu.default(2)", "error: aten.relu: argument 'self' must be a "
                               "ranked tensor, not 2 : i64"},
      {"aten.add.Tensor(f32[2], 'x')",
       "error: aten.add: argument 'other' must be a ranked tensor or a number, "
       "not \"x\""},
      {"aten.cat.default([[f32[2]]])",
       "error: aten.cat: argument 'tensors' must be a flat list, not "
       "[#joint.operand]"},
      {"aten.sum.dim_IntList(f32[2], ['x'])",
       "error: aten.sum: argument 'dim' must be an integer, not \"x\""},
      {"aten.sum.dim_IntList(f32[2], [%f])",
       "error: aten.sum: argument 'dim' must be an integer, not of type 'f64'"},
      {"aten.sum.dim_IntList(f32[2], [%?])",
       "error: aten.sum: a dimension is given by an unknown value"},
      {"aten.sum.dim_IntList(f32[2], [1])",
       "error: aten.sum: dim 1 is out of range for rank 1"},
      {"aten.sum.dim_IntList(f32[2], [0], 'x')",
       "error: aten.sum: argument 'keepdim' must be a bool, not \"x\""},
      {"aten.sum.dim_IntList(f32[2,2], [0,-2])",
       "error: aten.sum: dim 0 is given twice"},
      {"aten.sum.default(f32[2], dtype=3)",
       "error: aten.sum: argument 'dtype' must be a dtype, not 3 : i64"},
      {"aten.cumsum.default(f32[2,3], 2)",
       "error: aten.cumsum: dim 2 is out of range for rank 2"},
      {"aten.cumsum.default(f32[2,3], %?)",
       "error: aten.cumsum: a dimension is given by an unknown value"},
      {"aten.einsum.default(3, [f32[2]])",
       "error: aten.einsum: argument 'equation' must be a string, not 3 : i64"},
      {"aten.full.default([2], 'x')",
       "error: aten.full: argument 'fill_value' must be a number, not \"x\""},
      {"aten.full.default([-2], 0)", "error: aten.full: size -2 is negative"},
      {"aten.rand.default([4294967296,4294967296])",
       "error: aten.rand: the number of elements of the result does not fit 64 "
       "bits"},
      {"aten.constant_pad_nd.default(f32[2], [-2,-1])",
       "error: aten.constant_pad_nd: a size of the result is negative: -1"},
      {"aten.repeat.default(f32[4294967296], [4294967296])",
       "error: aten.repeat: a size of the result does not fit 64 bits"},
      {"aten.rand.default([2], dtype=:none)",
       "error: aten.rand: no tensor has elements of type 'none'"},
  });
}

TEST(InferTest, PairsOfTypesPromoteAsInTorch) {
  const std::vector<const char *> types = {"b8",  "u8",  "i8",  "i16",
                                           "i32", "i64", "f16", "bf16",
                                           "f32", "f64", "c64", "c128"};
  // Row and column in the order of `types`; torch.promote_types of torch 2.13.
  const std::vector<const char *> table = {
      "b8 u8 i8 i16 i32 i64 f16 bf16 f32 f64 c64 c128",
      "u8 u8 i16 i16 i32 i64 f16 bf16 f32 f64 c64 c128",
      "i8 i16 i8 i16 i32 i64 f16 bf16 f32 f64 c64 c128",
      "i16 i16 i16 i16 i32 i64 f16 bf16 f32 f64 c64 c128",
      "i32 i32 i32 i32 i32 i64 f16 bf16 f32 f64 c64 c128",
      "i64 i64 i64 i64 i64 i64 f16 bf16 f32 f64 c64 c128",
      "f16 f16 f16 f16 f16 f16 f16 f32 f32 f64 c64 c128",
      "bf16 bf16 bf16 bf16 bf16 bf16 f32 bf16 f32 f64 c64 c128",
      "f32 f32 f32 f32 f32 f32 f32 f32 f32 f64 c64 c128",
      "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 c128 c128",
      "c64 c64 c64 c64 c64 c64 c64 c64 c64 c128 c64 c128",
      "c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128",
  };
  InferHarness harness;
  for (auto [a, row] : llvm::zip_equal(types, table)) {
    llvm::SmallVector<llvm::StringRef> expected;
    llvm::StringRef(row).split(expected, ' ');
    for (auto [b, type] : llvm::zip_equal(types, expected)) {
      std::string call =
          std::string("aten.mul.Tensor(") + a + "[2], " + b + "[2])";
      EXPECT_EQ(harness.infer(call), type.str() + "[2]") << call;
      // Between 0-d tensors too.
      call = std::string("aten.mul.Tensor(") + a + "[], " + b + "[])";
      EXPECT_EQ(harness.infer(call), type.str() + "[]") << call;
    }
  }
}

TEST(InferTest, FloatsOfDifferentKindsPromoteToTheNextWiderType) {
  checkInference({
      {"aten.mul.Tensor(f8e4m3fn[2], f8e5m2[2])", "bf16[2]"},
      {"aten.mul.Tensor(f8e4m3fn[2], f32[2])", "f32[2]"},
      {"aten.mul.Tensor(bf16[2], c64[2])", "c64[2]"},
      {"aten.mul.Tensor(u64[2], i8[2])", "i64[2]"},
  });
}

TEST(InferTest, AnOpWithoutRuleIsAnError) {
  InferHarness harness;
  const Schema *relu =
      SchemaTable::get(&harness.context).lookup("aten.relu.default");
  ASSERT_TRUE(relu);
  Schema schema(*relu);
  schema.infer = nullptr;
  EXPECT_EQ(harness.inferWith(schema, "f32[2]"),
            "error: aten.relu: result types are not inferred for this op");
}

TEST(InferTest, ARuleForAnotherSchemaIsAnError) {
  InferHarness harness;
  const Schema *relu =
      SchemaTable::get(&harness.context).lookup("aten.relu.default");
  ASSERT_TRUE(relu);
  Schema schema(*relu);
  schema.infer = infer::mm;
  EXPECT_EQ(harness.inferWith(schema, "f32[2,3]"),
            "error: 'aten.relu' is read for a parameter 'mat2' that it does "
            "not haveaten.relu: the schema lacks a parameter for a ranked "
            "tensor");
}

TEST(InferTest, OperandsAndArgumentsMustAgree) {
  InferHarness harness;
  const Schema *relu =
      SchemaTable::get(&harness.context).lookup("aten.relu.default");
  ASSERT_TRUE(relu);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&harness.context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          message = diagnostic.str();
                                          return mlir::success();
                                        });
  llvm::SmallVector<mlir::Type> results;
  mlir::ArrayAttr args =
      harness.builder.getArrayAttr({joint::OperandAttr::get(&harness.context)});
  EXPECT_TRUE(failed(inferResultTypes(
      *relu, args, {}, {}, harness.builder.getUnknownLoc(), results)));
  EXPECT_EQ(message, "aten.relu: the arguments ask for 1 operands, 0 given");
}

/// Writes one argument of the harness at random; mostly of the right kind.
class Writer {
public:
  explicit Writer(unsigned seed) : random(seed) {}

  std::string call(const Schema &schema) {
    std::string text;
    for (const SchemaParam &param : schema.params)
      text += (text.empty() ? "" : ", ") + argument(param);
    return text;
  }

private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random() % n); }
  std::string pick(std::initializer_list<const char *> words) {
    return words.begin()[below(static_cast<unsigned>(words.size()))];
  }
  std::string number() {
    return pick({"0", "1", "2", "3", "4", "8", "-1", "-2", "%?", "%2",
                 "9223372036854775807", "-9223372036854775807",
                 "-9223372036854775808", "4294967296"});
  }
  std::string tensor() {
    std::string dims;
    for (unsigned i = below(5); i > 0; --i)
      dims += pick({"?", "0", "1", "2", "3", "4", "8", "4611686018427387904"}) +
              std::string(i > 1 ? "," : "");
    return pick({"f32", "f32", "f32", "bf16", "i64", "b8", "c64", "u8"}) + "[" +
           dims + "]";
  }
  std::string one(const SchemaParam &param) {
    if (below(30) == 0)
      return pick({"none", "'x'", "2.5", "%f", "%none", ":f32", "[1]", "[]"});
    switch (param.kind) {
    case ParamKind::Tensor:
      return tensor();
    case ParamKind::Int:
      return number();
    case ParamKind::Scalar:
    case ParamKind::Float:
      return below(2) ? number() : pick({"0.5", "inf", "nan", "-1e300", "%f"});
    case ParamKind::Bool:
      return pick({"true", "false"});
    case ParamKind::ScalarType:
      return pick({":f32", ":i64", ":bf16", ":b8", "none"});
    default:
      return pick({"none", "'same'", "'ij,jk'", "'...i,i...->'", "'xy'"});
    }
  }
  std::string argument(const SchemaParam &param) {
    if (param.isOptional && below(3) == 0)
      return "none";
    if (!param.isList)
      return one(param);
    std::string text = "[";
    for (unsigned i = below(5); i > 0; --i)
      text += one(param) + (i > 1 ? ", " : "");
    return text + "]";
  }

  std::mt19937 random;
};

TEST(InferTest, NoCallDoesMoreThanFail) {
  InferHarness harness;
  Writer writer(20261121);
  for (const Schema *schema : SchemaTable::get(&harness.context).all()) {
    ASSERT_TRUE(schema->infer) << schema->packet.str();
    for (int i = 0; i < 100; ++i) {
      std::string call = writer.call(*schema);
      std::string result = harness.inferWith(*schema, call);
      EXPECT_EQ(result.find("<<NULL"), std::string::npos)
          << schema->packet.str() << "(" << call << ")";
    }
  }
}

} // namespace
