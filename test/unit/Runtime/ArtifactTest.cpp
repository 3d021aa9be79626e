// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest: what is written is read, and what is not right is refused
// before anything runs.

#include "cutback/Runtime/Artifact.h"
#include "cutback/Support/Checksum.h"

#include "gtest/gtest.h"

#include <random>

using namespace cutback;

namespace {

ArtifactHook makeHook() {
  ArtifactHook hook;
  hook.name = "fc";
  hook.dtype = "f32";
  hook.sizes = {2, 4};
  hook.kind = HookKind::NodePost;
  hook.key = 3;
  hook.replaces = true;
  hook.before = 1;
  hook.memory = {ArtifactMemory::Arena, 16};
  return hook;
}

/// y = k(x) for eight floats, in place of an arena of 64 bytes.
Artifact makeArtifact() {
  Artifact artifact;
  artifact.target = "cuda-host";
  artifact.architectures = {"sm_90"};
  artifact.tf32 = true;
  artifact.testsAccesses = true;
  artifact.arenaBytes = 64;
  artifact.symbols = {{"s0", 2, 1, 8}, {"s1", 5}};
  ArtifactArgument x;
  x.name = "input.\"0\"\n";
  x.dtype = "f32";
  x.sizes = {2, 4};
  x.declared = {"s0", "4"};
  artifact.arguments.push_back(x);
  ArtifactArgument seed;
  seed.dtype = "i64";
  seed.fill = ArtifactArgument::Seed;
  seed.isWritten = true;
  seed.rounding = 0.0078125;
  artifact.arguments.push_back(seed);
  ArtifactResult y;
  y.name = "loss";
  y.dtype = "f32";
  y.sizes = {4, 2};
  y.strides = {1, 4};
  y.memory = {ArtifactMemory::Arena, 16};
  y.rounding = 0.5;
  artifact.results.push_back(y);
  artifact.kernels.push_back({"k", "forward.cu", true, true, {}});
  ArtifactLaunch launch;
  launch.grid = {3, 2, 1};
  launch.block = {32, 8, 1};
  launch.sharedBytes = 4096;
  launch.op = "add";
  launch.place = "fc, model.py:3";
  launch.operands = {{{ArtifactMemory::Argument, 0}, 32, false},
                     {{ArtifactMemory::Arena, 16}, 32, true}};
  launch.product.emplace();
  launch.product->dtype = "bf16";
  launch.product->m = launch.product->n = launch.product->k = 2;
  launch.product->batch = 2;
  launch.product->a = {0, 0, 2, 4, true};
  launch.product->b = {0, 1, 3, 0, false};
  launch.product->c = launch.product->out = {1, 2, 2, 4, false};
  launch.product->bias = 0;
  launch.product->alpha = 0.1;
  launch.product->beta = 0.5;
  launch.product->workspaceBytes = 64;
  artifact.segments = {{"forward", {launch}, {}},
                       {"backward", {launch}, {makeHook()}},
                       {kUpdateSegment, {launch}, {}}};
  artifact.files = {{"forward.cu", 4, checksumOf("text"), nullptr}};
  return artifact;
}

/// What reading it says after `from` has become `to`.
std::string changed(const std::string &from, const std::string &to) {
  std::string text = writeManifest(makeArtifact());
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  Artifact artifact;
  return readManifest(signManifest(text), artifact);
}

TEST(ArtifactTest, WhatIsWrittenIsRead) {
  std::string text = writeManifest(makeArtifact());
  Artifact artifact;
  ASSERT_EQ(readManifest(text, artifact), "");
  EXPECT_EQ(writeManifest(artifact), text);
  EXPECT_EQ(artifact.arguments[0].name, "input.\"0\"\n");
  EXPECT_EQ(artifact.arguments[1].fill, ArtifactArgument::Seed);
  EXPECT_TRUE(artifact.arguments[1].isWritten);
  EXPECT_EQ(artifact.stepSegments(), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(artifact.results[0].strides, (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(artifact.segments[2].launches[0].grid[1], 2);
  EXPECT_TRUE(artifact.tf32);
  EXPECT_TRUE(artifact.testsAccesses);
  EXPECT_EQ(artifact.symbols[0].max, 8);
  EXPECT_EQ(artifact.symbols[1].max, INT64_MAX);
  EXPECT_EQ(artifact.arguments[0].declared[0], "s0");
  EXPECT_TRUE(artifact.kernels[0].waits && artifact.kernels[0].checks);
}

TEST(ArtifactTest, ASegmentTakesArgumentsOfItsOwnAndOfEarlierOnes) {
  Artifact artifact = makeArtifact();
  ArtifactSegment sums = {kAccumulateSegment, {}, {}};
  artifact.segments.insert(artifact.segments.begin() + 2, sums);
  EXPECT_EQ(artifact.stepSegments(), (std::vector<size_t>{0, 1}));
  ArtifactArgument argument;
  EXPECT_TRUE(artifact.mayTake("forward", argument));
  argument.segment = kAccumulateSegment;
  EXPECT_FALSE(artifact.mayTake("backward", argument));
  EXPECT_TRUE(artifact.mayTake(kAccumulateSegment, argument));
  EXPECT_TRUE(artifact.mayTake(kUpdateSegment, argument));
  argument.segment = "nowhere";
  EXPECT_FALSE(artifact.mayTake(kUpdateSegment, argument));
}

TEST(ArtifactTest, AnotherVersionIsRefused) {
  EXPECT_EQ(changed("\"cutback_artifact\": 8", "\"cutback_artifact\": 9"),
            "has version 9, this runtime takes 8");
  EXPECT_EQ(changed("\"cutback_artifact\"", "\"something\""),
            "is no manifest of a compiled step");
  EXPECT_NE(changed("{", "").find("is no JSON: "), std::string::npos);
  EXPECT_EQ(changed("\"bytes\": 32", "\"byte\": 32"),
            "has a member 'byte' that it cannot have");
}

TEST(ArtifactTest, MemoryIsInsideOfWhatThereIs) {
  EXPECT_EQ(changed("\"bytes\": 32", "\"bytes\": 36"),
            "launches 'k' on memory outside of arena and arguments");
  EXPECT_EQ(
      changed("\"arena\": 16, \"bytes\": 32", "\"arena\": 48, \"bytes\": 32"),
      "launches 'k' on memory outside of arena and arguments");
  EXPECT_EQ(
      changed("\"arena\": 16, \"bytes\": 32", "\"arena\": 8, \"bytes\": 32"),
      "launches 'k' on memory outside of arena and arguments");
  EXPECT_EQ(changed("\"argument\": 0", "\"argument\": 2"),
            "launches 'k' on memory outside of arena and arguments");
  // Of a segment that may not run: there is no memory.
  EXPECT_EQ(changed("\"declared\"", "\"segment\": \"update\", \"declared\""),
            "launches 'k' on memory outside of arena and arguments");
  EXPECT_EQ(changed("\"arena\": 16}", "\"arena\": 48}"),
            "has a result 'loss' outside of memory");
  EXPECT_EQ(changed("\"strides\": [1, 4]", "\"strides\": [1, 40]"),
            "has a result 'loss' outside of memory");
  EXPECT_EQ(changed("\"strides\": [1, 4]", "\"strides\": [-1, 4]"),
            "has a result 'loss' outside of memory");
  EXPECT_EQ(changed("\"strides\": [1, 4]", "\"strides\": [1]"),
            "has a result 'loss' of unknown size");
  std::string axes = "\"sizes\": [1";
  for (int i = 0; i < 64; ++i)
    axes += ", 1";
  EXPECT_EQ(changed("\"sizes\": []", axes + "]"),
            "has an argument '' of unknown size");
  EXPECT_EQ(changed("\"dtype\": \"i64\"", "\"dtype\": \"i65\""),
            "has an argument '' of unknown size");
}

TEST(ArtifactTest, AHookStandsBetweenLaunchesOnMemoryThatThereIs) {
  Artifact artifact;
  ASSERT_EQ(readManifest(writeManifest(makeArtifact()), artifact), "");
  EXPECT_TRUE(artifact.hasHooks());
  ASSERT_EQ(artifact.segments[1].hooks.size(), 1u);
  const ArtifactHook &hook = artifact.segments[1].hooks[0];
  EXPECT_EQ(hook.name, "fc");
  EXPECT_EQ(hook.kind, HookKind::NodePost);
  EXPECT_EQ(hook.key, 3);
  EXPECT_TRUE(hook.replaces);
  EXPECT_EQ(hook.memory.at, 16);
  EXPECT_EQ(changed("\"before\": 1", "\"before\": 2"),
            "has a hook 'fc' at no place between its launches");
  EXPECT_EQ(changed("\"before\": 1", "\"before\": -1"),
            "has a hook 'fc' at no place between its launches");
  EXPECT_EQ(
      changed("\"before\": 1, \"arena\": 16", "\"before\": 1, \"arena\": 48"),
      "has a hook 'fc' on memory outside of arena and arguments");
  EXPECT_EQ(changed("\"node_post\"", "\"later\""),
            "has a hook of the kind 'later'");
}

TEST(ArtifactTest, ACollectiveGoesWithItsOperands) {
  Artifact artifact;
  artifact.target = kCpuTarget;
  artifact.arenaBytes = 256;
  artifact.kernels = {{"group", kGroupFile, false, false, {}}};
  ArtifactLaunch launch;
  launch.operands = {{{ArtifactMemory::Arena, 0}, 16, false},
                     {{ArtifactMemory::Arena, 64}, 32, true}};
  launch.collective.emplace();
  launch.collective->kind = ArtifactCollective::AllGather;
  launch.collective->group = "tp";
  launch.collective->dtype = "f32";
  launch.collective->ranks = 2;
  artifact.segments = {{"forward", {launch}, {}}};
  auto check = [](const Artifact &one, const char *from, const char *to) {
    std::string text = writeManifest(one);
    if (size_t at = text.find(from); at != std::string::npos)
      text.replace(at, std::string(from).size(), to);
    else
      ADD_FAILURE() << from;
    Artifact read;
    std::string problem = readManifest(signManifest(text), read);
    if (problem.empty())
      EXPECT_EQ(writeManifest(read), signManifest(text));
    return problem;
  };
  EXPECT_EQ(check(artifact, "tp", "dp"), "");
  std::string unsound =
      "has a collective 'group' that does not go with its operands";
  EXPECT_EQ(check(artifact, "\"ranks\": 2", "\"ranks\": 3"), unsound);
  EXPECT_EQ(check(artifact, "\"dtype\": \"f32\"", "\"dtype\": \"f33\""),
            unsound);
  EXPECT_EQ(check(artifact, "all_gather_into_tensor", "broadcast"), unsound);
  EXPECT_EQ(check(artifact, "all_gather_into_tensor", "all_reduce"), unsound);
  EXPECT_EQ(check(artifact, "\"file\": \"group\"", "\"file\": \"libstep.so\""),
            unsound);
  EXPECT_EQ(check(artifact, "\"target\": \"cpu\"", "\"target\": \"cuda\""),
            unsound);
  EXPECT_EQ(check(artifact, "all_gather_into_tensor", "gather"),
            "has a collective 'gather'");
  ArtifactCollective &made = *artifact.segments[0].launches[0].collective;
  made.kind = ArtifactCollective::AllToAll;
  made.ranks = 0;
  made.sends = {8, 8}, made.takes = {12, 20};
  EXPECT_EQ(check(artifact, "tp", "dp"), "");
  EXPECT_EQ(check(artifact, "[8, 8]", "[8, 12]"), unsound);
  EXPECT_EQ(check(artifact, "[12, 20]", "[-12, 44]"), unsound);
  made.sends = made.takes = {};
  made.kind = ArtifactCollective::ReduceScatter;
  made.reduction = "avg";
  made.ranks = 2;
  launch = artifact.segments[0].launches[0];
  std::swap(launch.operands[0].bytes, launch.operands[1].bytes);
  artifact.segments[0].launches[0] = launch;
  EXPECT_EQ(check(artifact, "tp", "dp"), "");
  EXPECT_EQ(check(artifact, "\"avg\"", "\"min\""), unsound);
}

TEST(ArtifactTest, ASizeIsNoPathAndInItsRange) {
  EXPECT_EQ(changed("\"s1\"", "\"../s1\""),
            "has a size '../s1' that is no size");
  EXPECT_EQ(changed("\"value\": 2", "\"value\": 9"),
            "has a size 's0' that is no size");
  EXPECT_EQ(
      changed("[\"s0\", \"4\"]", "[\"s0\"]"),
      "has an argument 'input.\"0\"\n' with other sizes than it declares");
}

TEST(ArtifactTest, LaunchesAreThoseThatADeviceTakes) {
  EXPECT_EQ(changed("\"kernel\": \"k\"", "\"kernel\": \"q\""),
            "launches a kernel that it does not have");
  for (const char *block : {"[32, 80, 1]", "[0, 8, 1]"})
    EXPECT_EQ(changed("[32, 8, 1]", block),
              "launches 'k' with a grid or block that no device takes");
  EXPECT_EQ(changed("[3, 2, 1]", "[3, 70000, 1]"),
            "launches 'k' with a grid or block that no device takes");
  EXPECT_EQ(changed("\"shared_bytes\": 4096", "\"shared_bytes\": 65536"),
            "launches 'k' with a grid or block that no device takes");
}

TEST(ArtifactTest, AProductIsInsideOfItsOperandsAndOfTheArena) {
  Artifact artifact;
  ASSERT_EQ(readManifest(writeManifest(makeArtifact()), artifact), "");
  EXPECT_TRUE(artifact.hasProducts());
  const ArtifactProduct &product = *artifact.segments[1].launches[0].product;
  EXPECT_EQ(product.a.batchStride, 4);
  EXPECT_TRUE(product.a.isTransposed);
  EXPECT_EQ(product.b.leading, 3);
  EXPECT_EQ(product.alpha, 0.1);
  EXPECT_EQ(product.bias, 0);
  const std::pair<const char *, const char *> wrong[] = {
      {"\"bf16\"", "\"i16\""},
      {"\"sizes\": [2, 2, 2, 2]", "\"sizes\": [0, 2, 2, 2]"},
      {"\"sizes\": [2, 2, 2, 2]", "\"sizes\": [2, 2, 9000000000000, 2]"},
      {"\"sizes\": [2, 2, 2, 2]", "\"sizes\": [2, 2, 2, 4]"},
      {"\"a\": {\"operand\": 0", "\"a\": {\"operand\": 2"},
      {"\"leading\": 3", "\"leading\": 14"},
      {"\"leading\": 3", "\"leading\": 1"},
      {"\"offset\": 1", "\"offset\": -1"},
      {"\"out\": {\"operand\": 1", "\"out\": {\"operand\": 0"},
      {"\"bias\": 0", "\"bias\": 2"},
      {"\"workspace\": [0, 64]", "\"workspace\": [0, 65]"},
      {"\"workspace\": [0, 64]", "\"workspace\": [16, 32]"}};
  for (const auto &[from, to] : wrong)
    EXPECT_EQ(changed(from, to),
              "has a product in place of 'k' that is outside of its operands "
              "or of the arena")
        << to;
  EXPECT_EQ(changed("\"sizes\": [2, 2, 2, 2]", "\"sizes\": [2, 2]"),
            "lacks a number 'sizes'");
}

TEST(ArtifactTest, MembersThatArePartsOfPathsArePlain) {
  EXPECT_EQ(changed("\"forward.cu\", \"bytes\"", "\"../f\", \"bytes\""),
            "has a file '../f' that is none of its folder");
  EXPECT_EQ(changed("\"backward\"", "\"a/b\""),
            "has a segment 'a/b' that cannot be one");
  EXPECT_EQ(changed("\"backward\"", "\"forward\""),
            "has a segment 'forward' that cannot be one");
  EXPECT_EQ(changed("\"cuda-host\"", "\"tpu\""),
            "is for the target 'tpu', which there is not");
}

TEST(ArtifactTest, ProductsThatWrapAreRefused) {
  EXPECT_EQ(changed("[32, 8, 1]", "[6148914691236517206, 3, 1]"),
            "launches 'k' with a grid or block that no device takes");
  EXPECT_EQ(changed("[32, 8, 1]", "[-1, -1, 1]"),
            "launches 'k' with a grid or block that no device takes");
  EXPECT_EQ(
      changed("\"strides\": [1, 4]", "\"strides\": [6148914691236517206, 1]"),
      "has a result 'loss' outside of memory");
  EXPECT_EQ(changed("\"strides\": [1, 4]", "\"strides\": [1, 4], \"offset\": "
                                           "9223372036854775807"),
            "has a result 'loss' outside of memory");
  EXPECT_EQ(changed("\"sizes\": [4, 2]", "\"sizes\": [4294967296, 4294967296]"),
            "has a result 'loss' of unknown size");
  EXPECT_EQ(changed("\"arena_bytes\": 64", "\"arena_bytes\": -64"),
            "has an arena of -64 bytes");
}

TEST(ArtifactTest, WhatIsMissingOrOfAnotherKindIsRefused) {
  EXPECT_EQ(changed("\"operands\"", "\"operandt\""),
            "has a member 'operandt' that it cannot have");
  EXPECT_EQ(changed("\"strides\": [1, 4],", ""), "lacks an array 'strides'");
  EXPECT_EQ(changed("\"strides\": [1, 4]", "\"strides\": {}"),
            "lacks an array 'strides'");
  EXPECT_EQ(changed("\"arena_bytes\": 64", "\"arena_bytes\": 6.5"),
            "lacks a number 'arena_bytes'");
  EXPECT_EQ(
      changed("\"strides\": [1, 4]", "\"strides\": [1, 4], \"strides\": []"),
      "has a member 'strides' that it cannot have");
}

TEST(ArtifactTest, NoFlippedBitIsAccepted) {
  std::string text = writeManifest(makeArtifact());
  for (size_t bit = 0; bit < 8 * text.size(); bit += 3) {
    std::string flipped = text;
    flipped[bit / 8] ^= 1 << bit % 8;
    Artifact artifact;
    EXPECT_NE(readManifest(flipped, artifact), "") << bit;
  }
}

/// Text with one number, word or bracket changed, or a stretch left out.
std::string edit(const std::string &text, std::mt19937_64 &random) {
  static const char *const kWords[] = {
      "0",    "-1",   "1",    "4294967296", "9223372036854775807",
      "[]",   "{}",   "null", "true",       "-9223372036854775808",
      "\"\"", "1e300"};
  std::string made = text;
  size_t at = random() % made.size();
  size_t digit = made.find_first_of("0123456789", at);
  if (random() % 2 && digit != std::string::npos) {
    size_t end = made.find_first_not_of("0123456789", digit);
    return made.replace(digit, end - digit, kWords[random() % 12]);
  }
  return made.erase(at, 1 + random() % 40);
}

/// With a checksum that is right: what is accepted stays in its memory.
TEST(ArtifactTest, WhatIsAcceptedIsInRangeWhoeverWroteIt) {
  std::string text = writeManifest(makeArtifact());
  std::mt19937_64 random(1);
  unsigned accepted = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    Artifact artifact;
    if (!readManifest(signManifest(edit(text, random)), artifact).empty())
      continue;
    ++accepted;
    EXPECT_EQ(readManifest(writeManifest(artifact), artifact), "");
    for (const ArtifactSegment &segment : artifact.segments)
      for (const ArtifactLaunch &launch : segment.launches) {
        ASSERT_LT(static_cast<size_t>(launch.kernel), artifact.kernels.size());
        for (const ArtifactOperand &operand : launch.operands) {
          int64_t held =
              operand.memory.kind == ArtifactMemory::Arena
                  ? artifact.arenaBytes - operand.memory.at
                  : bytesOf(artifact.arguments.at(operand.memory.at));
          EXPECT_LE(operand.bytes, held);
          EXPECT_GE(operand.bytes, 0);
        }
      }
    for (const ArtifactResult &result : artifact.results)
      EXPECT_LE(spanOf(result), artifact.arenaBytes);
  }
  EXPECT_GT(accepted, 100u);
  EXPECT_LT(accepted, 3500u);
}

} // namespace
