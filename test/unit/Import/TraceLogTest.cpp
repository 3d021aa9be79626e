// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trace logs and TORCH_LOGS output: framing, choice of a graph, and what the
// other records say of its inputs.

#include "ImportTestSupport.h"

using namespace cutback;
using namespace cutback::test;

namespace {

std::string record(const std::string &json) {
  return "V1121 06:13:49.082000 1 torch/x/graph_compile.py:1797] " + json +
         "\n";
}

std::string payload(const std::string &text) {
  std::string result;
  llvm::StringRef rest = text;
  while (!rest.empty()) {
    auto [line, next] = rest.split('\n');
    result += "\t" + line.str() + "\n";
    rest = next;
  }
  return result;
}

const char *const kIds =
    ", \"frame_id\": 2, \"frame_compile_id\": 1, \"attempt\": 0";

/// A graph record of compile id 2/1.
std::string graph(const std::string &name, const std::string &text) {
  return record("{\"" + name + "\": {}" + kIds +
                ", \"has_payload\": \"d41d8cd98f00b204e9800998ecf8427e\"}") +
         payload(text);
}

/// The records that describe the inputs of jointText. Its first input is the
/// graph's second.
std::string descriptions() {
  return record(std::string("{\"describe_tensor\": {\"id\": 0, \"ndim\": 2, "
                            "\"size\": [8, 4], \"is_parameter\": true, "
                            "\"describer_id\": 0}") +
                kIds + "}") +
         record(std::string("{\"describe_source\": {\"describer_id\": 0, "
                            "\"id\": 0, \"source\": \"L['self']._modules['net']"
                            "._modules['0']._parameters['weight']\"}") +
                kIds + "}") +
         record(std::string("{\"describe_source\": {\"describer_id\": 0, "
                            "\"id\": 1, \"source\": \"L['x']\"}") +
                kIds + "}") +
         record(std::string("{\"describe_source\": {\"describer_id\": 0, "
                            "\"id\": 2, \"source\": \"L['self']._buffers"
                            "['mean']\"}") +
                kIds + "}");
}

std::string dynamo(const std::string &parameters) {
  return graph("dynamo_output_graph",
               "class GraphModule(torch.nn.Module):\n    def forward(self, " +
                   parameters + "):\n        return ()\n");
}

/// Two inputs and a tangent, sizes symbolic.
std::string smallGraph() {
  return "class inner_f(torch.nn.Module):\n    def forward(\n        self,\n"
         "        primals,\n        tangents,\n    ):\n"
         "        primals_1: \"f32[s1, 4][4, 1]cpu\"  # PlainAOTInput(idx=0)\n"
         "        primals_2: \"f32[8, 4][4, 1]cpu\"  # PlainAOTInput(idx=1)\n"
         "        primals_3: \"f32[4][1]cpu\"  # PlainAOTInput(idx=2)\n"
         "        tangents_1: \"f32[s1, 4][4, 1]cpu\"  # "
         "TangentAOTInput(output=PlainAOTOutput(idx=0))\n"
         "        primals_1, primals_2, primals_3, tangents_1, = "
         "fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)\n"
         "        sin: \"f32[s1, 4][4, 1]cpu\" = "
         "torch.ops.aten.sin.default(primals_1)\n"
         "        return pytree.tree_unflatten([\n"
         "            sin,  # PlainAOTOutput(idx=0)\n"
         "            tangents_1,  # GradAOTOutput(grad_of=PlainAOTInput("
         "idx=0))\n            None,  # None\n            None,  # None\n"
         "        ], self._out_spec)\n";
}

const char *const kParameters =
    "L_x_: \"f32[s1, 4][4, 1]cpu\", "
    "L_self_modules_net_modules_0_parameters_weight_: \"f32[8, 4][4, 1]cpu\", "
    "L_self_buffers_mean_: \"f32[4][1]cpu\"";

} // namespace

TEST(TraceLog, NamesInputsByWhatDynamoDescribed) {
  Imported in(descriptions() + dynamo(kParameters) +
              record(std::string("{\"create_symbol\": {\"symbol\": \"s1\", "
                                 "\"val\": \"24\", \"vr\": \"[2, int_oo]\", "
                                 "\"source\": \"L['x'].size()[0]\"}") +
                     kIds + "}") +
              graph("aot_joint_graph", smallGraph()));
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid) << in.errors();
  EXPECT_EQ(in.module.format, InputFormat::TraceLog);
  EXPECT_EQ(in.module.info.name, "aot_joint_graph 2/1");
  EXPECT_EQ(in.module.info.compileId, "2/1");
  std::string ir = in.ir();
  EXPECT_TRUE(has(ir, "@joint_2_1("));
  EXPECT_TRUE(has(ir, "#joint.role<input \"x\">"));
  EXPECT_TRUE(has(ir, "#joint.role<param \"net.0.weight\">"));
  EXPECT_TRUE(has(ir, "#joint.role<buffer \"mean\">"));
  EXPECT_TRUE(has(ir, "s1 = #joint.symbol<hint = 24, min = 2>"));
}

