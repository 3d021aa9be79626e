// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A profiler that asks for ranges as NVIDIA's do (NVTX_INJECTION64_PATH): a
// line on standard error for each, indented by those around it. It takes the
// place of two functions of the core module, by their numbers, and checks what
// it is offered as the real ones do: the sizes of tables, and that there is
// room for all functions of the module.

#include "StandIn.h"

#include <cstdint>

namespace {

using Function = void (*)();

int depth = 0;

int push(const char *text) {
  std::fprintf(stderr, "range: %*s%s\n", 2 * depth, "", text);
  return depth++;
}
int pop() {
  if (depth == 0)
    refuse("a range ends that did not begin");
  return --depth;
}

struct Callbacks {
  size_t bytes;
  int (*find)(int module, Function ***table, unsigned *size);
};

} // namespace

extern "C" int InitializeInjectionNvtx2(const void *(*find)(uint32_t)) {
  auto *callbacks = static_cast<const Callbacks *>(find(1));
  Function **table = nullptr;
  unsigned size = 0;
  if (!callbacks || callbacks->bytes != sizeof(Callbacks) || !find(3) ||
      find(2) || callbacks->find(5, &table, &size) != 0)
    refuse("tables of ranges are not those of NVTX 3");
  if (callbacks->find(1, &table, &size) != 1 || size != 16 || table[0])
    refuse("the core module of ranges is another one");
  for (unsigned i = 1; i < size; ++i)
    if (!table[i])
      refuse("the core module of ranges has no room for a function");
  *table[9] = reinterpret_cast<Function>(push);
  *table[11] = reinterpret_cast<Function>(pop);
  return 1;
}
