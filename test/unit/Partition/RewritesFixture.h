// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Halves that have something else where the joint graph has an op.
#ifndef CUTBACK_TEST_PARTITION_REWRITESFIXTURE_H
#define CUTBACK_TEST_PARTITION_REWRITESFIXTURE_H

#include "CertificateFixture.h"

namespace cutback::test {

class RewritesTest : public CertificateTest {
protected:
  /// Whether halves are accepted that have `half` where the joint graph has
  /// `joint`; both make %r of %x.
  bool accepts(const std::string &joint, const std::string &half,
               bool isRewritten = true) {
    std::string saved = "%x";
    return acceptsHalves(joint, "", half, saved, isRewritten);
  }

  /// The same where `forward` makes %p, which is saved.
  bool acceptsHalves(const std::string &joint, const std::string &forward,
                     const std::string &backward, const std::string &saved,
                     bool isRewritten = true) {
    std::string type = saved == "%x" ? "tensor<4x2xf32>" : "tensor<2x4xf32>";
    std::string name = saved.substr(1);
    mlir::OwningOpRef<mlir::ModuleOp> module = parse(
        context,
        "joint.graph @g(%x: tensor<4x2xf32> {joint.role = #joint.role<param "
        "\"x\">}, %t: tensor<4x2xf32> {joint.role = #joint.role<tangent of "
        "0>}) -> (tensor<4x2xf32>) gradients (tensor<4x2xf32>) {\n"
        "%y = aten.neg(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32>\n" +
            joint +
            "%g = aten.mul.Tensor(%t, %r) : (tensor<4x2xf32>, "
            "tensor<4x2xf32>) -> tensor<4x2xf32>\n"
            "joint.output %y gradients(%g of 0) : tensor<4x2xf32>, "
            "tensor<4x2xf32>\n}\n"
            "func.func @f(%x: tensor<4x2xf32> {joint.name = \"x\"}) -> "
            "(tensor<4x2xf32>, " +
            type +
            ") {\n%y = aten.neg(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32>\n" +
            forward + "return %y, " + saved + " : tensor<4x2xf32>, " + type +
            "\n}\nfunc.func @b(" + saved + ": " + type + " {joint.name = \"" +
            name +
            "\"}, %t: tensor<4x2xf32> {joint.name = \"t\"}) -> "
            "tensor<4x2xf32> {\n" +
            backward +
            "%g = aten.mul.Tensor(%t, %r) : (tensor<4x2xf32>, "
            "tensor<4x2xf32>) -> tensor<4x2xf32>\n"
            "return %g : tensor<4x2xf32>\n}\n");
    EXPECT_TRUE(module);
    if (!module)
      return false;
    mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) {});
    auto fw = module->lookupSymbol<mlir::func::FuncOp>("f");
    auto bw = module->lookupSymbol<mlir::func::FuncOp>("b");
    auto signature = deriveSignature(graphOf(*module), fw, bw);
    EXPECT_TRUE(mlir::succeeded(signature));
    if (mlir::failed(signature))
      return false;
    signature->isRewritten = isRewritten;
    return mlir::succeeded(
        verifyHalves(graphOf(*module), fw, bw, *signature, &stats));
  }

  CertificateStats stats; ///< of what was accepted last
};

} // namespace cutback::test

#endif // CUTBACK_TEST_PARTITION_REWRITESFIXTURE_H
