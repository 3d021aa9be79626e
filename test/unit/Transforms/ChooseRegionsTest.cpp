// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions by names of modules, segments of a list of modules, policies by
// names of ops; and what is said where a name fits nothing.

#include "RandomGraph.h"

#include "cutback/Transforms/ChooseRegions.h"

#include "mlir/AsmParser/AsmParser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;
using namespace cutback::test;

namespace {

class ChooseRegionsTest : public ::testing::Test {
protected:
  ChooseRegionsTest() {
    loadDialects(context);
    context.printOpOnDiagnostic(false);
  }

  /// A chain of sines, one for each of `modules`, with a backward that reads
  /// all but those whose module ends with "!".
  void build(std::vector<std::string> modules) {
    std::string text =
        "joint.graph @g(%v0: tensor<4xf32> {joint.role = #joint.role<input>}, "
        "%t: tensor<4xf32> {joint.role = #joint.role<tangent of 0>}) -> "
        "(tensor<4xf32>) gradients (tensor<4xf32>) {\n";
    std::string backward, gradient = "%t";
    for (size_t i = 0; i < modules.size(); ++i) {
      std::string now = "%v" + std::to_string(i + 1);
      StringRef module = modules[i];
      bool isRead = !module.consume_back("!");
      std::string place = module.empty() ? ""
                                         : " loc(fused<\"" + module.str() +
                                               "\">[\"m.py\":1:1])";
      text += now + " = aten.sin(%v" + std::to_string(i) +
              ") : (tensor<4xf32>) -> tensor<4xf32>" + place + "\n";
      if (!isRead)
        continue;
      std::string next = "%g" + std::to_string(i);
      backward += next + " = aten.mul.Tensor(" + gradient + ", " + now +
                  ") : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n";
      gradient = next;
    }
    module = parse(context, text + backward + "joint.output %v" +
                                std::to_string(modules.size()) + " gradients(" +
                                gradient +
                                " of 0) : tensor<4xf32>, tensor<4xf32>\n}");
    ASSERT_TRUE(module);
  }

