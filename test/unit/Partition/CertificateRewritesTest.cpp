// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What halves of a compiler may have in place of the joint graph's ops: the
// base of views that cancel each other, an equal constant; and what not.

#include "RewritesFixture.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class CertificateRewritesTest : public RewritesTest {};

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

TEST_F(CertificateRewritesTest, NobodyGoesAlongADimensionOfOneElement) {
  std::string sum = "%s = aten.sum.dim_IntList(%x, [0], true) : "
                    "(tensor<4x2xf32>) -> tensor<1x2xf32>\n";
  std::string there = "%v = aten.view(%s, [2]) : (tensor<1x2xf32>) -> "
                      "tensor<2xf32>\n%w = aten.view(%v, [1, 2]) : "
                      "(tensor<2xf32>) -> tensor<1x2xf32>\n";
  auto last = [](const std::string &of) {
    return "%r = aten.expand(" + of +
           ", [4, 2]) : (tensor<1x2xf32>) -> tensor<4x2xf32>\n";
  };
  EXPECT_TRUE(accepts(sum + there + last("%w"), sum + last("%s")));
}

TEST_F(CertificateRewritesTest, OtherElementsStay) {
  EXPECT_FALSE(accepts("%p = aten.view(%x, [2, 4]) : (tensor<4x2xf32>) -> "
                       "tensor<2x4xf32>\n" +
                           kBack,
                       kItself));
  EXPECT_FALSE(accepts("%r = aten.as_strided(%x, [4, 2], [2, 1]) : "
                       "(tensor<4x2xf32>) -> tensor<4x2xf32>\n",
                       kItself));
  EXPECT_FALSE(accepts("%r = aten.neg(%x) : (tensor<4x2xf32>) -> "
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
