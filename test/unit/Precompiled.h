// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The precompiled header of the unit tests that speak MLIR: most of them build
// or read graphs, so they parse the same dialects. Nothing may rely on it.
#ifndef CUTBACK_TEST_UNIT_PRECOMPILED_H
#define CUTBACK_TEST_UNIT_PRECOMPILED_H

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Dialect/Kernel/Kernel.h"
#include "cutback/Support/MLIR/Precompiled.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#endif // CUTBACK_TEST_UNIT_PRECOMPILED_H
