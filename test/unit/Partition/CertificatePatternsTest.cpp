// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Patterns that a compiler has another form for, and what is near one and
// something else.

#include "RewritesFixture.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::test;

namespace {

class CertificatePatternsTest : public RewritesTest {
protected:
  /// Both ways, and only where graphs may have been rewritten.
  void equal(const std::string &a, const std::string &b) {
    EXPECT_TRUE(accepts(a, b)) << a << b;
    EXPECT_TRUE(accepts(b, a)) << a << b;
    EXPECT_FALSE(accepts(a, b, /*isRewritten=*/false)) << a << b;
  }
  void differ(const std::string &a, const std::string &b) {
    EXPECT_FALSE(accepts(a, b)) << a << b;
    EXPECT_FALSE(accepts(b, a)) << a << b;
  }
};

/// "%NAME = aten.CALL : (TYPES) -> TYPE", of f32 where no type is given.
std::string op(const std::string &name, const std::string &call,
               const std::string &from = "4x2xf32",
               const std::string &to = "4x2xf32") {
  std::string types;
  for (size_t at = 0; !from.empty() && at != std::string::npos;) {
    size_t end = from.find(' ', at);
    types += (at ? ", tensor<" : "tensor<") + from.substr(at, end - at) + ">";
    at = end == std::string::npos ? end : end + 1;
  }
  return "%" + name + " = aten." + call + " : (" + types + ") -> tensor<" + to +
         ">\n";
}

std::string full(const std::string &name, const std::string &number,
                 const std::string &sizes = "4, 2",
                 const std::string &type = "4x2xf32") {
  return op(name,
            "full([" + sizes + "], " + number + ", dtype = " +
                type.substr(type.rfind('x') + 1) + ", device = \"cpu\")",
            "", type);
}

const std::string kSin = op("a", "sin(%x)"), kTwo = "4x2xf32 4x2xf32";
const std::string kResult = op("r", "cos(%a)");

TEST_F(CertificatePatternsTest, WhatChangesNothingIsNotThere) {
  std::string itself = kSin + kResult;
  for (const std::string &more :
       {op("b", "clone(%a)"), op("b", "prims.convert_element_type(%a, f32)"),
        full("c", "1.0") + op("b", "mul.Tensor(%a, %c)", kTwo),
        full("c", "1") + op("b", "mul.Tensor(%c, %a)", kTwo),
        full("c", "0") + op("b", "add.Tensor(%a, %c)", kTwo),
        full("c", "0") + op("b", "sub.Tensor(%a, %c)", kTwo),
        full("c", "1") + op("b", "div.Tensor(%a, %c)", kTwo),
        op("b", "mul.Tensor(%a, 1)"),
        op("c", "neg(%a)") + op("b", "copy(%c, %a)", kTwo)})
    equal(kSin + more + op("r", "cos(%b)"), itself);
}

TEST_F(CertificatePatternsTest, WhatChangesSomethingIsThere) {
  std::string itself = kSin + kResult;
  for (const std::string &more :
       {full("c", "-1.0") + op("b", "mul.Tensor(%a, %c)", kTwo),
        full("c", "1") + op("b", "add.Tensor(%a, %c)", kTwo),
        full("c", "0") + op("b", "sub.Tensor(%c, %a)", kTwo),
        full("c", "1") + op("b", "div.Tensor(%c, %a)", kTwo),
        full("c", "0") + op("b", "mul.Tensor(%a, %c)", kTwo),
        op("b", "mul.Tensor(%a, -1)"),
        op("c", "neg(%a)") + op("b", "copy(%a, %c)", kTwo)})
    differ(kSin + more + op("r", "cos(%b)"), itself);
}

TEST_F(CertificatePatternsTest, ACastByWayOfAWiderTypeIsOne) {
  std::string cast = "prims.convert_element_type";
  std::string wide = op("b", cast + "(%a, f64)", "4x2xf32", "4x2xf64");
  std::string half = op("b", cast + "(%a, bf16)", "4x2xf32", "4x2xbf16");
  std::string back =
      op("c", cast + "(%b, f32)", "4x2xf64") + op("r", "cos(%c)");
  equal(kSin + wide + back, kSin + kResult);
  // A narrower one rounds.
  differ(kSin + half + op("c", cast + "(%b, f32)", "4x2xbf16") +
             op("r", "cos(%c)"),
         kSin + kResult);
  // f16 has not all numbers of bf16, nor the other way.
  std::string other = op("c", cast + "(%b, f16)", "4x2xbf16", "4x2xf16");
  std::string end = op("d", cast + "(%c, f32)", "4x2xf16") + op("r", "cos(%d)");
  differ(kSin + half + other + end,
         kSin + op("c", cast + "(%a, f16)", "4x2xf32", "4x2xf16") + end);
}

TEST_F(CertificatePatternsTest, AChoiceThatIsTheSameEverywhereIsNone) {
  std::string three = "4x2xi1 4x2xf32 4x2xf32";
  for (bool first : {true, false}) {
    std::string where = full("c", first ? "true" : "false", "4, 2", "4x2xi1") +
                        op("b", "neg(%a)") +
                        op("d", "where.self(%c, %a, %b)", three) +
                        op("r", "cos(%d)");
    std::string one = kSin + kResult,
                two = kSin + op("b", "neg(%a)") + op("r", "cos(%b)");
    equal(kSin + where, first ? one : two);
    differ(kSin + where, first ? two : one);
  }
}

/// -1 at an index of each line, as a scattered number or as a choice.
struct Lines {
  std::string dim = "1", number = "-1.0", behind = "0", index = "%i",
              sizes = "1, 2", start = "0";

