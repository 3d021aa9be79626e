// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Halves as PyTorch orders their lists, linked: the certificate accepts them
// by position.

#include "cutback/Partition/LinkHalves.h"

#include "CertificateFixture.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::test;

namespace {

class LinkHalvesTest : public CertificateTest {
protected:
  /// Links the halves in the texts, and proves the result.
  void link(const std::string &forward, const std::string &backward) {
    module = parse(context, std::string(kJoint) + forward + backward);
    ASSERT_TRUE(module);
    auto graph = graphOf(*module);
    auto fw = module->lookupSymbol<func::FuncOp>("g_forward");
    auto bw = module->lookupSymbol<func::FuncOp>("g_backward");
    FailureOr<HalvesSignature> signature = deriveSignature(graph, fw, bw);
    ASSERT_TRUE(succeeded(signature));
    ASSERT_TRUE(succeeded(verifyHalves(graph, fw, bw, *signature)));
    partition = linkHalves(graph, fw, bw, *signature);
    ASSERT_TRUE(succeeded(mlir::verify(*module)));
    EXPECT_TRUE(succeeded(verifyHalves(graph, partition.forward,
                                       partition.backward, partition.link)));
  }

  OwningOpRef<ModuleOp> module;
  Partition partition;
};

TEST_F(LinkHalvesTest, WhatIsInOrderStays) {
  link(kForward, kBackward);
  EXPECT_EQ(partition.link.getNumSavedSizes(), 1u);
  EXPECT_EQ(partition.link.getSaved().size(), 4u);
  EXPECT_EQ(cast<StringAttr>(partition.link.getSaved()[1]).getValue(), "h");
}

TEST_F(LinkHalvesTest, SizesComeBeforeTensors) {
  // PyTorch's forward returns them last.
  std::string forward = with(kForward,
                             "%y, %s, %h, %m, %v : tensor<4x4xf32>, "
                             "index, tensor<4x4xf32>, "
                             "tensor<4x4xf32>, tensor<4x4xf32>",
                             "%y, %h, %m, %v, %s : tensor<4x4xf32>, "
                             "tensor<4x4xf32>, tensor<4x4xf32>, "
                             "tensor<4x4xf32>, index");
  forward = with(forward,
                 "(tensor<4x4xf32>, index, tensor<4x4xf32>, tensor<4x4xf32>, "
                 "tensor<4x4xf32>)",
                 "(tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, "
                 "tensor<4x4xf32>, index)");
  link(forward, kBackward);
  std::vector<std::string> names;
  for (Attribute name : partition.link.getSaved())
    names.push_back(cast<StringAttr>(name).getValue().str());
  EXPECT_EQ(names, (std::vector<std::string>{"s", "h", "m", "v"}));
  EXPECT_EQ(partition.link.getNumSavedSizes(), 1u);
  EXPECT_TRUE(isa<IndexType>(partition.forward.getResultTypes()[1]));
}

TEST_F(LinkHalvesTest, PlacesWithoutAGradientAreLeftOut) {
  // PyTorch returns one value an argument of the forward.
  std::string backward =
      with(kBackward, "return %g3, %g4 :", "return %g3, %g4, %g3, %g3, %g3 :");
  backward = with(backward, ": tensor<4x4xf32>, tensor<4x4xf32>\n}",
                  ": tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, "
                  "tensor<4x4xf32>, tensor<4x4xf32>\n}");
  backward = with(backward, "-> (tensor<4x4xf32>, tensor<4x4xf32>)",
                  "-> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, "
                  "tensor<4x4xf32>, tensor<4x4xf32>)");
  link(kForward, backward);
  EXPECT_EQ(partition.backward.getNumResults(), 2u);
}

} // namespace
