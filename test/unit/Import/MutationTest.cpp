// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Thousands of mutilated texts: none crashes or hangs, each imports to IR that
// verifies, or says why not. CUTBACK_MUTATIONS=N makes N times as many.

#include "ImportTestSupport.h"

#include <algorithm>
#include <cstdlib>
#include <random>

using namespace cutback;
using namespace cutback::test;

namespace {

class Mutator {
public:
  Mutator(std::string text, unsigned seed) : text(std::move(text)), rng(seed) {}

  std::string next() {
    std::string result = text;
    unsigned count = 1 + pick(3);
    for (unsigned i = 0; i < count; ++i)
      mutate(result);
    return result;
  }

private:
  size_t pick(size_t bound) { return bound ? rng() % bound : 0; }

  void mutate(std::string &result) {
    static const char *const kPieces[] = {
        "(",    ")",   "[",         "]",   "{",     "\"",   "'",   "#",
        "\n",   ",",   "=",         ":",   "-",     "0",    ".",   "\\",
        "None", "nan", "slice(",    "e99", "\t",    ";",    "*",   "Sym(",
        "[0]",  "//",  "999999999", "s0",  "self.", "True", "u0*", "return "};
    size_t at = pick(result.size() + 1), length = pick(30);
    switch (pick(7)) {
    case 0: // cut off the end
      result.resize(at);
      break;
    case 1: // remove a piece
      result.erase(at, length);
      break;
    case 2: // repeat a piece elsewhere
      result.insert(pick(result.size() + 1), result.substr(at, length));
      break;
    case 3: // replace a character
      if (at < result.size())
        result[at] = static_cast<char>(pick(256));
      break;
    case 4: // insert what means something
      result.insert(at, kPieces[pick(std::size(kPieces))]);
      break;
    case 5: { // repeat a line
      size_t begin = result.rfind('\n', at);
      size_t end = result.find('\n', at);
      if (begin != std::string::npos && end != std::string::npos)
        result.insert(end, result.substr(begin, end - begin));
      break;
    }
    case 6: { // swap a word for another one of the text
      auto word = [&](size_t from) {
        size_t begin = result.find_first_of("abcdefghijklmnopqrst_", from);
        size_t end = begin == std::string::npos
                         ? begin
                         : result.find_first_not_of(
                               "abcdefghijklmnopqrstuvwxyz_0123456789", begin);
        return std::make_pair(begin, end);
      };
      auto [to, toEnd] = word(at);
      auto [from, fromEnd] = word(pick(result.size() + 1));
      if (to != std::string::npos && from != std::string::npos &&
          toEnd != std::string::npos && fromEnd != std::string::npos)
        result.replace(to, toEnd - to, result.substr(from, fromEnd - from));
      break;
    }
    }
  }

