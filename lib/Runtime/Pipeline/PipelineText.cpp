// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pipeline.json, written and read, in the way of manifest.json: one entry of a
// list a line, members that have their usual value left out, a checksum of all
// text before it at the end, and nothing read that is not written. What the
// numbers have to be is Pipeline::verify()'s.

#include "../ManifestTail.h"
#include "../MemberReader.h"
#include "../MemberText.h"

#include "cutback/Runtime/MappedFile.h"
#include "cutback/Runtime/Pipeline/Pipeline.h"

using namespace cutback;

static constexpr const char *kPhaseNames[] = {"forward", "backward", "input",
                                              "weight",  "norms",    "update"};
static constexpr const char *kMerges[] = {"concatenate", "mean", "sum",
                                          "equal"};

const char *cutback::nameOf(PipelineStage::PhaseKind kind) {
  return kPhaseNames[kind];
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string member(const char *name, const std::string &value) {
  return value.empty() ? "" : std::string(", \"") + name + "\": " + value;
}

static std::string member(const char *name, int64_t value) {
  return value == 0 ? "" : member(name, std::to_string(value));
}

static std::string receiveText(const PipelineReceive &receive) {
  return "{" + MemberText::tensor(receive) +
         ", \"from\": " + std::to_string(receive.from) +
         (receive.hasGradient ? ", \"gradient\": true}" : "}");
}

static std::string sendText(const PipelineSend &send) {
  return "{" + MemberText::tensor(send) +
         ", \"to\": " + MemberText::numbers(send.to) +
         (send.hasGradient ? ", \"gradient\": true}" : "}");
}

static std::string inputText(const PipelineInput &input) {
  return "{" + MemberText::tensor(input) +
         ", \"split\": " + std::to_string(input.splitDim) +
         (input.isWeighted ? ", \"weighted\": true}" : "}");
}

static std::string parameterText(const PipelineParameter &parameter) {
  return "{" + MemberText::tensor(parameter) +
         member("gradient", parameter.gradient.empty()
                                ? ""
                                : quoteJson(parameter.gradient)) +
         (parameter.replicatedIn.empty()
              ? ""
              : member("replicated",
                       MemberText::numbers(parameter.replicatedIn))) +
         (parameter.aliases.empty()
              ? ""
              : member("aliases",
                       MemberText::list(parameter.aliases, quoteJson))) +
         "}";
}

static std::string bufferText(const PipelineBuffer &buffer) {
  return "{" + MemberText::tensor(buffer) +
         (buffer.isWritten ? ", \"written\": true}" : "}");
}

static std::string outputText(const PipelineOutput &output) {
  return "{" + MemberText::tensor(output) + ", \"merge\": \"" +
         kMerges[output.merge] + "\"" + member("dim", output.dim) + "}";
}

static std::string phaseText(int kind, const PipelinePhase &phase) {
  return std::string("{\"phase\": \"") + kPhaseNames[kind] +
         "\", \"folder\": " + quoteJson(phase.folder) +
         member("checksum",
                phase.checksum.empty() ? "" : quoteJson(phase.checksum)) +
         member("picoseconds", phase.picoseconds) +
         member("arena_bytes", phase.arenaBytes) + "}";
}

/// The phases up to number `end`.
static std::string phasesText(const PipelineStage &stage, int end) {
  std::string phases;
  for (int kind = 0; kind < end; ++kind)
    if (stage.phases[kind])
      phases += (phases.empty() ? "\n    " : ",\n    ") +
                phaseText(kind, stage.phases[kind]);
  return "\"phases\": [" + phases + "]";
}

static std::string savesText(const PipelineStage &stage) {
  return ",\n   \"forward_saves\": " +
         MemberText::list(stage.forwardSaves, quoteJson) +
         ",\n   \"forward_saved_bytes\": " +
         std::to_string(stage.forwardSavedBytes) + ",\n   \"input_saves\": " +
         MemberText::list(stage.inputSaves, quoteJson) +
         ",\n   \"input_saved_bytes\": " +
         std::to_string(stage.inputSavedBytes) +
         ",\n   \"throughout_saved_bytes\": " +
         std::to_string(stage.throughoutSavedBytes);
}

/// Tensors of both sizes of a micro-batch, those whose sizes differ.
template <typename List>
static void addOthers(const List &larger, const List &smaller,
                      std::vector<ArtifactTensor> &others) {
  for (size_t i = 0; i < smaller.size(); ++i)
    if (smaller[i].sizes != larger[i].sizes)
      others.push_back(smaller[i]);
}

/// What is other than in `stage`.
static std::string smallerText(const PipelineStage &stage,
                               const PipelineStage &smaller) {
  std::vector<ArtifactTensor> others;
  addOthers(stage.receives, smaller.receives, others);
  addOthers(stage.sends, smaller.sends, others);
  addOthers(stage.inputs, smaller.inputs, others);
  addOthers(stage.outputs, smaller.outputs, others);
  auto text = [](const ArtifactTensor &tensor) {
    return "{" + MemberText::tensor(tensor) + "}";
  };
  return ",\n   \"smaller\": {\"tensors\": " + MemberText::list(others, text) +
         ",\n   " + phasesText(smaller, PipelineStage::Norms) +
         savesText(smaller) + "}";
}

static std::string stageText(const Pipeline &pipeline, size_t number) {
  const PipelineStage &stage = pipeline.stages[number];
  return "{\"name\": " + quoteJson(stage.name) + ",\n   \"receives\": " +
         MemberText::list(stage.receives, receiveText) +
         ",\n   \"sends\": " + MemberText::list(stage.sends, sendText) +
         ",\n   \"inputs\": " + MemberText::list(stage.inputs, inputText) +
         ",\n   \"parameters\": " +
         MemberText::list(stage.parameters, parameterText) +
         ",\n   \"buffers\": " + MemberText::list(stage.buffers, bufferText) +
         ",\n   \"outputs\": " + MemberText::list(stage.outputs, outputText) +
         ",\n   " + phasesText(stage, PipelineStage::kPhases) +
         member("weights",
                stage.weights.empty() ? "" : quoteJson(stage.weights)) +
         savesText(stage) +
         (pipeline.smaller.empty()
              ? ""
              : smallerText(stage, pipeline.smaller[number])) +
         "}";
}

std::string cutback::writePipeline(const Pipeline &pipeline) {
  std::string loss;
  if (pipeline.lossStage >= 0)
    loss = ",\n  \"loss\": {\"stage\": " + std::to_string(pipeline.lossStage) +
           ", \"name\": " + quoteJson(pipeline.loss) + "}";
  std::string text =
      "{\n  \"cutback_pipeline\": " + std::to_string(Pipeline::kVersion) +
      ",\n  \"model\": " + quoteJson(pipeline.model) +
      ",\n  \"target\": " + quoteJson(pipeline.target) + loss +
      (pipeline.parameters.empty()
           ? ""
           : ",\n  \"parameters\": " +
                 MemberText::list(pipeline.parameters, quoteJson)) +
      (pipeline.undecayed.empty()
           ? ""
           : ",\n  \"undecayed\": " +
                 MemberText::list(pipeline.undecayed, quoteJson)) +
      ",\n  \"stages\": " +
      MemberText::list(pipeline.stages, [&](const PipelineStage &stage) {
        return stageText(pipeline, &stage - pipeline.stages.data());
      });
  return text + manifestTail(text);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

class Reader : MemberReader {
public:
  explicit Reader(Pipeline &pipeline) : pipeline(pipeline) {}

  std::string run(JsonValue root) {
    only(root, {"cutback_pipeline", "model", "target", "loss", "parameters",
                "undecayed", "stages", "checksum"});
    pipeline.model = text(root, "model");
    pipeline.target = text(root, "target");
    pipeline.checksum = text(root, "checksum");
    if (JsonValue loss = member(root, "loss", Optional, JsonKind::Object)) {
      only(loss, {"stage", "name"});
      pipeline.lossStage = number(loss, "stage");
      pipeline.loss = text(loss, "name");
    }
    if (root.find("parameters"))
      pipeline.parameters = texts(root, "parameters");
    if (root.find("undecayed"))
      pipeline.undecayed = texts(root, "undecayed");
    for (JsonValue one : list(root, "stages"))
      readStage(one);
    return problem.empty() ? pipeline.verify() : problem;
  }

private:
  void readStage(JsonValue value) {
    only(value, {"name", "receives", "sends", "inputs", "parameters", "buffers",
                 "outputs", "phases", "weights", "forward_saves",
                 "forward_saved_bytes", "input_saves", "input_saved_bytes",
                 "throughout_saved_bytes", "smaller"});
    PipelineStage &stage = pipeline.stages.emplace_back();
    stage.name = text(value, "name");
    for (JsonValue one : list(value, "receives"))
      readReceive(one, stage.receives.emplace_back());
    for (JsonValue one : list(value, "sends"))
      readSend(one, stage.sends.emplace_back());
    for (JsonValue one : list(value, "inputs"))
      readInput(one, stage.inputs.emplace_back());
    for (JsonValue one : list(value, "parameters"))
      readParameter(one, stage.parameters.emplace_back());
    for (JsonValue one : list(value, "buffers"))
      readBuffer(one, stage.buffers.emplace_back());
    for (JsonValue one : list(value, "outputs"))
      readOutput(one, stage.outputs.emplace_back());
    for (JsonValue one : list(value, "phases"))
      readPhase(one, stage);
    stage.weights = text(value, "weights", Optional);
    readSaves(value, stage);
    if (JsonValue smaller =
            member(value, "smaller", Optional, JsonKind::Object))
      readSmaller(smaller, stage);
  }
  void readSaves(JsonValue value, PipelineStage &stage) {
    stage.forwardSaves = texts(value, "forward_saves");
    stage.forwardSavedBytes = number(value, "forward_saved_bytes");
    stage.inputSaves = texts(value, "input_saves");
    stage.inputSavedBytes = number(value, "input_saved_bytes");
    stage.throughoutSavedBytes = number(value, "throughout_saved_bytes", 0);
  }
  void readSmaller(JsonValue value, const PipelineStage &stage) {
    bool wasRight = problem.empty();
    readSizes(value, stage);
    if (wasRight && !problem.empty())
      problem = kUnderSmaller + problem;
  }
  /// What is other than in `stage` for a smaller micro-batch.
  void readSizes(JsonValue value, const PipelineStage &stage) {
    only(value, {"tensors", "phases", "forward_saves", "forward_saved_bytes",
                 "input_saves", "input_saved_bytes", "throughout_saved_bytes"});
    PipelineStage &smaller = pipeline.smaller.emplace_back(stage);
    for (JsonValue one : list(value, "tensors")) {
      only(one, {"name", "dtype", "sizes"});
      ArtifactTensor tensor;
      readTensor(one, tensor);
      if (!resize(smaller.receives, tensor) && !resize(smaller.sends, tensor) &&
          !resize(smaller.inputs, tensor) && !resize(smaller.outputs, tensor))
        refuse("has '" + tensor.name + "' of " + stage.name +
               ", which has none of this name");
    }
    for (int kind = 0; kind < PipelineStage::Norms; ++kind)
      smaller.phases[kind] = PipelinePhase();
    for (JsonValue one : list(value, "phases"))
      readPhase(one, smaller);
    readSaves(value, smaller);
  }
  /// False where there is no tensor of that name.
  template <typename List>
  static bool resize(List &list, const ArtifactTensor &tensor) {
    for (auto &one : list)
      if (one.name == tensor.name) {
        static_cast<ArtifactTensor &>(one) = tensor;
        return true;
      }
    return false;
  }
  void readReceive(JsonValue value, PipelineReceive &receive) {
    only(value, {"name", "dtype", "sizes", "from", "gradient"});
    readTensor(value, receive);
    receive.from = number(value, "from");
    receive.hasGradient = flag(value, "gradient");
  }
  void readSend(JsonValue value, PipelineSend &send) {
    only(value, {"name", "dtype", "sizes", "to", "gradient"});
    readTensor(value, send);
    send.to = numbers(value, "to");
    send.hasGradient = flag(value, "gradient");
  }
  void readInput(JsonValue value, PipelineInput &input) {
    only(value, {"name", "dtype", "sizes", "split", "weighted"});
    readTensor(value, input);
    input.splitDim = number(value, "split");
    input.isWeighted = flag(value, "weighted");
  }
  void readParameter(JsonValue value, PipelineParameter &parameter) {
    only(value,
         {"name", "dtype", "sizes", "gradient", "replicated", "aliases"});
    readTensor(value, parameter);
    parameter.gradient = text(value, "gradient", Optional);
    parameter.replicatedIn = numbers(value, "replicated", Optional);
    if (value.find("aliases"))
      parameter.aliases = texts(value, "aliases");
  }
  void readBuffer(JsonValue value, PipelineBuffer &buffer) {
    only(value, {"name", "dtype", "sizes", "written"});
    readTensor(value, buffer);
    buffer.isWritten = flag(value, "written");
  }
  void readOutput(JsonValue value, PipelineOutput &output) {
    only(value, {"name", "dtype", "sizes", "merge", "dim"});
    readTensor(value, output);
    output.dim = number(value, "dim", 0);
    output.merge =
        static_cast<PipelineOutput::Merge>(wordOf(value, "merge", kMerges));
  }
  void readPhase(JsonValue value, PipelineStage &stage) {
    only(value, {"phase", "folder", "checksum", "picoseconds", "arena_bytes"});
    PipelinePhase &phase = stage.phases[wordOf(value, "phase", kPhaseNames)];
    if (phase)
      refuse("has a phase '" + text(value, "phase") + "' twice");
    phase.folder = text(value, "folder");
    phase.checksum = text(value, "checksum", Optional);
    phase.picoseconds = number(value, "picoseconds", 0);
    phase.arenaBytes = number(value, "arena_bytes", 0);
  }
  /// The number of a member's word in `words`.
  template <size_t Count>
  size_t wordOf(JsonValue value, const char *key,
                const char *const (&words)[Count]) {
    std::string word = text(value, key);
    for (size_t i = 0; i < Count; ++i)
      if (word == words[i])
        return i;
    refuse("has a " + std::string(key) + " '" + word + "', which there is not");
    return 0;
  }

  Pipeline &pipeline;
};

} // namespace

std::string cutback::readPipeline(std::string_view text, Pipeline &pipeline) {
  pipeline = Pipeline();
  JsonDocument document;
  if (auto error = JsonDocument::parse(text, document))
    return "is no JSON: " + error->message;
  std::optional<int64_t> version =
      document.root().find("cutback_pipeline").asInt();
  if (!version)
    return "is no manifest of a pipeline";
  if (*version != Pipeline::kVersion)
    return "has version " + std::to_string(*version) + ", this runtime takes " +
           std::to_string(Pipeline::kVersion);
  if (!hasManifestTail(text))
    return "is not as it was written: its checksum is of another text";
  return Reader(pipeline).run(document.root());
}

bool cutback::readPipelineFolder(const std::string &folder, Pipeline &pipeline,
                                 StepError &error) {
  std::string path = folder + "/" + kPipelineFile;
  MappedFile file;
  std::string what = file.open(path);
  what = what.empty() ? readPipeline(file.bytes(), pipeline)
                      : "cannot be read: " + what;
  if (what.empty())
    return true;
  error = {"'" + path + "' " + what,
           "split the model again: cutback split MODEL -o DIR --stages=N"};
  return false;
}
