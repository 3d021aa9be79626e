// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What halves of a compiler may have in place of the joint graph's ops: the
// base of views that cancel each other, an equal constant; and what not.

#include "CertificateFixture.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class CertificateRewritesTest : public CertificateTest {
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
    OwningOpRef<ModuleOp> module = parse(
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
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
    auto fw = module->lookupSymbol<func::FuncOp>("f");
    auto bw = module->lookupSymbol<func::FuncOp>("b");
    auto signature = deriveSignature(graphOf(*module), fw, bw);
    EXPECT_TRUE(succeeded(signature));
    if (failed(signature))
      return false;
    signature->isRewritten = isRewritten;
    return succeeded(verifyHalves(graphOf(*module), fw, bw, *signature));
  }
};

const std::string kThere =
    "%p = aten.permute(%x, [1, 0]) : (tensor<4x2xf32>) -> tensor<2x4xf32>\n";
const std::string kBack =
    "%r = aten.permute(%p, [1, 0]) : (tensor<2x4xf32>) -> tensor<4x2xf32>\n";
/// What is not there at all.
const std::string kItself =
    "%r = aten.alias(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32>\n";

TEST_F(CertificateRewritesTest, APermuteOfItsInverseIsWhatWasThere) {
  EXPECT_TRUE(accepts(kThere + kBack, kItself));
  EXPECT_TRUE(accepts(kItself, kThere + kBack));
  EXPECT_FALSE(accepts(kThere + kBack, kItself, /*isRewritten=*/false));
}

TEST_F(CertificateRewritesTest, AHalfMayHaveTheRestOfAChain) {
  // As PyTorch's partitioner does where the forward takes a gradient.
  EXPECT_TRUE(acceptsHalves(kThere + kBack, kThere, kBack, "%p"));
  EXPECT_TRUE(acceptsHalves(kItself, kThere, kBack, "%p"));
}

TEST_F(CertificateRewritesTest, AChainOfThreeIsFollowed) {
  EXPECT_TRUE(accepts(
      "%p = aten.permute(%x, [1, 0]) : (tensor<4x2xf32>) -> tensor<2x4xf32>\n"
      "%u = aten.unsqueeze(%p, 0) : (tensor<2x4xf32>) -> tensor<1x2x4xf32>\n"
      "%q = aten.permute(%u, [2, 1, 0]) : (tensor<1x2x4xf32>) -> "
      "tensor<4x2x1xf32>\n"
      "%r = aten.squeeze.dim(%q, 2) : (tensor<4x2x1xf32>) -> "
      "tensor<4x2xf32>\n",
      kItself));
}

TEST_F(CertificateRewritesTest, OtherElementsStay) {
  EXPECT_FALSE(accepts("%p = aten.view(%x, [2, 4]) : (tensor<4x2xf32>) -> "
                       "tensor<2x4xf32>\n" +
                           kBack,
                       kItself));
  EXPECT_FALSE(accepts("%r = aten.as_strided(%x, [4, 2], [2, 1]) : "
                       "(tensor<4x2xf32>) -> tensor<4x2xf32>\n",
                       kItself));
  EXPECT_FALSE(accepts("%r = aten.clone(%x) : (tensor<4x2xf32>) -> "
                       "tensor<4x2xf32>\n",
                       kItself));
}

TEST_F(CertificateRewritesTest, AnArgumentThatIsWrittenIsReadBefore) {
  std::string write = "%n = aten.sin(%x) : (tensor<4x2xf32>) -> "
                      "tensor<4x2xf32>\n%w = joint.write %x, %n : "
                      "tensor<4x2xf32>, tensor<4x2xf32>\n";
  EXPECT_FALSE(acceptsHalves(kThere + kBack + write, write, kItself, "%x"));
}

TEST_F(CertificateRewritesTest, OneSideMayKnowASizeThatTheOtherDoesNot) {
  std::string there = "%p = aten.sin(%x) : (tensor<4x2xf32>) -> "
                      "tensor<4x?xf32>\n%r = aten.cos(%p) : "
                      "(tensor<4x?xf32>) -> tensor<4x2xf32>\n";
  std::string here = "%p = aten.sin(%x) : (tensor<4x2xf32>) -> "
                     "tensor<4x2xf32>\n%r = aten.cos(%p) : "
                     "(tensor<4x2xf32>) -> tensor<4x2xf32>\n";
  EXPECT_TRUE(accepts(there, here));
  EXPECT_FALSE(accepts(there, here, /*isRewritten=*/false));
}

/// A constant of shape [4, 2].
std::string constant(const std::string &call) {
  return "%r = aten." + call + " : () -> tensor<4x2xf32>\n";
}

TEST_F(CertificateRewritesTest, EqualConstantsAreOne) {
  std::string scalar = "%c = aten.scalar_tensor(0.0, dtype = f32, device = "
                       "\"cpu\") : () -> tensor<f32>\n"
                       "%r = aten.expand(%c, [4, 2]) : (tensor<f32>) -> "
                       "tensor<4x2xf32>\n";
  std::string full = constant("full([4, 2], 0, dtype = f32, device = \"cpu\")");
  EXPECT_TRUE(accepts(scalar, full));
  EXPECT_TRUE(accepts(full, scalar));
  EXPECT_TRUE(
      accepts(full, constant("zeros([4, 2], dtype = f32, device = \"cpu\")")));
  EXPECT_FALSE(accepts(scalar, full, /*isRewritten=*/false));
}

TEST_F(CertificateRewritesTest, OtherConstantsAreNot) {
  std::string full = constant("full([4, 2], 0, dtype = f32, device = \"cpu\")");
  for (const char *other :
       {"full([4, 2], 1, dtype = f32, device = \"cpu\")",
        "full([4, 2], 1.0e-30, dtype = f32, device = \"cpu\")",
        "full([4, 2], -0.0, dtype = f32, device = \"cpu\")",
        "full([4, 2], 0, dtype = f32, device = \"cuda:0\")",
        "ones([4, 2], dtype = f32, device = \"cpu\")",
        "empty.memory_format([4, 2], dtype = f32, device = \"cpu\")"})
    EXPECT_FALSE(accepts(full, constant(other))) << other;
}

} // namespace