  std::string text;
  std::mt19937 rng;
};

void importMutations(const std::string &text, unsigned seed, unsigned count) {
  Mutator mutator(text, seed);
  unsigned numGood = 0;
  if (const char *factor = std::getenv("CUTBACK_MUTATIONS"))
    count *= std::max(1, std::atoi(factor));
  mlir::MLIRContext context;
  for (unsigned i = 0; i < count; ++i) {
    std::string mutated = mutator.next();
    ImportOptions options;
    options.torchHalves = true;
    Imported in(mutated, options, &context);
    if (in.isGood)
      ASSERT_TRUE(in.isValid) << in.errors() << mutated;
    else
      ASSERT_FALSE(in.diagnostics.empty()) << mutated;
    numGood += in.isGood;
  }
  // Mutations that change nothing that matters, and ones that do.
  EXPECT_GT(numGood, 0u);
  EXPECT_LT(numGood, count);
}

const char *const kBody =
    "        var_mean = torch.ops.aten.var_mean.correction(mm, [1], correction "
    "= 0, keepdim = True)\n"
    "        getitem: \"f32[2, 1][1, 1]cpu\" = var_mean[0]\n"
    "        getitem_1: \"f32[2, 1][1, 1]cpu\" = var_mean[1];  var_mean = "
    "None\n"
    "        # ac_graph_id: 3 - PREFER_RECOMPUTE File: model.py:9 in f, code: "
    "x\n"
    "        full: \"f32[2, 8][8, 1]cpu\" = torch.ops.aten.full.default([2, "
    "8], "
    "0, dtype = torch.float32, layout = torch.strided, device = "
    "device(type='cpu'), pin_memory = False)\n"
    "        sym_size_int: \"Sym(s0)\" = torch.ops.aten.sym_size.int(mm, 0)\n"
    "        sub: \"Sym(s0 - 1)\" = sym_size_int - 1\n"
    "        mystery = torch.ops.mylib.mystery.default(mm, [sub, 1])\n"
    "        getitem_2: \"f32[u0, 8]\" = mystery[0]\n"
    "        cat: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.cat.default([mm, full"
    "])\n"
    "        split = torch.ops.aten.split.Tensor(cat, 2)\n"
    "        getitem_3: \"f32[2, 8][8, 1]cpu\" = split[1];  split = None\n"
    "        _tensor_constant0 = self._tensor_constant0\n"
    "        lift: \"i64[]\" = torch.ops.aten.lift_fresh_copy.default("
    "_tensor_constant0)\n"
    "        copy_: \"f32[2, 4]\" = torch.ops.aten.copy_.default(primals_2, "
    "primals_2)\n"
    "        _assert_async = torch.ops.aten._assert_async.msg(lift, 'no')\n"
    "        t_1: \"f32[8, 2][1, 8]cpu\" = torch.ops.aten.permute.default("
    "tangents_1, [1, 0])\n"
    "        mm_1: \"f32[8, 4][4, 1]cpu\" = torch.ops.aten.mm.default(t_1, "
    "primals_2)\n";

} // namespace

TEST(ImportMutation, FxText) {
  std::string text = jointText(
      kBody, "            mm,  # PlainAOTOutput(idx=0)\n"
             "            mm_1,  # GradAOTOutput(grad_of="
             "ParamAOTInput(target='fc.weight'))\n            None,  # None\n");
  Imported in(text);
  ASSERT_TRUE(in.isGood) << in.errors();
  ASSERT_TRUE(in.isValid) << in.errors();
  importMutations(text, 1, 2000);
}

TEST(ImportMutation, RealTexts) {
  importMutations(corpusText("dynamic_llama/joint.txt"), 3, 20);
  importMutations(corpusText("resnet18_2023/joint.txt"), 4, 20);
  importMutations(corpusText("gpt2_selective/joint.txt"), 5, 20);
  importMutations(corpusText("moe/joint.txt"), 6, 20);
}

TEST(ImportMutation, TraceLog) {
  importMutations(corpusText("mlp/trace.log"), 2, 300);
}

TEST(ImportMutation, EnormousLinesAndLists) {
  std::string list = "mm";
  for (unsigned i = 0; i < 100000; ++i)
    list += ", mm";
  Imported cat(jointText("        cat: \"f32[200002, 8]\" = "
                         "torch.ops.aten.cat.default([" +
                         list + "])\n"));
  EXPECT_TRUE(cat.isGood) << cat.errors();
  Imported name(jointText("        " + std::string(1 << 20, 'x') + " y\n"));
  EXPECT_FALSE(name.isGood);
  EXPECT_LT(name.errors().size(), 1000u);
  Imported type(jointText("        x: \"" + std::string(1 << 20, '[') +
                          "\" = torch.ops.aten.sin.default(mm)\n"));
  EXPECT_FALSE(type.isGood);
  EXPECT_LT(type.errors().size(), 1000u);
  Imported expression(jointText("        x: \"f32[" +
                                std::string(1 << 16, '(') +
                                "]\" = torch.ops.aten.sin.default(mm)\n"));
  EXPECT_FALSE(expression.isGood);
  Imported blank(std::string(1 << 20, ' '));
  EXPECT_FALSE(blank.isGood);
  Imported open("def forward(self, x: \"f32[2]\"" + std::string(1 << 20, '\n'));
  EXPECT_FALSE(open.isGood);
}
