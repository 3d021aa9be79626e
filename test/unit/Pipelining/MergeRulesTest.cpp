// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What outputs of micro-batches become, by their types. Gradients that follow
// from it: test/Tools/cutback/split-outside-loss.test.

#include "cutback/Pipelining/MergeRules.h"

#include "cutback/Dialect/Aten/Aten.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;

namespace {

class MergeRulesTest : public testing::Test {
protected:
  MergeRulesTest() {
    context.printOpOnDiagnostic(false);
    context.loadDialect<aten::AtenDialect, joint::JointDialect>();
  }

  /// The rule of an output of type `output` of a model that takes a tensor of
  /// type `input`: "concatenate 1", "mean", ..., or the error.
  std::string ruleOf(const std::string &output, const std::string &asked = "",
                     const std::string &input = "4x3xf32", int64_t dim = 0) {
    std::string text =
        "joint.graph @m(%x: tensor<" + input +
        "> {joint.role = #joint.role<input>}, %y: tensor<" + output +
        "> {joint.role = #joint.role<buffer \"y\">}) -> (tensor<" + input +
        ">, tensor<" + output +
        ">) gradients () {\n  joint.output %x, %y : tensor<" + input +
        ">, tensor<" + output + ">\n}\n";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    MergeRules rules;
    EXPECT_EQ(asked.empty() ? "" : parseMergeRules(asked, rules), "");
    std::string error;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      error = diagnostic.str();
      return success();
    });
    std::map<std::string, int64_t> splitDims;
    if (dim != 0)
      splitDims["input.0"] = dim;
    auto found = findMergeRules(*module->getOps<joint::GraphOp>().begin(),
                                rules, splitDims, "loss");
    if (failed(found))
      return error;
    MergeRule rule = found->at("output.1");
    static constexpr const char *kNames[] = {"concatenate", "mean", "sum",
                                             "equal"};
    std::string name = kNames[rule.merge];
    return rule.merge == PipelineOutput::Concatenate
               ? name + " " + std::to_string(rule.dim)
               : name;
  }

  MLIRContext context;
};

TEST_F(MergeRulesTest, ADimensionOfTheBatchIsJoined) {
  EXPECT_EQ(ruleOf("4x5xf32"), "concatenate 0");
  EXPECT_EQ(ruleOf("12x5xi64"), "concatenate 0");
  EXPECT_EQ(ruleOf("5x4x7xf32"), "concatenate 1");
  EXPECT_EQ(ruleOf("5x6xf32", "", "6x4x3xf32", 1),
            "'output.1' is tensor<5x6xf32>: which of its dimensions is that of "
            "micro-batches of 4 rows is not known");
  EXPECT_EQ(ruleOf("5x6xf32", "", "6x4x3xf32", 2),
            "'output.1' is tensor<5x6xf32>: which of its dimensions is that of "
            "micro-batches of 3 rows is not known");
  EXPECT_EQ(ruleOf("5x6xf32", "", "6x4x3xf32", -1), "concatenate 0");
  EXPECT_EQ(ruleOf("5x6xf32", "", "1x3xf32"), "concatenate 0");
  EXPECT_EQ(ruleOf("5x4x4xf32"),
            "'output.1' is tensor<5x4x4xf32>: which of its dimensions is that "
            "of micro-batches of 4 rows is not known");
}

TEST_F(MergeRulesTest, ANumberIsAMeanOrEqual) {
  EXPECT_EQ(ruleOf("f32"), "mean");
  EXPECT_EQ(ruleOf("1xbf16"), "mean");
  EXPECT_EQ(ruleOf("i64"), "equal");
  EXPECT_EQ(ruleOf("1x1xi64"), "equal");
}

TEST_F(MergeRulesTest, WhatIsAskedForIsChecked) {
  EXPECT_EQ(ruleOf("i64", "output.1=sum"), "sum");
  EXPECT_EQ(ruleOf("5xf32", "output.0=equal,output.1=mean"), "mean");
  EXPECT_EQ(ruleOf("5x4xf32", "output.1=cat"), "concatenate 0");
  EXPECT_EQ(ruleOf("5x4x4xf32", "output.1=cat:2"), "concatenate 2");
  EXPECT_EQ(ruleOf("5x4xf32", "output.1=cat:2"),
            "--merge: 'output.1' is tensor<5x4xf32>, which has no dimension 2");
  EXPECT_EQ(ruleOf("i1", "output.1=sum"),
            "--merge: 'output.1' is tensor<i1>, which is not added");
  EXPECT_EQ(ruleOf("i64", "output.1=mean"),
            "--merge: 'output.1' is tensor<i64>, which has no mean");
  EXPECT_EQ(ruleOf("i64", "output.2=sum"),
            "--merge: the model has no output 'output.2'");
  MergeRules rules;
  for (const char *wrong : {"output.1", "output.1=", "=sum", "output.1=cat:x",
                            "output.1=cat:-1", "output.1=mean:0", ""})
    EXPECT_EQ(parseMergeRules(wrong, rules),
              "--merge takes output.N=cat:D, mean, sum or equal, not '" +
                  std::string(wrong) + "'");
}

} // namespace
