// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stand-ins for forward values of which a backward op reads the shape only.
#ifndef CUTBACK_LIB_AUTOGRAD_ATEN_PLACEHOLDER_H
#define CUTBACK_LIB_AUTOGRAD_ATEN_PLACEHOLDER_H

#include "Common.h"

namespace cutback::autograd {

/// A tensor of the shape and type of `forward` whose elements nobody reads: an
/// argument of the graph itself, else a zero expanded to its sizes, which
/// takes one element. Null for null.
Value shapeOnly(Vjp &v, Value forward);

/// `forward` if its elements are read, else `shapeOnly`.
inline Value readIf(bool isRead, Vjp &v, Value forward) {
  return isRead ? forward : shapeOnly(v, forward);
}

} // namespace cutback::autograd

#endif // CUTBACK_LIB_AUTOGRAD_ATEN_PLACEHOLDER_H
