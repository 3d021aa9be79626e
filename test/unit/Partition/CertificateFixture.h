// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hand-written partition, and the certificate's verdict on changed texts of
// it.
#ifndef CUTBACK_TEST_UNIT_PARTITION_CERTIFICATEFIXTURE_H
#define CUTBACK_TEST_UNIT_PARTITION_CERTIFICATEFIXTURE_H

#include "../Transforms/RandomGraph.h"

#include "cutback/Partition/Certificate.h"

#include "gtest/gtest.h"

namespace cutback::test {

using namespace mlir;
using namespace cutback::joint;

inline const char *const kJoint = R"mlir(
joint.graph @g(%w: tensor<4x4xf32> {joint.role = #joint.role<param "w">},
               %v: tensor<4x4xf32> {joint.role = #joint.role<param "v">},
               %b: tensor<4x4xf32> {joint.role = #joint.role<buffer>},
               %x: tensor<4x4xf32> {joint.role = #joint.role<input>},
               %s: index {joint.role = #joint.role<size>},
               %t: tensor<4x4xf32> {joint.role = #joint.role<tangent of 0>})
    -> (tensor<4x4xf32>) gradients (tensor<4x4xf32>, tensor<4x4xf32>) {
  %h = aten.mm(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = aten.sub.Tensor(%h, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = aten.bernoulli(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = aten.mul.Tensor(%a, %m) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %u = joint.opaque "my.mean"(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = joint.opaque "my.check"(%y) {effects} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b_1 = joint.write %b, %u : tensor<4x4xf32>, tensor<4x4xf32>
  %k = aten.sym.mul(%s, 2) : (index) -> index
  %g0 = aten.mul.Tensor(%t, %m) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g1 = aten.sin(%h) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g2 = aten.mul.Tensor(%g0, %g1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g3 = aten.mul.Tensor(%g2, %k) : (tensor<4x4xf32>, index) -> tensor<4x4xf32>
  %g4 = aten.sub.Tensor(%g2, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  joint.output %y gradients(%g3 of 0, %g4 of 1) : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
)mlir";

inline const char *const kForward = R"mlir(
func.func @g_forward(%w: tensor<4x4xf32> {joint.name = "w"}, %v: tensor<4x4xf32> {joint.name = "v"},
                     %b: tensor<4x4xf32> {joint.name = "b"}, %x: tensor<4x4xf32> {joint.name = "x"},
                     %s: index {joint.name = "s"})
    -> (tensor<4x4xf32>, index, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %h = aten.mm(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = aten.sub.Tensor(%h, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = aten.bernoulli(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = aten.mul.Tensor(%a, %m) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %u = joint.opaque "my.mean"(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = joint.opaque "my.check"(%y) {effects} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b_1 = joint.write %b, %u : tensor<4x4xf32>, tensor<4x4xf32>
  return %y, %s, %h, %m, %v : tensor<4x4xf32>, index, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
)mlir";

inline const char *const kBackward = R"mlir(
func.func @g_backward(%s: index {joint.name = "s"}, %h: tensor<4x4xf32> {joint.name = "h"},
                      %m: tensor<4x4xf32> {joint.name = "m"}, %v: tensor<4x4xf32> {joint.name = "v"},
                      %t: tensor<4x4xf32> {joint.name = "t"})
    -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %k_recompute = aten.sym.mul(%s, 2) {joint.recompute = 3} : (index) -> index
  %g0 = aten.mul.Tensor(%t, %m) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g1 = aten.sin(%h) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g2 = aten.mul.Tensor(%g0, %g1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g3 = aten.mul.Tensor(%g2, %k_recompute) : (tensor<4x4xf32>, index) -> tensor<4x4xf32>
  %g4 = aten.sub.Tensor(%g2, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %g3, %g4 : tensor<4x4xf32>, tensor<4x4xf32>
}
)mlir";

inline const char *const kLink = R"mlir(
joint.partition @g_partition of @g forward @g_forward backward @g_backward saved ["s", "h", "m", "v"]
    {num_saved_sizes = 1 : i64, num_forward_results = 1 : i64, gradient_of = array<i32: 0, 1>}
)mlir";

/// Replaces the only place of `from`.
inline std::string with(std::string text, const std::string &from,
                        const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

class CertificateTest : public ::testing::Test {
protected:
  CertificateTest() { loadDialects(context); }

  struct Verdict {
    bool accepted = false;
    std::string messages; ///< errors, notes behind " | "
    CertificateStats stats;
  };

  Verdict check(const std::string &joint, const std::string &forward,
                const std::string &backward, const std::string &link = kLink) {
    Verdict verdict;
    OwningOpRef<ModuleOp> module =
        parse(context, joint + forward + backward + link);
    EXPECT_TRUE(module);
    if (!module)
      return verdict;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      verdict.messages += diagnostic.str();
      for (Diagnostic &note : diagnostic.getNotes())
        verdict.messages += " | " + note.str();
    });
    auto fw = module->lookupSymbol<func::FuncOp>("g_forward");
    auto bw = module->lookupSymbol<func::FuncOp>("g_backward");
    if (!link.empty()) {
      auto partition = *module->getOps<joint::PartitionOp>().begin();
      verdict.accepted = succeeded(
          verifyHalves(graphOf(*module), fw, bw, partition, &verdict.stats));
      return verdict;
    }
    FailureOr<HalvesSignature> signature =
        deriveSignature(graphOf(*module), fw, bw);
    verdict.accepted = succeeded(signature) &&
                       succeeded(verifyHalves(graphOf(*module), fw, bw,
                                              *signature, &verdict.stats));
    return verdict;
  }

  /// Refused, with these words at the beginning.
  void refuse(const Verdict &verdict, const std::string &message) {
    EXPECT_FALSE(verdict.accepted);
    EXPECT_EQ(verdict.messages.substr(0, message.size()), message)
        << verdict.messages;
  }

  MLIRContext context;
};

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_PARTITION_CERTIFICATEFIXTURE_H