TEST(TraceLog, GivesNoNamesThatTheLogDoesNotProve) {
  // Another type for input 1: Dynamo's graph is not the one of this compile.
  Imported other(descriptions() +
                 dynamo("L_x_: \"f32[s1, 4]\", "
                        "L_self_modules_net_modules_0_parameters_weight_: "
                        "\"f32[8, 5]\", L_self_buffers_mean_: \"f32[4]\"") +
                 graph("aot_joint_graph", smallGraph()));
  ASSERT_TRUE(other.isGood) << other.errors();
  EXPECT_FALSE(has(other.ir(), "net.0.weight"));
  // Fewer inputs than the graph has.
  Imported fewer(descriptions() + dynamo("L_x_: \"f32[s1, 4]\"") +
                 graph("aot_joint_graph", smallGraph()));
  ASSERT_TRUE(fewer.isGood) << fewer.errors();
  EXPECT_FALSE(has(fewer.ir(), "#joint.role<input \"x\">"));
  // Two sources that Dynamo would call the same.
  Imported twice(descriptions() +
                 record(std::string("{\"describe_source\": {\"describer_id\": "
                                    "0, \"id\": 9, \"source\": \"L['x_']\"}") +
                        kIds + "}") +
                 dynamo(kParameters) + graph("aot_joint_graph", smallGraph()));
  ASSERT_TRUE(twice.isGood) << twice.errors();
  EXPECT_FALSE(has(twice.ir(), "#joint.role<input \"x\">"));
  EXPECT_TRUE(has(twice.ir(), "#joint.role<param \"net.0.weight\">"));
}

TEST(TraceLog, ListsAndChoosesGraphs) {
  std::string other = record("{\"aot_joint_graph\": {}, \"frame_id\": 3, "
                             "\"frame_compile_id\": 0, \"attempt\": 2, "
                             "\"compiled_autograd_id\": 1, "
                             "\"has_payload\": \"x\"}") +
                      payload(jointText(""));
  std::string log = "a line of another program\n" +
                    graph("aot_inference_graph",
                          "class G(torch.nn.Module):\n    def forward(self, "
                          "arg0_1: \"f32[2]\"):\n        return (arg0_1,)\n") +
                    graph("aot_joint_graph", smallGraph()) + other;
  mlir::MLIRContext context;
  auto list = listGraphs(llvm::MemoryBufferRef(log, "log"), context);
  ASSERT_TRUE(succeeded(list));
  ASSERT_EQ(list->size(), 3u);
  EXPECT_EQ((*list)[0].name, "aot_inference_graph 2/1");
  EXPECT_EQ((*list)[0].kind, GraphKind::Inference);
  EXPECT_EQ((*list)[0].line, 3u);
  EXPECT_EQ((*list)[2].name, "aot_joint_graph !1/3/0_2");
  EXPECT_EQ((*list)[2].bytes, payload(jointText("")).size());

  auto chosen = [&](const char *name) {
    ImportOptions options;
    options.graph = name;
    Imported in(log, options);
    return in.isGood ? in.module.info.name : in.errors();
  };
  EXPECT_EQ(chosen(""), "aot_joint_graph 2/1");
  EXPECT_EQ(chosen("0"), "aot_inference_graph 2/1");
  EXPECT_EQ(chosen("2"), "aot_joint_graph !1/3/0_2");
  EXPECT_EQ(chosen("aot_joint_graph 2/1"), "aot_joint_graph 2/1");
  EXPECT_EQ(chosen("aot_inference_graph"), "aot_inference_graph 2/1");
  EXPECT_EQ(chosen("!1/3/0_2"), "aot_joint_graph !1/3/0_2");
  EXPECT_TRUE(has(chosen("aot_joint_graph"),
                  "there are several graphs 'aot_joint_graph' | the graphs are "
                  "0: aot_inference_graph 2/1, 1: aot_joint_graph 2/1"));
  EXPECT_TRUE(has(chosen("nothing"), "there is no graph 'nothing'"));
  EXPECT_TRUE(has(chosen("7"), "there is no graph '7'"));
}

TEST(TraceLog, ErrorsNameThePlaceInTheLog) {
  Imported in("first line\n" +
              graph("aot_joint_graph", jointText("        x = mm\n")));
  EXPECT_FALSE(in.isGood);
  EXPECT_TRUE(has(in.errors(), "16:14: expected a call or an operation"));
}

TEST(TraceLog, SaysWhenThereIsNoGraph) {
  Imported in(descriptions() + "V1121 06:13:49.082000 1 x.py:1] {\"broken");
  EXPECT_FALSE(in.isGood);
  EXPECT_TRUE(has(in.errors(),
                  "1:1: this log holds no graph of AOTAutograd | "
                  "a training step writes one when it runs under "
                  "torch.compile with TORCH_TRACE=DIR; caches must be off "
                  "(TORCHINDUCTOR_FORCE_DISABLE_CACHES=1)"));
}

