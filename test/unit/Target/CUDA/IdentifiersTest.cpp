// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No name of a value is one that the text of a kernel, a header or the language
// has.

#include "Target/CUDA/Identifiers.h"

#include "gtest/gtest.h"

using namespace cutback;

/// What a value of that name is called.
static std::string identifierOf(const std::string &name) {
  llvm::StringSet<> used;
  return cuda::identifier(name, used);
}

TEST(Identifiers, ValuesKeepTheirNames) {
  for (const char *name : {"add_1", "mm", "primals_3", "_log_softmax", "div",
                           "relu", "view", "p_fc1_weight", "getitem_2"})
    EXPECT_EQ(identifierOf(name), name);
  llvm::StringSet<> used;
  EXPECT_EQ(cuda::identifier("a.b", used), "a_b");
  EXPECT_EQ(cuda::identifier("a-b", used), "a_b_2");
}

// Each function of <math.h>, and its forms for float and long double.
TEST(Identifiers, FunctionsOfMathAreNotHidden) {
  for (const char *name :
       {"acos",      "acosh",     "asin",      "asinh",     "atan",
        "atan2",     "atanh",     "cbrt",      "ceil",      "copysign",
        "cos",       "cosh",      "drem",      "erf",       "erfc",
        "exp",       "exp10",     "exp2",      "expm1",     "fabs",
        "fdim",      "finite",    "floor",     "fma",       "fmax",
        "fmin",      "fmod",      "frexp",     "gamma",     "hypot",
        "ilogb",     "j0",        "j1",        "jn",        "ldexp",
        "lgamma",    "llrint",    "llround",   "log",       "log10",
        "log1p",     "log2",      "logb",      "lrint",     "lround",
        "modf",      "nan",       "nearbyint", "nextafter", "nexttoward",
        "pow",       "remainder", "remquo",    "rint",      "round",
        "roundeven", "scalb",     "scalbln",   "scalbn",    "significand",
        "sin",       "sincos",    "sinh",      "sqrt",      "tan",
        "tanh",      "tgamma",    "trunc",     "y0",        "y1",
        "yn",        "rsqrt",     "erfinv",    "erfcinv",   "normcdf"})
    for (const char *type : {"", "f", "l"})
      EXPECT_EQ(identifierOf(std::string(name) + type),
                std::string(name) + type + "_");
  for (const char *name :
       {"fpclassify", "isfinite", "isgreater", "isgreaterequal", "isinf",
        "isless", "islessequal", "islessgreater", "isnan", "isnormal",
        "isunordered", "signbit", "abs", "labs", "min", "max"})
    EXPECT_EQ(identifierOf(name), std::string(name) + "_");
}

TEST(Identifiers, WordsTypesAndMacrosAreNotHidden) {
  for (const char *name :
       {"alignas",     "and",          "bitand",    "bool",     "char32_t",
        "constexpr",   "co_await",     "default",   "explicit", "export",
        "extern",      "false",        "friend",    "mutable",  "noexcept",
        "nullptr",     "or_eq",        "protected", "requires", "static_assert",
        "static_cast", "thread_local", "throw",     "true",     "typedef",
        "typeid",      "using",        "wchar_t",   "xor_eq"})
    EXPECT_EQ(identifierOf(name), std::string(name) + "_");
  for (const char *name :
       {"float4",   "uint2",     "longlong1", "dim3",          "size_t",
        "int64_t",  "uint8_t",   "atomicAdd", "atomicMax",     "half",
        "bf16",     "threadIdx", "blockIdx",  "blockDim",      "gridDim",
        "warpSize", "INFINITY",  "NAN",       "M_PI",          "INT_MAX",
        "NULL",     "I",         "__LINE__",  "__syncthreads", "_Complex",
        "assert",   "errno",     "toFloat",   "rootOf",        "absolute"})
    EXPECT_EQ(identifierOf(name), std::string(name) + "_");
}
