// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Special functions of a number and a parameter, and conjugates and angles:
// those of SpecialFunctions.h, elementwise. The degree of a polygamma is one
// number for all elements, the other parameters are tensors that broadcast
// against the operand. Integers become doubles; conjugates of real numbers,
// integers too, are the numbers.

#include "Kernels.h"
#include "Pointwise.h"
#include "SpecialFunctions.h"
#include "Values.h"

#include <cmath>

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

template <double (*function)(double, double)>
static LogicalResult ofTwo(const KernelCall &call) {
  return Elementwise(call, {"self", "other"}).real<2>(function);
}

static LogicalResult derivativeOfDigamma(const KernelCall &call) {
  auto n = static_cast<double>(call.integer("n"));
  if (n < 0)
    return call.error("runs for n from 0 on");
  return Elementwise(call, {"self"}).real<1>([=](double x) {
    return polygamma(n, x);
  });
}

static LogicalResult angle(const KernelCall &call) {
  Elementwise loop(call, {"self"});
  if (loop.domain() == Domain::Complex)
    return loop.in<Complex, 1>([](Complex x) { return std::arg(x); });
  return loop.real<1>([](double x) {
    return std::isnan(x) ? x : x < 0 ? 3.14159265358979323846 : 0.0;
  });
}

static LogicalResult conjugate(const KernelCall &call) {
  Elementwise loop(call, {"self"});
  if (loop.domain() == Domain::Complex)
    return loop.in<Complex, 1>([](Complex x) { return std::conj(x); });
  return loop.ordered<1>([](auto x) { return x; });
}

const KernelFn kernels::specialZeta = ofTwo<::hurwitzZeta>;
const KernelFn kernels::igamma = ofTwo<::gammaBelow>;
const KernelFn kernels::igammac = ofTwo<::gammaAbove>;
const KernelFn kernels::derivativeOfDigamma = ::derivativeOfDigamma;
const KernelFn kernels::angle = ::angle;
const KernelFn kernels::conjugate = ::conjugate;
