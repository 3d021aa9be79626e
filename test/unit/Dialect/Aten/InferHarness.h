// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inference as text to text, for table-driven tests:
//
//   aten.mul.Tensor(bf16[8,?], 0.5)            gives  bf16[8,?]
//   aten.view.default(f32[2,3], [%?, -1])      gives  f32[?,?]
//   aten.mm.default(f32[2,3], f32[4,5])        gives  error: aten.mm: inner ..
//
// Tensors are written as in graphs of PyTorch (b8 is bool, c64 complex<f32>);
// %5 is an operand of type index whose value is known, %? one whose value is
// not, %f and %b operands of type f64 and i1, %none an undefined value; :f32
// is a dtype, 'x' a string. Arguments may have keywords. Results are separated
// by blanks.
#ifndef CUTBACK_TEST_UNIT_DIALECT_ATEN_INFERHARNESS_H
#define CUTBACK_TEST_UNIT_DIALECT_ATEN_INFERHARNESS_H

#include "cutback/Dialect/Aten/Infer.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace cutback::aten::test {

class InferHarness {
public:
  InferHarness() : builder(&context) {
    context.loadDialect<joint::JointDialect>();
    SchemaTable::get(&context);
  }

  /// Result types of `call`, or "error: MESSAGE".
  std::string infer(llvm::StringRef call) {
    auto [name, rest] = call.split('(');
    const Schema *schema = SchemaTable::get(&context).lookup(name.trim());
    if (!schema)
      return "error: no schema " + name.str();
    return inferWith(*schema, rest.substr(0, rest.rfind(')')));
  }

  /// The same, with a schema that need not be in the table.
  std::string inferWith(const Schema &schema, llvm::StringRef arguments) {
    mlir::ArrayAttr args = parse(schema, arguments);
    llvm::SmallVector<mlir::Type> results;
    std::string message;
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            message += diagnostic.str();
                                            return mlir::success();
                                          });
    if (failed(inferResultTypes(schema, args, operandTypes, operandInts,
                                builder.getUnknownLoc(), results)))
      return "error: " + message;
    std::string joined;
    for (mlir::Type type : results)
      joined += (joined.empty() ? "" : " ") + print(type);
    return joined;
  }

  /// The arguments of a call of `schema`; its operands are in `operandTypes`.
  mlir::ArrayAttr parse(const Schema &schema, llvm::StringRef arguments) {
    text = arguments;
    operandTypes.clear();
    operandInts.clear();
    return parseArguments(schema);
  }

  mlir::MLIRContext context;
  mlir::Builder builder;
  llvm::SmallVector<mlir::Type> operandTypes;
  llvm::SmallVector<int64_t> operandInts;

