// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernel formation knows of a graph: which ops have loops, and how each
// read walks the tensor that it reads, views looked through. Made once a graph,
// shared by all plans of it.
#ifndef CUTBACK_KERNELS_KERNELPROBLEM_H
#define CUTBACK_KERNELS_KERNELPROBLEM_H

#include "cutback/Analysis/ValueSizes.h"
#include "cutback/Kernels/IndexMaps.h"
#include "cutback/Kernels/ListedLaunch.h"

namespace cutback {

enum class LoopKind : uint8_t {
  None,        ///< nothing to run: a view, a literal, a size
  Elementwise, ///< an element from elements, or from nothing
  Reduction,   ///< elements along axes combined
  Pick,        ///< one element along an axis, chosen by an index
  Concat,      ///< operands behind each other
  Call,        ///< no loops: a kernel of its own
};

struct KernelProblem {
  static constexpr uint32_t kNoPattern = IndexMaps::kNoPattern;

  /// A read of a tensor by an op.
  struct Read {
    uint32_t op = 0;
    /// The operand; from numValues() on, of a read that only comes after its
    /// root, a number in `sizeSources`.
    uint32_t value = 0;
    uint32_t root = 0; ///< value whose storage is read; no view itself
    /// From the op's loops, the outermost first, to the root's elements.
    IndexMaps::Id map = IndexMaps::kNone;
    /// Of a Pick: from its result's loops; kNone for what it picks from.
    IndexMaps::Id mapOfResult = IndexMaps::kNone;
    int64_t bytes = 0; ///< that it touches
  };

  /// Why what no kernel makes (a size, a number that is made with it) comes
  /// after a tensor that is asked for its size, or a number that a launch
  /// gives.
  struct SizeSource {
    uint32_t value = 0;    ///< whose; of operands of a kernel's op kNone
    uint32_t of = 0;       ///< the tensor or the number
    bool isDirect = false; ///< the op that makes `value` takes it
    /// Sources, with the same `of`, of what that op takes.
    llvm::SmallVector<uint32_t, 2> through = {};
  };

  /// By op.
  std::vector<LoopKind> kind;
  std::vector<uint32_t> pattern;       ///< of reductions and picks
  std::vector<int64_t> iterations;     ///< of the op's loops; 0 without loops
  std::vector<uint8_t> isWrite;        ///< stores into an argument, by loops
  std::vector<uint32_t> firstRead;     ///< op i has reads firstRead[i] …
  std::vector<Read> reads;             ///< … firstRead[i + 1] - 1
  std::vector<SizeSource> sizeSources; ///< after those that they go through
  /// By value.
  std::vector<uint32_t> root;
  std::vector<uint32_t> readerBegin, readerList; ///< by root: its reads
  IndexMaps maps;
  /// Arguments that an op writes, each with the writers in program order.
  std::vector<std::pair<uint32_t, std::vector<uint32_t>>> writes;
  /// By root: index in `writes`, or kNone.
  std::vector<uint32_t> writeOf;

  /// Calls of graphs, ascending, each with its price on the device (see
  /// priceNested); of a call that is not there the price is that of one op.
  std::vector<NestedCall> nested;

  /// Null if `op` is none of `nested`.
  const NestedCall *nestedOf(uint32_t op) const {
    return nested.empty() ? nullptr : findNested(nested, op);
  }
  llvm::ArrayRef<Read> readsOf(uint32_t op) const {
    return llvm::ArrayRef(reads).slice(firstRead[op],
                                       firstRead[op + 1] - firstRead[op]);
  }
  llvm::ArrayRef<uint32_t> readersOf(uint32_t root) const {
    return llvm::ArrayRef(readerList)
        .slice(readerBegin[root], readerBegin[root + 1] - readerBegin[root]);
  }

  /// By value: 1 where it comes from outside of a segment that `given` comes
  /// to, itself or as a view of what does. (A view may be handed over, and what
  /// it is a view of computed again.) After the values those of `sizeSources`
  /// that end there: who is given a size need not wait for the tensor that it
  /// was asked of. Linear.
  std::vector<uint8_t>
  findGiven(const GraphView &view,
            llvm::ArrayRef<llvm::ArrayRef<uint32_t>> given) const;

  /// Near linear, about a microsecond an op.
  static KernelProblem build(const GraphView &view, const ValueSizes &sizes);
};

} // namespace cutback

#endif // CUTBACK_KERNELS_KERNELPROBLEM_H
