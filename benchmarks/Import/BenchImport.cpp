// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bench-import [--runs=N] [--generate=LAYERS] [FILE...]
//
// Speed of the import in MB/s (10^6 bytes of text a second), with locations:
// the median of N runs (5) after one to warm up, of reading the text that is
// in memory already into a fresh module of one context. Seconds are the
// process's CPU time: the import has one thread, and other programs may run
// beside it. With --generate, a text of that many layers is made and read too.
// One line an input; exit code 1 if one does not import.

#include "cutback/Import/Import.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <ctime>

using namespace cutback;

/// A joint graph of `layers` equal blocks, in today's form of FX text.
static std::string generate(unsigned layers) {
  std::string text = "class inner_f(torch.nn.Module):\n    def forward(\n"
                     "        self,\n        primals,\n        tangents,\n"
                     "    ):\n";
  llvm::raw_string_ostream os(text);
  std::string names;
  for (unsigned i = 1; i <= layers; ++i) {
    os << "        primals_" << i << ": \"f32[512, 512][512, 1]cuda:0\"  # "
       << "ParamAOTInput(target='blocks." << i << ".fc.weight')\n";
    names += "primals_" + std::to_string(i) + ", ";
  }
  os << "        primals_" << layers + 1
     << ": \"f32[4096, 512][512, 1]cuda:0\"  # PlainAOTInput(idx=0)\n"
     << "        tangents_1: \"f32[4096, 512][512, 1]cuda:0\"  # "
     << "TangentAOTInput(output=PlainAOTOutput(idx=0))\n        " << names
     << "primals_" << layers + 1 << ", tangents_1, = "
     << "fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)\n";
  std::string last = "primals_" + std::to_string(layers + 1);
  auto type = [](const char *sizes) {
    return std::string(": \"f32") + sizes + "cuda:0\" = torch.ops.aten.";
  };
  std::string wide = type("[4096, 512][512, 1]");
  for (unsigned i = 1; i <= layers; ++i) {
    os << "        # File: /home/user/project/models.py:" << 100 + i % 50
       << " in forward, code: x = x + torch.tanh(self.fc(x)) * 0.5\n"
       << "        permute_" << i << type("[512, 512][1, 512]")
       << "permute.default(primals_" << i << ", [1, 0])\n        mm_" << i
       << wide << "mm.default(" << last << ", permute_" << i << ");  permute_"
       << i << " = None\n        tanh_" << i << wide << "tanh.default(mm_" << i
       << ");  mm_" << i << " = None\n        mul_" << i << wide
       << "mul.Tensor(tanh_" << i << ", 0.5);  tanh_" << i
       << " = None\n        add_" << i << wide << "add.Tensor(" << last
       << ", mul_" << i << ");  mul_" << i << " = None\n";
    last = "add_" + std::to_string(i);
  }
  os << "        return pytree.tree_unflatten([\n            " << last
     << ",  # PlainAOTOutput(idx=0)\n";
  for (unsigned i = 1; i <= layers; ++i)
    os << "            None,  # None\n";
  os << "            tangents_1,  # GradAOTOutput(grad_of=PlainAOTInput("
     << "idx=0))\n        ], self._out_spec)\n";
  return text;
}

static double cpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static bool measure(llvm::MemoryBufferRef buffer, unsigned runs) {
  mlir::MLIRContext context;
  std::vector<double> seconds;
  uint64_t ops = 0;
  for (unsigned i = 0; i <= runs; ++i) {
    double begin = cpuSeconds();
    auto result = readInput(buffer, context);
    double elapsed = cpuSeconds() - begin;
    if (failed(result))
      return false;
    ops = result->counts.ops;
    if (i > 0)
      seconds.push_back(elapsed);
  }
  std::sort(seconds.begin(), seconds.end());
  double median = seconds[seconds.size() / 2];
  double bytes = buffer.getBufferSize();
  llvm::outs() << llvm::format("%8.1f MB/s  %6.0f ns/op  %8.2f ms  %9llu ops  ",
                               bytes / median * 1e-6, median / ops * 1e9,
                               median * 1e3, (unsigned long long)ops)
               << buffer.getBufferIdentifier() << "\n";
  return true;
}

int main(int argc, char **argv) {
  unsigned runs = 5;
  bool isGood = true;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef arg = argv[i];
    unsigned layers = 0;
    if (arg.consume_front("--runs=")) {
      if (arg.getAsInteger(10, runs) || runs == 0)
        return 2;
    } else if (arg.consume_front("--generate=")) {
      if (arg.getAsInteger(10, layers) || layers == 0)
        return 2;
      std::string text = generate(layers);
      isGood &= measure(llvm::MemoryBufferRef(text, "generated"), runs);
    } else {
      mlir::MLIRContext context;
      auto file = openInput(arg, context);
      isGood &= succeeded(file) && measure((*file)->getMemBufferRef(), runs);
    }
  }
  return isGood ? 0 : 1;
}