  std::string head() const {
    return op("f", "floor(%x)") +
           op("j", "prims.convert_element_type(%f, i64)", "4x2xf32",
              "4x2xi64") +
           op("i", "slice.Tensor(%j, 1, 0, 1)", "4x2xi64", "4x1xi64") +
           op("k", "slice.Tensor(%j, 1, 1, 2)", "4x2xi64", "4x1xi64");
  }
  std::string scatter() const {
    return head() + full("z", behind) +
           op("r",
              "scatter.value(%z, " + dim + ", " + index + ", " + number + ")",
              "4x2xf32 4x1xi64");
  }
  std::string choice() const {
    return head() +
           op("n",
              "prims.iota(2, start = " + start +
                  ", step = 1, dtype = i64, device = \"cpu\", "
                  "requires_grad = false)",
              "", "2xi64") +
           op("v", "view(%n, [" + sizes + "])", "2xi64", "1x2xi64") +
           op("e", "expand(" + index + ", [4, 2])", "4x1xi64", "4x2xi64") +
           op("q", "eq.Tensor(%e, %v)", "4x2xi64 1x2xi64", "4x2xi1") +
           op("s",
              "scalar_tensor(" + number + ", dtype = f32, device = \"cpu\")",
              "", "f32") +
           op("o",
              "scalar_tensor(" + behind + ", dtype = f32, device = \"cpu\")",
              "", "f32") +
           op("r", "where.self(%q, %s, %o)", "4x2xi1 f32 f32");
  }
};

TEST_F(CertificatePatternsTest, ANumberALineIsScatteredOrChosen) {
  equal(Lines().scatter(), Lines().choice());
  Lines other;
  other.number = "-2.0";
  differ(Lines().scatter(), other.choice());
  other = Lines();
  other.behind = "1";
  differ(Lines().scatter(), other.choice());
  other = Lines();
  other.index = "%k";
  differ(Lines().scatter(), other.choice());
  other = Lines();
  other.start = "1";
  differ(Lines().scatter(), other.choice());
}

std::string seeds(const std::string &count) {
  return op("s", "prims.inductor_seeds(" + count + ", \"cpu\")", "",
            count + "xi64");
}
std::string ofSeed(const std::string &name, const std::string &number,
                   const std::string &mode, const std::string &count = "2") {
  return op(name + "_seed", "prims.inductor_lookup_seed(%s, " + number + ")",
            count + "xi64", "i64") +
         op(name,
            "prims.inductor_random([4, 2], %" + name + "_seed, \"" + mode +
                "\")",
            "i64");
}

TEST_F(CertificatePatternsTest, DrawsAreFunctionsOfSeedsInTheirOrder) {
  std::string draws =
      op("a", "rand([4, 2], dtype = f32, device = \"cpu\")", "") +
      op("b", "randn([4, 2], dtype = f32, device = \"cpu\")", "");
  std::string result = op("r", "sub.Tensor(%a, %b)", kTwo);
  std::string first = ofSeed("a", "0", "rand"),
              second = ofSeed("b", "1", "randn");
  EXPECT_TRUE(accepts(draws + result, seeds("2") + first + second + result));
  EXPECT_TRUE(accepts(draws + result, seeds("2") + second + first + result));
  EXPECT_FALSE(accepts(draws + result, seeds("2") + first + second + result,
                       /*isRewritten=*/false));
  // Another distribution, another seed, the draw itself beside it, twice.
  EXPECT_FALSE(accepts(draws + result,
                       seeds("2") + first + ofSeed("b", "1", "rand") + result));
  EXPECT_FALSE(accepts(draws + result, seeds("2") + ofSeed("a", "1", "rand") +
                                           ofSeed("b", "0", "randn") + result));
  EXPECT_FALSE(
      accepts(draws + result, seeds("3") + ofSeed("a", "0", "rand", "3") +
                                  ofSeed("b", "1", "randn", "3") + result));
  EXPECT_FALSE(accepts(
      op("a", "rand([4, 2], dtype = f32, device = \"cpu\")", "") +
          op("b", "rand([4, 2], dtype = f32, device = \"cpu\")", "") + result,
      seeds("2") + ofSeed("a", "0", "rand") + ofSeed("b", "0", "rand") +
          result));
}

/// exp of `scale` times %a less its largest element, as a choice between that
/// and `factor` times (`sign` times %a less its largest element along `dim`).
std::string chosen(const std::string &scale, const std::string &sign,
                   const std::string &factor, const std::string &dim = "[1]") {
  auto less = [](const std::string &name, const std::string &of,
                 const std::string &along) {
    return op(name + "_most", "amax(" + of + ", " + along + ", true)",
              "4x2xf32", along == "[1]" ? "4x1xf32" : "1x1xf32") +
           op(name, "sub.Tensor(" + of + ", %" + name + "_most)",
              along == "[1]" ? "4x2xf32 4x1xf32" : "4x2xf32 1x1xf32");
  };
  return kSin + op("p", "mul.Tensor(%a, " + scale + ")") +
         op("n", "mul.Tensor(%a, " + sign + ")") + less("u", "%n", dim) +
         op("w", "mul.Tensor(%u, " + factor + ")") + less("l", "%p", "[1]") +
         op("h", "gt.Scalar(%l_most, 0)", "4x1xf32", "4x1xi1") +
         op("c", "where.self(%h, %w, %l)", "4x1xi1 4x2xf32 4x2xf32") +
         op("r", "exp(%c)");
}

TEST_F(CertificatePatternsTest, TheLargestElementMayBeTakenOffBeforeAScale) {
  auto plain = [](const std::string &scale) {
    return kSin + op("p", "mul.Tensor(%a, " + scale + ")") +
           op("m", "amax(%p, [1], true)", "4x2xf32", "4x1xf32") +
           op("l", "sub.Tensor(%p, %m)", "4x2xf32 4x1xf32") +
           op("r", "exp(%l)");
  };
  EXPECT_TRUE(accepts(plain("0.5"), chosen("0.5", "1", "0.5")));
  EXPECT_EQ(stats.rounded, 1u);
  EXPECT_TRUE(accepts(plain("-0.5"), chosen("-0.5", "-1", "0.5")));
  EXPECT_EQ(stats.rounded, 1u);
  EXPECT_FALSE(accepts(plain("0.5"), chosen("0.5", "1", "0.25")));
  EXPECT_FALSE(accepts(plain("-0.5"), chosen("-0.5", "1", "-0.5")));
  EXPECT_FALSE(accepts(plain("0.5"), chosen("0.25", "1", "0.25")));
  EXPECT_FALSE(accepts(plain("0.5"), chosen("0.5", "1", "0.5", "[0, 1]")));
}

} // namespace
