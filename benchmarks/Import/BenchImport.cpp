// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bench-import [--runs=N] [--generate=LAYERS] [--generate-pt2=LAYERS] [FILE...]
//
// Speed of the import in MB/s (10^6 bytes of text a second), with locations:
// the median of N runs (5) after one to warm up, of reading the text that is
// in memory already into a fresh module of one context. Seconds are the
// process's CPU time: the import has one thread, and other programs may run
// beside it. With --generate, a text of that many layers is made and read too;
// with --generate-pt2, a program as torch.export writes it. Of a .pt2, the
// bytes are those of its program (model.json), and a line more says how long
// the JSON alone took. One line an input; exit code 1 if one does not import.

#include "../Usage.h"

#include "cutback/Import/Import.h"
#include "cutback/Support/Json.h"
#include "cutback/Support/Zip.h"

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

/// One node of an exported program, with metadata as a real one has it.
static void addNode(llvm::raw_ostream &os, llvm::StringRef op,
                    llvm::StringRef arguments, llvm::StringRef name) {
  os << "{\"target\": \"torch.ops.aten." << op << "\", \"inputs\": ["
     << arguments << "], \"outputs\": [{\"as_tensor\": {\"name\": \"" << name
     << "\"}}], \"metadata\": {\"stack_trace\": \"File \\\"models.py\\\", line "
     << 100 + name.size() % 7
     << ", in forward\\n    x = x + torch.tanh(self.fc(x)) * 0.5\\n  File "
        "\\\"torch/nn/modules/linear.py\\\", line 134, in forward\", "
        "\"nn_module_stack\": \"L__self__,,models.Net;L__self__blocks_3_fc,"
        "blocks.3.fc,torch.nn.modules.linear.Linear\", \"torch_fn\": "
        "\"linear_1;builtin_function_or_method.linear\"}, "
        "\"is_hop_single_tensor_return\": null, \"name\": \""
     << name << "\"}, ";
}

static std::string tensorArgument(llvm::StringRef param, llvm::StringRef name) {
  return ("{\"name\": \"" + param + "\", \"arg\": {\"as_tensor\": {\"name\": " +
          "\"" + name + "\"}}, \"kind\": 1}")
      .str();
}

static void addMeta(llvm::raw_ostream &os, llvm::StringRef name,
                    unsigned rows) {
  os << "\"" << name << "\": {\"dtype\": 7, \"sizes\": [{\"as_int\": " << rows
     << "}, {\"as_int\": 512}], \"requires_grad\": false, \"device\": "
        "{\"type\": \"cpu\", \"index\": null}, \"strides\": [{\"as_int\": "
        "512}, {\"as_int\": 1}], \"storage_offset\": {\"as_int\": 0}, "
        "\"layout\": 7}, ";
}

/// A forward program of `layers` blocks of four nodes.
static std::string generateProgram(unsigned layers) {
  std::string nodes, tensors, inputs, specs;
  llvm::raw_string_ostream node(nodes), meta(tensors), in(inputs), spec(specs);
  std::string last = "x";
  for (unsigned i = 0; i < layers; ++i) {
    std::string n = std::to_string(i), weight = "p_blocks_" + n + "_fc_weight";
    in << "{\"as_tensor\": {\"name\": \"" << weight << "\"}}, ";
    spec << "{\"parameter\": {\"arg\": {\"name\": \"" << weight
         << "\"}, \"parameter_name\": \"blocks." << n << ".fc.weight\"}}, ";
    addMeta(meta, weight, 512);
    addNode(node, "linear.default",
            tensorArgument("input", last) + ", " +
                tensorArgument("weight", weight),
            "linear_" + n);
    addNode(node, "tanh.default", tensorArgument("self", "linear_" + n),
            "tanh_" + n);
    addNode(node, "mul.Tensor",
            tensorArgument("self", "tanh_" + n) +
                ", {\"name\": \"other\", \"arg\": {\"as_float\": 0.5}, "
                "\"kind\": 1}",
            "mul_" + n);
    addNode(node, "add.Tensor",
            tensorArgument("self", last) + ", " +
                tensorArgument("other", "mul_" + n),
            "add_" + n);
    for (const char *stem : {"linear_", "tanh_", "mul_", "add_"})
      addMeta(meta, stem + n, 4096);
    last = "add_" + n;
  }
  addMeta(meta, "x", 4096);
  return "{\"graph_module\": {\"graph\": {\"inputs\": [" + inputs +
         "{\"as_tensor\": {\"name\": \"x\"}}], \"outputs\": [{\"as_tensor\": "
         "{\"name\": \"" +
         last + "\"}}], \"nodes\": [" + nodes.substr(0, nodes.size() - 2) +
         "], \"tensor_values\": {" + tensors.substr(0, tensors.size() - 2) +
         "}, \"sym_int_values\": {}, \"sym_bool_values\": {}}, \"signature\": "
         "{\"input_specs\": [" +
         specs +
         "{\"user_input\": {\"arg\": {\"as_tensor\": {\"name\": \"x\"}}}}], "
         "\"output_specs\": [{\"user_output\": {\"arg\": {\"as_tensor\": "
         "{\"name\": \"" +
         last +
         "\"}}}}]}}, \"range_constraints\": {}, "
         "\"schema_version\": {\"major\": 8, \"minor\": 20}}";
}

