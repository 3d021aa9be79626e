// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the graph as identifiers of CUDA C++. What is no letter, digit or
// underscore becomes one; a word of the language, and a name that the text of
// kernels or a header has for itself, gets one behind it; of two that are then
// alike the second gets a number. So a reader finds a value under its name, and
// two compilations of one graph write the same.
//
// A value hides a function of its name where the text calls it: what text calls
// today is only a part of <cmath>, so all of it is reserved. Types of CUDA and
// macros are recognized by their form.

#include "Identifiers.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace cutback;

static llvm::StringSet<> namesIn(StringRef text) {
  SmallVector<StringRef> names;
  text.split(names, ' ');
  llvm::StringSet<> set;
  for (StringRef name : names)
    set.insert(name);
  return set;
}

static bool isWord(StringRef name) {
  static const llvm::StringSet<> words = namesIn(
      "alignas alignof and and_eq asm auto bitand bitor bool break case catch "
      "char char8_t char16_t char32_t class compl concept const consteval "
      "constexpr constinit const_cast continue co_await co_return co_yield "
      "decltype default delete do double dynamic_cast else enum explicit "
      "export extern false float for friend goto if inline int long mutable "
      "namespace new noexcept not not_eq nullptr operator or or_eq private "
      "protected public register reinterpret_cast requires restrict return "
      "short signed sizeof static static_assert static_cast struct switch "
      "template this thread_local throw true try typedef typeid typename "
      "typeof union unsigned using virtual void volatile wchar_t while xor "
      "xor_eq");
  return words.contains(name);
}

/// Of <cmath> and <cstdlib>, without the letter of another type (sinf, sinl).
static bool isLibraryFunction(StringRef name) {
  static const llvm::StringSet<> functions = namesIn(
      "abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh "
      "cospi cyl_bessel_i0 cyl_bessel_i1 drem erf erfc erfcinv erfcx erfinv "
      "exp exp10 exp2 expm1 fabs fdim fdivide finite floor fma fmax fmin fmod "
      "fpclassify frexp gamma hypot ilogb isfinite isgreater isgreaterequal "
      "isinf isless islessequal islessgreater isnan isnormal isunordered j0 "
      "j1 jn labs ldexp lgamma llabs llrint llround log log10 log1p log2 logb "
      "lrint lround max min modf nan nearbyint nextafter nexttoward norm3d "
      "norm4d normcdf normcdfinv pow pow10 rcbrt remainder remquo rhypot rint "
      "rnorm rnorm3d rnorm4d round roundeven rsqrt scalb scalbln scalbn "
      "signbit significand sin sincos sincospi sinh sinpi sqrt std tan tanh "
      "tanpi tgamma trunc y0 y1 yn");
  return functions.contains(name) ||
         ((name.ends_with("f") || name.ends_with("l")) &&
          functions.contains(name.drop_back()));
}

/// Of the kernels' own text, and what it calls (Device/).
static bool isOfTheText(StringRef name) {
  static const llvm::StringSet<> names = namesIn(
      "absolute all1 all2 all4 asNew assert at attend attendBiasGradient "
      "bagOf bf16 block blockDim blockIdx checked clamped column "
      "coveringWindow coveringWindowsOver divide e element errno f16 fold4 "
      "gridDim half isInside k lane lengthOf load2 load4 logGamma lookedUp "
      "nv_bfloat16 paddedLength power problem randomOrder randomPlaces "
      "randomPoisson randomUniform rankTrue rootOf row slidingWindow store2 "
      "store4 streamOfRound threadIdx toBf16 toF16 toFloat toInteger "
      "toNatural warpSize wrapped");
  return names.contains(name);
}

/// "float4", "uint2", "longlong1", "dim3"; "int64_t"; "atomicAdd".
static bool hasFormOfCuda(StringRef name) {
  if (name.ends_with("_t") || name.starts_with("atomic") || name == "dim3")
    return true;
  if (name.empty() || name.back() < '1' || name.back() > '4')
    return false;
  StringRef element = name.drop_back();
  element.consume_front("u");
  return element == "char" || element == "short" || element == "int" ||
         element == "long" || element == "longlong" || element == "float" ||
         element == "double";
}

/// "INFINITY", "M_PI", "__LINE__", "_Complex".
static bool hasFormOfMacro(StringRef name) {
  if (name.starts_with("__") ||
      (name.size() > 1 && name[0] == '_' && llvm::isUpper(name[1])))
    return true;
  bool any = false;
  for (char c : name) {
    if (llvm::isLower(c))
      return false;
    any |= llvm::isUpper(c);
  }
  return any;
}

/// Names that a parameter must not have.
static bool isReserved(StringRef name) {
  return isWord(name) || isLibraryFunction(name) || isOfTheText(name) ||
         hasFormOfCuda(name) || hasFormOfMacro(name);
}

std::string cuda::identifier(StringRef name, llvm::StringSet<> &used) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  if (text.empty() || llvm::isDigit(text[0]))
    text = "x" + text;
  if (isReserved(text))
    text += "_";
  std::string unique = text;
  for (unsigned i = 2; !used.insert(unique).second; ++i)
    unique = text + "_" + std::to_string(i);
  return unique;
}
