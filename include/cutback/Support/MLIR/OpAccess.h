// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asking many ops for little, at the cost of memory rather than of searches.
// A cast to an interface searches the table of the op's kind each time; who
// meets ops of few kinds by the thousand keeps what conceptOf() found. And
// ops in a list are far apart in memory: who knows which come next can have
// them fetched in the meantime.
#ifndef CUTBACK_SUPPORT_MLIR_OPACCESS_H
#define CUTBACK_SUPPORT_MLIR_OPACCESS_H

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>

namespace cutback {

/// What implements `Interface` for ops named as `op`, or null:
/// `Interface(op, found)` is then the cast without a search.
template <typename Interface>
const typename Interface::Concept *conceptOf(mlir::Operation *op) {
  if (!mlir::isa<Interface>(op))
    return nullptr;
  mlir::OperationName name = op->getName();
  if (auto *found = name.getInterface<Interface>())
    return found;
  return name.getDialect()->getRegisteredInterfaceForOp<Interface>(name);
}

/// conceptOf(), kept by the names of ops; of ops without one of `Traits` null.
template <typename Interface, template <typename> class... Traits>
class ConceptTable {
public:
  const typename Interface::Concept *of(mlir::Operation *op) {
    auto [it, isNew] = concepts.try_emplace(op->getName().getAsOpaquePointer());
    if (isNew && (op->hasTrait<Traits>() && ...))
      it->second = conceptOf<Interface>(op);
    return it->second;
  }

private:
  llvm::SmallDenseMap<const void *, const typename Interface::Concept *, 64>
      concepts;
};

/// Begins to fetch an op: its results stand in front of it, its operands
/// behind. Any pointer may be given.
inline void prefetchOp(const mlir::Operation *op) {
  auto address = reinterpret_cast<uintptr_t>(op);
  for (int line = -1; line < 3; ++line)
    __builtin_prefetch(reinterpret_cast<const void *>(address + 64 * line));
}

} // namespace cutback

#endif // CUTBACK_SUPPORT_MLIR_OPACCESS_H