static double cpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

/// The program in `bytes`: of an archive, its models/NAME.json.
static std::string_view programOf(std::string_view bytes) {
  ZipArchive archive;
  if (bytes.substr(0, 2) != "PK" || ZipArchive::read(bytes, archive))
    return bytes;
  for (const ZipEntry &entry : archive.entries())
    if (entry.name.find("models/") != std::string_view::npos)
      return entry.data;
  return bytes;
}

static void measureJson(std::string_view text, unsigned runs) {
  std::vector<double> seconds;
  for (unsigned i = 0; i <= runs; ++i) {
    double begin = cpuSeconds();
    JsonDocument document;
    if (JsonDocument::parse(text, document))
      return;
    if (i > 0)
      seconds.push_back(cpuSeconds() - begin);
  }
  std::sort(seconds.begin(), seconds.end());
  double median = seconds[seconds.size() / 2];
  llvm::outs() << llvm::format(
      "%8.1f MB/s               %8.2f ms  JSON alone\n",
      text.size() / median * 1e-6, median * 1e3);
}

static bool measure(llvm::MemoryBufferRef buffer, unsigned runs) {
  // As the programs do.
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::vector<double> seconds;
  uint64_t ops = 0;
  double bytes = buffer.getBufferSize();
  bool isProgram = false;
  for (unsigned i = 0; i <= runs; ++i) {
    double begin = cpuSeconds();
    auto result = readInput(buffer, context);
    double elapsed = cpuSeconds() - begin;
    if (failed(result))
      return false;
    ops = result->counts.ops;
    if (result->format == InputFormat::Pt2)
      bytes = result->info.bytes;
    isProgram = result->format == InputFormat::Pt2;
    if (i > 0)
      seconds.push_back(elapsed);
  }
  std::sort(seconds.begin(), seconds.end());
  double median = seconds[seconds.size() / 2];
  llvm::outs() << llvm::format("%8.1f MB/s  %6.0f ns/op  %8.2f ms  %9llu ops  ",
                               bytes / median * 1e-6, median / ops * 1e9,
                               median * 1e3, (unsigned long long)ops)
               << buffer.getBufferIdentifier() << "\n";
  llvm::StringRef text = buffer.getBuffer();
  if (isProgram)
    measureJson(programOf({text.data(), text.size()}), runs);
  return true;
}

int main(int argc, char **argv) {
  static constexpr char usage[] =
      "bench-import [--runs=N] [--generate=LAYERS] [--generate-pt2=LAYERS] "
      "[FILE...]\n"
      "MB/s of reading each file, or a generated one, with locations";
  if (std::optional<int> code = bench::checkUsage(argc, argv, usage))
    return *code;
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
    } else if (arg.consume_front("--generate-pt2=")) {
      if (arg.getAsInteger(10, layers) || layers == 0)
        return 2;
      std::string text = generateProgram(layers);
      isGood &= measure(llvm::MemoryBufferRef(text, "generated"), runs);
    } else {
      mlir::MLIRContext context;
      auto file = openInput(arg, context);
      isGood &= succeeded(file) && measure((*file)->getMemBufferRef(), runs);
    }
  }
  return isGood ? 0 : 1;
}