  /// What is said; empty if the request was followed.
  std::string choose(const RegionRequest &request) {
    std::string said;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      said = diagnostic.str();
      for (Diagnostic &note : diagnostic.getNotes())
        said += "; " + note.str();
    });
    bool isWarning = false;
    ScopedDiagnosticHandler warned(&context, [&](Diagnostic &diagnostic) {
      isWarning |= diagnostic.getSeverity() == DiagnosticSeverity::Warning;
      return failure();
    });
    bool isDone = succeeded(chooseRegions(graphOf(*module), request));
    EXPECT_EQ(isDone, said.empty() || isWarning);
    return said;
  }

  /// The regions of the forward ops, "-" outside of all.
  std::string regions() {
    std::string text;
    for (Operation &op : graphOf(*module).getBlock()) {
      if (op.getName().getStringRef() != "aten.sin")
        continue;
      auto policy = op.getAttrOfType<PolicyAttr>(JointDialect::kPolicy);
      text += (text.empty() ? "" : " ") +
              (policy ? regionText(policy.getRegion()) : "-");
      if (policy && policy.getKind() == PolicyKind::MustSave)
        text += "!";
    }
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(ChooseRegionsTest, EachModuleThatFitsIsARegion) {
  build({"embed", "blocks.0", "blocks.0.mlp", "", "blocks.0.mlp.act",
         "blocks.1.mlp", "head"});
  EXPECT_EQ(choose({{"blocks.*"}, 0, {}}), "");
  EXPECT_EQ(regions(), "- 0 0 - 0 1 -");
}

TEST_F(ChooseRegionsTest, AModuleInAModuleIsARegionInARegion) {
  build({"blocks.0.attn", "blocks.0.mlp", "blocks.0", "blocks.0.mlp",
         "blocks.1.mlp.act"});
  EXPECT_EQ(choose({{"blocks.*", "blocks.*.mlp"}, 0, {}}), "");
  EXPECT_EQ(regions(), "0 0.0 0 0.1 1.0");
}

TEST_F(ChooseRegionsTest, ThePartThatIsLeftIsNoSegment) {
  build({"net.0", "net.1", "net.2", "net.3", "net.4", "net.5", "net.6"});
  EXPECT_EQ(choose({{}, 3, {}}), "");
  EXPECT_EQ(regions(), "0 0 1 1 - - -") << "two modules a segment";
}

TEST_F(ChooseRegionsTest, ListsAreFoundWhereverTheyAre) {
  build({"0", "1.a.0", "1.a.1", "1.a.2", "1.a.3"});
  EXPECT_EQ(choose({{}, 2, {}}), "");
  EXPECT_EQ(regions(), "- 0 0 - -");
}

TEST_F(ChooseRegionsTest, SegmentsHaveRegionsInThem) {
  build({"net.0", "net.1.mlp", "net.2.mlp", "net.3"});
  EXPECT_EQ(choose({{"net.*.mlp"}, 2, {}}), "");
  EXPECT_EQ(regions(), "0 0.0 1 -");
}

TEST_F(ChooseRegionsTest, PoliciesGoOverRegions) {
  build({"net.0", "net.1", "head"});
  EXPECT_EQ(choose({{"net.*"}, 0, {"save:sin"}}), "");
  EXPECT_EQ(regions(), "0! 1! -");
  EXPECT_EQ(choose({{"net.*"}, 0, {"save:sin"}}), "") << "planned again";
}

TEST_F(ChooseRegionsTest, MustSaveWins) {
  build({"net.0"});
  EXPECT_EQ(choose({{"net.*"}, 0, {"save:aten.sin", "recompute:sin"}}), "");
  EXPECT_EQ(regions(), "0!");
}

TEST_F(ChooseRegionsTest, RegionsHaveTheAttributesOfACheckpoint) {
  build({"net.0", "net.1", "head"});
  EXPECT_EQ(
      choose({{"net.0,early_stop=false", "head,preserve_rng=false"}, 0, {}}),
      "a checkpoint region with preserve_rng = false draws other random "
      "numbers when it runs again: gradients are not those of what the "
      "forward has computed");
  EXPECT_EQ(regions(), "0 - 1");
  Attribute wishes = graphOf(*module)->getAttr(JointDialect::kRegions);
  EXPECT_EQ(wishes, parseAttribute("{\"0\" = {early_stop = false}, "
                                   "\"1\" = {preserve_rng = false}}",
                                   &context));
  build({"net.0", "net.0.mlp"});
  EXPECT_EQ(choose({{"net.*,advise=true", "net.0.mlp"}, 0, {}}), "");
  for (Operation &op : graphOf(*module).getBlock().without_terminator())
    if (auto policy = op.getAttrOfType<PolicyAttr>(JointDialect::kPolicy))
      EXPECT_EQ(policy.getKind(), PolicyKind::AdviseRecompute);
}

TEST_F(ChooseRegionsTest, AReentrantRegionRunsWholeIfAnInputHasAGradient) {
  // The input of the chain is what the gradient is of.
  build({"net.0", "net.1"});
  EXPECT_EQ(choose({{"net.*,reentrant=true"}, 0, {}}), "");
  EXPECT_EQ(graphOf(*module)->getAttr(JointDialect::kRegions),
            parseAttribute("{\"0\" = {early_stop = false}, "
                           "\"1\" = {early_stop = false}}",
                           &context));
  build({"net.0", "net.1"});
  graphOf(*module).setArgAttr(
      0, JointDialect::kRole,
      RoleAttr::get(&context, RoleKind::Param, nullptr, -1, false));
  EXPECT_EQ(choose({{"net.*,reentrant=true"}, 0, {}}),
            "no value that the reentrant checkpoint region 'net.0' reads has a "
            "gradient, parameters aside: PyTorch gives none to what is in it; "
            "leave reentrant=true out; then it has the gradients of the model");
}

TEST_F(ChooseRegionsTest, AttributesThatSayNothingAreErrors) {
  build({"net.0"});
  for (const char *wrong : {"early=false", "early_stop=no", "early_stop"})
    EXPECT_EQ(choose({{std::string("net.*,") + wrong}, 0, {}}),
              std::string("'") + wrong +
                  "' is no attribute of a checkpoint region; it is written "
                  "MODULES,NAME=true or false; names are early_stop, "
                  "preserve_rng, reentrant and advise, or budget=0.4");
  EXPECT_EQ(choose({{"net.*,reentrant=true"}, 0, {"save:sin"}}),
            "a reentrant checkpoint region has no policies of ops; leave out "
            "--checkpoint-policy, or reentrant=true");
  EXPECT_EQ(choose({{"net.*,early_stop=false", "net.0"}, 0, {}}),
            "two patterns of checkpoint regions fit module 'net.0' and ask for "
            "different attributes");
}

TEST_F(ChooseRegionsTest, AnUnknownModuleIsAnError) {
  build({"blocks.0.mlp", "head"});
  EXPECT_EQ(choose({{"block.*"}, 0, {}}),
            "no module is called 'block.*', which is to be a checkpoint "
            "region; modules near it are blocks.0, blocks");
  EXPECT_EQ(choose({{"encoder.layers.*"}, 0, {}}),
            "no module is called 'encoder.layers.*', which is to be a "
            "checkpoint region; the first of its modules are blocks, blocks.0, "
            "blocks.0.mlp");
  EXPECT_NE(choose({{"blocks.[0"}, 0, {}}).find("is no pattern of modules"),
            std::string::npos);
  build({"", ""});
  EXPECT_EQ(choose({{"head"}, 0, {}}),
            "no module is called 'head', which is to be a checkpoint region; "
            "no op of the graph has a module: export the model as .pt2");
}

TEST_F(ChooseRegionsTest, AModuleWithoutAGradientIsAnError) {
  build({"embed!", "head"});
  EXPECT_EQ(choose({{"embed"}, 0, {}}),
            "module 'embed' is to be a checkpoint region, and has no gradient: "
            "the backward reads nothing of it; leave it out, or ask for the "
            "gradient of something in it (--grad-of)");
}

TEST_F(ChooseRegionsTest, TooManySegmentsAreAnError) {
  build({"net.0", "net.1"});
  EXPECT_EQ(choose({{}, 3, {}}),
            "cannot be cut into 3 checkpoint segments: its longest list of "
            "modules, 'net', has 2; name the modules to checkpoint "
            "(--checkpoint)");
  build({"net"});
  EXPECT_EQ(choose({{}, 1, {}}),
            "cannot be cut into 1 checkpoint segments: it has no numbered list "
            "of modules; name the modules to checkpoint (--checkpoint)");
}

TEST_F(ChooseRegionsTest, PoliciesThatSayNothingAreErrors) {
  build({"net.0"});
  EXPECT_EQ(choose({{"net.*"}, 0, {"save:sine"}}),
            "no op of a checkpoint region is called 'sine'; there are sin");
  build({"net.0"});
  EXPECT_EQ(choose({{"net.*"}, 0, {"keep:sin"}}),
            "'keep:sin' is no policy of an op of checkpoint regions; it is "
            "written POLICY:OP, as save:matmul; policies are save, recompute, "
            "must-save, prefer-save, must-recompute and prefer-recompute");
  build({"net.0"});
  EXPECT_EQ(choose({{"net.*"}, 0, {"save:sin", "recompute:sin"}}),
            "'sin' has two policies in checkpoint regions: 'save' and "
            "'recompute'");
  build({"net.0"});
  EXPECT_EQ(choose({{}, 0, {"save:sin"}}),
            "no op of a checkpoint region is called 'sin'; the graph has no "
            "checkpoint regions; --checkpoint makes some");
}

} // namespace