private:
  void skip() { text = text.ltrim(" ,"); }

  mlir::ArrayAttr parseArguments(const Schema &schema) {
    std::vector<mlir::Attribute> args(schema.params.size());
    // Operands are numbered in the order of parameters: keywords are given in
    // that order in the tests.
    size_t position = 0;
    for (skip(); !text.empty(); skip()) {
      size_t equals = text.find_first_of("=,([:'");
      if (equals != llvm::StringRef::npos && text[equals] == '=') {
        int index = schema.find(text.take_front(equals).trim());
        position = index < 0 ? args.size() : static_cast<size_t>(index);
        text = text.drop_front(equals + 1);
      }
      mlir::Attribute value = parseValue();
      if (position >= args.size())
        args.push_back(value); // one too many, for the tests of errors
      else
        args[position] = value;
      ++position;
    }
    for (auto [i, arg] : llvm::enumerate(args)) {
      if (!arg)
        arg = schema.params[i].defaultValue;
      else if (i < schema.params.size())
        if (mlir::Attribute fit = canonicalizeArg(schema.params[i], arg))
          arg = fit;
      if (!arg)
        arg = joint::NoneAttr::get(&context);
    }
    return builder.getArrayAttr(args);
  }

  mlir::Attribute operand(mlir::Type type, int64_t value = kUnknown) {
    operandTypes.push_back(type);
    operandInts.push_back(value);
    return joint::OperandAttr::get(&context);
  }

  mlir::Attribute parseValue() {
    if (text.consume_front("[")) {
      llvm::SmallVector<mlir::Attribute> entries;
      for (skip(); !text.consume_front("]"); skip())
        entries.push_back(parseValue());
      return builder.getArrayAttr(entries);
    }
    if (text.consume_front("'")) {
      auto [value, rest] = text.split('\'');
      text = rest;
      return builder.getStringAttr(value);
    }
    size_t length = std::min(text.find_first_of("[], "), text.size());
    llvm::StringRef word = text.take_front(length);
    text = text.drop_front(length);
    if (text.starts_with("[")) {
      llvm::SmallVector<int64_t> dims;
      auto [sizes, rest] = text.drop_front().split(']');
      text = rest;
      llvm::SmallVector<llvm::StringRef> words;
      sizes.split(words, ',', -1, /*KeepEmpty=*/false);
      for (llvm::StringRef size : words) {
        dims.push_back(kUnknown);
        if (size.trim() != "?")
          size.trim().getAsInteger(10, dims.back());
      }
      return operand(mlir::RankedTensorType::get(dims, element(word)));
    }
    return parseWord(word);
  }

  mlir::Attribute parseWord(llvm::StringRef word) {
    if (word.consume_front("%")) {
      int64_t value = kUnknown;
      if (word == "f")
        return operand(builder.getF64Type());
      if (word == "b")
        return operand(builder.getI1Type());
      if (word == "none")
        return operand(builder.getNoneType());
      word.getAsInteger(10, value);
      return operand(builder.getIndexType(), value);
    }
    if (word == ":none")
      return mlir::TypeAttr::get(builder.getNoneType());
    if (word.consume_front(":"))
      return mlir::TypeAttr::get(element(word));
    if (word == "none")
      return joint::NoneAttr::get(&context);
    if (word == "true" || word == "false")
      return builder.getBoolAttr(word == "true");
    int64_t integer = 0;
    if (!word.getAsInteger(10, integer))
      return builder.getI64IntegerAttr(integer);
    return builder.getF64FloatAttr(std::strtod(word.str().c_str(), nullptr));
  }

  static const std::vector<std::pair<const char *, const char *>> &names() {
    static const std::vector<std::pair<const char *, const char *>> table = {
        {"b8", "i1"},
        {"u8", "ui8"},
        {"u64", "ui64"},
        {"c32", "complex<f16>"},
        {"c64", "complex<f32>"},
        {"c128", "complex<f64>"},
        {"f8e4m3fn", "f8E4M3FN"},
        {"f8e5m2", "f8E5M2"}};
    return table;
  }

  mlir::Type element(llvm::StringRef name) {
    for (auto [torchName, mlirName] : names())
      if (name == torchName)
        name = mlirName;
    if (name.consume_front("complex<"))
      return mlir::ComplexType::get(element(name.drop_back()));
    if (name == "f64")
      return builder.getF64Type();
    if (name == "f32")
      return builder.getF32Type();
    if (name == "f16")
      return builder.getF16Type();
    if (name == "bf16")
      return builder.getBF16Type();
    if (name == "f8E4M3FN")
      return mlir::Float8E4M3FNType::get(&context);
    if (name == "f8E5M2")
      return mlir::Float8E5M2Type::get(&context);
    unsigned width = 0;
    bool isUnsigned = name.consume_front("u");
    name.consume_front("i");
    name.getAsInteger(10, width);
    return mlir::IntegerType::get(&context, width,
                                  isUnsigned ? mlir::IntegerType::Unsigned
                                             : mlir::IntegerType::Signless);
  }

  static std::string print(mlir::Type type) {
    std::string result;
    llvm::raw_string_ostream os(result);
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
    if (!tensor) {
      os << type;
      return result;
    }
    std::string name;
    llvm::raw_string_ostream(name) << tensor.getElementType();
    for (auto [torchName, mlirName] : names())
      if (name == mlirName)
        name = torchName;
    os << name << "[";
    llvm::interleave(
        tensor.getShape(), os,
        [&](int64_t size) {
          if (size == kUnknown)
            os << "?";
          else
            os << size;
        },
        ",");
    os << "]";
    return result;
  }

  llvm::StringRef text;
};

/// Each call has the result, or the error, that stands beside it.
inline void checkInference(
    const std::vector<std::pair<const char *, const char *>> &table) {
  InferHarness harness;
  for (auto [call, expected] : table)
    EXPECT_EQ(harness.infer(call), expected) << call;
}

} // namespace cutback::aten::test

#endif // CUTBACK_TEST_UNIT_DIALECT_ATEN_INFERHARNESS_H
