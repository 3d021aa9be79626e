// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row's passes take turns at memory and at arithmetic: the first one waits
// for the row, those in between compute on what the cache holds, the last one
// waits for the lines that it writes. So the pass in front of the last one
// fetches those lines, and the next row. A processor's own prefetch does
// neither: it begins anew at each page, and follows loads that miss.

#include "RowPrefetch.h"

#include "cutback/Support/MLIR/TensorBytes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

/// Of rows that go through a pass together: from here on the first cache has
/// too few lines under way for all that is asked of memory.
static constexpr int64_t kLongBytes = 2 << 10;
static constexpr uint32_t kFirstCache = 3,
                          kSecondCache = 2; ///< of llvm.prefetch

void RowPrefetch::add(Value memory, AffineMap map, ValueRange indices,
                      bool isWritten) {
  Access access = scopes.accessOf(map, indices);
  bool isKnown = access.data.empty() && access.rest.empty();
  if (!isKnown || access.ofGroup[inner] != 1 || access.ofGroup[row] == 0)
    return;
  int64_t ahead = isWritten ? 0 : rowsAtOnce * access.ofGroup[row];
  fetched.push_back({memory, map, indices, ahead, isWritten});
}

void RowPrefetch::addLoads(kernel::NestOp nest) {
  for (auto load : nest.getBody().getOps<kernel::LoadOp>())
    if (!load.getMask())
      add(load.getMemory(), load.getMap(), load.getIndices(), false);
}

void RowPrefetch::choose(kernel::NestOp nest, const NestPasses &passes,
                         StreamedStores &streams, unsigned pass) {
  fetched.clear();
  bool isInFront = passes.isStorePass(pass + 1);
  bool isLast = pass + 1 == passes.numPasses && passes.elementStores.empty();
  if (!isInFront && !isLast)
    return;
  if (pass > 0) // the first pass waits for memory itself
    addLoads(nest);
  if (isInFront)
    for (kernel::StoreOp store : passes.elementStores)
      if (!streams.isStreamed(store, inner))
        add(store.getMemory(), store.getMap(), store.getIndices(), true);
}

void RowPrefetch::emit(int64_t count) {
  for (const Fetched &one : fetched) {
    Value first = scopes.indexOf(one.map, one.indices);
    Value memory = scopes.memoryOf(one.memory);
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    int64_t bytes = elementBytes(element), step = kLineBytes / bytes;
    bool isLong = rowsAtOnce * scopes.groups[inner].extent * bytes > kLongBytes;
    for (int64_t at = 0; at < count; at += step) {
      Value index = arith::AddIOp::create(scopes.here(), scopes.loc, first,
                                          scopes.constant(one.ahead + at));
      memref::PrefetchOp::create(scopes.here(), scopes.loc, memory, index,
                                 one.isWritten,
                                 isLong ? kSecondCache : kFirstCache,
                                 /*isDataCache=*/true);
    }
  }
}
