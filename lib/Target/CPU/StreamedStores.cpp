// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A processor reads a line of memory before it writes to it. Of a result that
// no cache holds until it is read, that is a third of the traffic of an
// addition, and it pushes out what caches hold for others. So a strip of such a
// result is computed in memory that the first cache holds, and goes to its
// place by stores of whole lines that pass the caches; what is left of a line
// at either end, which another strip or thread may write too, is stored as
// usual.

#include "StreamedStores.h"

#include "cutback/Support/MLIR/TensorBytes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cpu;

bool StreamedStores::isStreamed(kernel::StoreOp store, size_t inner) {
  // A thread of a device has registers; and each store is tested in its place.
  if (frame.loops != LoopsFor::Processor || frame.tests == AccessTests::OfAll)
    return false;
  Access access = scopes.accessOf(store.getMap(), store.getIndices());
  if (access.ofGroup[inner] != 1 || !access.data.empty() ||
      !access.rest.empty())
    return false;
  int64_t bytes = elementBytes(store.getElement().getType());
  if (bytes > kLineBytes || !llvm::isPowerOf2_64(bytes))
    return false;
  for (auto [group, factor] : llvm::enumerate(access.ofGroup))
    bytes *= factor ? scopes.groups[group].extent : 1;
  return bytes >= frame.streamedBytes;
}

void StreamedStores::choose(ArrayRef<kernel::StoreOp> stores, size_t inner,
                            int64_t capacity) {
  streams.clear();
  scopes.streamOf.clear();
  for (kernel::StoreOp store : stores) {
    if (!isStreamed(store, inner))
      continue;
    auto memory =
        cast<MemRefType>(scopes.memoryOf(store.getMemory()).getType());
    scopes.streamOf[store] = scopes.allocate(memory.getElementType(), capacity);
    streams.push_back(store);
  }
}

void StreamedStores::flush(Value count) {
  for (kernel::StoreOp store : streams)
    copy(store, scopes.streamOf.lookup(store), scopes.constant(0), count);
}

void StreamedStores::copyElements(Value from, Value first, Value to,
                                  Value target, Value begin, Value end) {
  Value i = scopes.enterLoop(begin, end, scopes.constant(1), false);
  auto behind = [&](Value front) -> Value {
    return arith::AddIOp::create(scopes.here(), scopes.loc, front, i);
  };
  Value element =
      memref::LoadOp::create(scopes.here(), scopes.loc, from, behind(first));
  memref::StoreOp::create(scopes.here(), scopes.loc, element, to,
                          behind(target));
  scopes.leaveLoop();
}

void StreamedStores::copy(kernel::StoreOp store, Value memory, Value first,
                          Value count) {
  isUsed = true;
  Location loc = scopes.loc;
  Value to = scopes.memoryOf(store.getMemory());
  Type element = cast<MemRefType>(to.getType()).getElementType();
  int64_t bytes = elementBytes(element), lanes = kLineBytes / bytes;
  Value target = scopes.indexOf(store.getMap(), store.getIndices());
  Formulas f(scopes.here(), loc);
  auto number = [&](int64_t value) { return scopes.constant(value); };
  Value address = f.add(
      memref::ExtractAlignedPointerAsIndexOp::create(scopes.here(), loc, to),
      f.multiply(target, number(bytes)));
  Value front = f.make<arith::ShRUIOp>(
      f.make<arith::AndIOp>(f.subtract(number(0), address),
                            number(kLineBytes - 1)),
      number(llvm::Log2_64(bytes)));
  front = f.make<arith::MinUIOp>(front, count);
  Value rest = f.make<arith::DivUIOp>(f.subtract(count, front), number(lanes));
  Value end = f.add(front, f.multiply(rest, number(lanes)));
  copyElements(memory, first, to, target, number(0), front);
  Value i = scopes.enterLoop(front, end, number(lanes), false);
  Formulas inside(scopes.here(), loc);
  Value line = vector::LoadOp::create(scopes.here(), loc,
                                      VectorType::get({lanes}, element), memory,
                                      inside.add(first, i));
  vector::StoreOp::create(scopes.here(), loc, line, to, inside.add(target, i),
                          /*nontemporal=*/true, llvm::Align(kLineBytes));
  scopes.leaveLoop();
  copyElements(memory, first, to, target, end, count);
}

void StreamedStores::fence() {
  if (isUsed)
    LLVM::FenceOp::create(scopes.here(), scopes.loc,
                          LLVM::AtomicOrdering::seq_cst);
}