TEST(TraceLog, ReadsPyTorchsOwnHalves) {
  ImportOptions options;
  options.torchHalves = true;
  Imported in(corpusText("mlp/trace.log"), options);
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(in.isValid) << in.errors();
  ASSERT_TRUE(in.module.torchForward && in.module.torchBackward);
  EXPECT_TRUE(has(in.ir(), "#joint.role<param \"fc1.weight\">"));
  std::string halves = Imported::print(*in.module.torchModule);
  EXPECT_TRUE(has(halves, "func.func @forward_0_0("));
  EXPECT_TRUE(has(halves, "func.func @backward_0_0("));
  EXPECT_TRUE(has(halves, "joint.num_forward_results = 1"));
  EXPECT_TRUE(has(halves, "joint.gradient_of = array<i32: 0, 1, 3, 4, 5, 6>"));
  EXPECT_TRUE(has(halves, "#joint.role<param \"fc1.weight\">"));
}

TEST(TraceLog, AHalfThatDoesNotReadIsAWarning) {
  ImportOptions options;
  options.torchHalves = true;
  Imported in(graph("aot_joint_graph", smallGraph()) +
                  graph("aot_forward_graph", "def forward(self, x):\n  y = 1") +
                  graph("aot_backward_graph", smallGraph()),
              options);
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_FALSE(in.module.torchForward);
  EXPECT_TRUE(has(in.errors(), "PyTorch's own partition is not read: "));
}

TEST(TraceLog, ReadsWhatTorchLogsPrints) {
  std::string prefix =
      "[rank0]:V0814 12:34:56.789000 1 torch/a.py:12] [0/0] [__aot_graphs] ";
  std::string text =
      prefix + "TRACED GRAPH\n" + prefix + " ===== Joint graph 3 =====\n";
  llvm::StringRef rest =
      R"( <eval_with_key>.8 class joint_helper(torch.nn.Module):
    def forward(self, primals, tangents):
        primals_1: "f32[4][1]cpu"; tangents_1: "f32[4][1]cpu";

        primals_1, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)
         # File: /a/b.py:6 in f, code: return x
        sin: "f32[4][1]cpu" = torch.ops.aten.sin.default(primals_1);  primals_1 = None
        return pytree.tree_unflatten([sin, tangents_1], self._out_spec)
)";
  while (!rest.empty()) {
    auto [line, next] = rest.split('\n');
    std::string coloured = line.str();
    for (size_t at = 0; (at = coloured.find("f32", at)) != std::string::npos;
         at += 12)
      coloured.replace(at, 3, "\x1b[31mf32\x1b[0m");
    text += prefix + coloured + "\n";
    rest = next;
  }
  text += prefix + " ===== Backward graph 3 =====\n" + prefix +
          " <eval_with_key>.9 class GraphModule(torch.nn.Module):\n" + prefix +
          "    def forward(self, tangents_1: \"f32[4]\"):\n" + prefix +
          "        return [tangents_1]\n";
  Imported in(text);
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_EQ(in.module.format, InputFormat::FxText);
  EXPECT_EQ(in.module.info.name, "joint 3");
  EXPECT_EQ(in.module.info.line, 3u);
  EXPECT_TRUE(has(in.ir(), "%sin = aten.sin(%primals_1)"));

  ImportOptions options;
  options.graph = "backward";
  Imported backward(text, options);
  ASSERT_TRUE(backward.isGood) << backward.errors();
  EXPECT_EQ(backward.module.info.kind, GraphKind::Backward);

  std::string wrong = text;
  wrong.replace(wrong.find("sin.default"), 3, "mm");
  options.strict = true;
  options.graph.clear();
  EXPECT_FALSE(Imported(wrong, options).isGood);
  EXPECT_TRUE(has(Imported(wrong, options).errors(), "9:"))
      << "the line of the log";
}

TEST(TraceLog, CorpusLogsNameTheirParameters) {
  Imported in(corpusText("gpt2_checkpointed/trace.log"));
  ASSERT_TRUE(in.isGood) << in.errors();
  EXPECT_TRUE(has(in.ir(), "#joint.role<param \"blocks.0.attn.qkv.weight\">"));
  EXPECT_TRUE(has(in.ir(), "#joint.role<input \"idx\">"));
  Imported dynamic(corpusText("dynamic_llama/trace.log"));
  ASSERT_TRUE(dynamic.isGood) << dynamic.errors();
  EXPECT_TRUE(has(dynamic.ir(), "s95 = #joint.symbol<hint = 3, min = 2, max = "
                                "64>"));
  EXPECT_TRUE(has(dynamic.ir(), "#joint.role<size>"));
  EXPECT_TRUE(has(dynamic.ir(), "#joint.role<param \"layers.1.down.weight\">"));
}
