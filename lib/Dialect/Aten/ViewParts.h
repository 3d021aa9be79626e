// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views as functions of a call and of the layout of its base.
#ifndef CUTBACK_LIB_DIALECT_ATEN_VIEWPARTS_H
#define CUTBACK_LIB_DIALECT_ATEN_VIEWPARTS_H

#include "cutback/Analysis/Layouts.h"
#include "cutback/Dialect/Aten/Infer.h"

namespace cutback::aten::views {

/// One view that is asked for.
struct ViewCall {
  mlir::Operation *op;
  const InferCall &call;
  unsigned result;
  const Layout &base;
  llvm::ArrayRef<int64_t> sizes; ///< of the result

  int64_t rank() const { return static_cast<int64_t>(base.sizes.size()); }
};

using MaybeLayout = std::optional<Layout>;
using LayoutFn = MaybeLayout (*)(const ViewCall &);

/// An integer argument; nothing if it is not known.
inline std::optional<int64_t> integerOf(const ViewCall &view, ParamRef param,
                                        int64_t ifNone) {
  if (view.call.isNone(param))
    return ifNone;
  int64_t value = 0;
  if (failed(view.call.integer(param, value)) || value == kUnknown)
    return std::nullopt;
  return value;
}

inline std::optional<int64_t> dimOf(const ViewCall &view, ParamRef param,
                                    int64_t rank) {
  int64_t dim = 0;
  if (failed(view.call.dimension(param, rank, dim)))
    return std::nullopt;
  return dim;
}

inline std::optional<llvm::SmallVector<int64_t>>
integersOf(const ViewCall &view, ParamRef param) {
  llvm::SmallVector<int64_t> values;
  if (failed(view.call.integers(param, values)) ||
      llvm::is_contained(values, kUnknown))
    return std::nullopt;
  return values;
}

// Views of parts of a tensor. Nothing where strides do not allow it or a size
// is not known.
MaybeLayout slice(const ViewCall &view);
MaybeLayout narrow(const ViewCall &view);
MaybeLayout select(const ViewCall &view);
MaybeLayout unbind(const ViewCall &view);
MaybeLayout split(const ViewCall &view);
MaybeLayout piecesOfSizes(const ViewCall &view);
MaybeLayout pieces(const ViewCall &view);
MaybeLayout splitAt(const ViewCall &view);
MaybeLayout diagonal(const ViewCall &view);
MaybeLayout unfold(const ViewCall &view);
MaybeLayout asStrided(const ViewCall &view);

} // namespace cutback::aten::views

#endif // CUTBACK_LIB_DIALECT_ATEN_VIEWPARTS_H
