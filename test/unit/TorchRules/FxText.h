// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A line format for FX views, for tests only. One node a line, in graph order:
//
//   placeholder NAME VALUE BYTES [ATTRIBUTE...]
//   call|getitem|getattr NAME VALUE BYTES [ATTRIBUTE...] TARGET ARGUMENT...
//   output NUMBER-OF-FORWARD-OUTPUTS NAME|None...
//
// VALUE: none tensor tuple symint symbool symfloat. ATTRIBUTE: s=STORAGE:BYTES
// syms=A,B binds=A role=primal|tangent|fwdseed|bwdseed static dest=NAME
// flags=A,B tag=POLICY:REGION. ARGUMENT: %NAME i:INT f:FLOAT b:0|1 t:TEXT, [ ]
// around lists, kw:NAME before a keyword's value. `#` starts a comment.
#ifndef CUTBACK_TEST_UNIT_PARTITION_TORCHRULES_FXTEXT_H
#define CUTBACK_TEST_UNIT_PARTITION_TORCHRULES_FXTEXT_H

#include "cutback/TorchRules/TorchRules.h"

#include <cstdlib>
#include <istream>
#include <map>
#include <sstream>

namespace cutback::fxtext {

class Reader {
public:
  /// The graph, or an empty one and `error`.
  FxGraph read(std::istream &in) {
    std::string line;
    while (std::getline(in, line)) {
      std::istringstream words(line);
      std::string kind;
      if (!(words >> kind) || kind[0] == '#')
        continue;
      if (kind == "output")
        return readOutput(words);
      readNode(kind, words);
    }
    error = "no output line";
    return {};
  }
  std::string error;

private:
  FxGraph readOutput(std::istringstream &words) {
    unsigned forward = 0;
    words >> forward;
    std::vector<FxNodeId> outputs;
    std::string name;
    while (words >> name)
      outputs.push_back(name == "None" ? noFxNode : node(name));
    return builder.finish(std::move(outputs), forward);
  }

  FxNodeId node(const std::string &name) {
    auto it = nodes.find(name);
    if (it != nodes.end())
      return it->second;
    error += "unknown node " + name + "; ";
    return 0;
  }

  void readNode(const std::string &kind, std::istringstream &words) {
    std::string name, value;
    FxNode info;
    words >> name >> value >> info.size;
    info.kind = kind == "placeholder" ? FxKind::Placeholder
                : kind == "getitem"   ? FxKind::GetItem
                : kind == "getattr"   ? FxKind::GetAttr
                                      : FxKind::Call;
    static const std::map<std::string, FxValue> values = {
        {"none", FxValue::None},       {"tensor", FxValue::Tensor},
        {"tuple", FxValue::Tuple},     {"symint", FxValue::SymInt},
        {"symbool", FxValue::SymBool}, {"symfloat", FxValue::SymFloat}};
    info.value = values.at(value);
    std::string word;
    std::vector<std::string> symbols;
    int32_t binds = -1;
    while (words >> word && readAttribute(word, info, symbols, binds))
      word.clear();
    if (!word.empty())
      info.packet = builder.packet(packetOf(word));
    builder.begin(name, info);
    if (!word.empty())
      builder.target(word);
    while (words >> word)
      readArgument(word);
    for (const std::string &symbol : symbols)
      builder.freeSymbol(builder.symbol(symbol));
    builder.bindSymbol(binds);
    nodes[name] = builder.end();
  }

  static std::vector<std::string> split(const std::string &text, char by) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    std::string part;
    while (std::getline(in, part, by))
      parts.push_back(part);
    return parts;
  }

  static uint32_t flagOf(const std::string &name) {
    static const std::map<std::string, uint32_t> flags = {
        {"mutable", fxflag::MutableSchema},
        {"effect", fxflag::Effectful},
        {"sideeffect", fxflag::SideEffect},
        {"assert", fxflag::Assert},
        {"random", fxflag::SeededRandom},
        {"backward", fxflag::TagBackward},
        {"mustforward", fxflag::MustBeForward},
        {"mustbackward", fxflag::MustBeBackward},
        {"collective", fxflag::Collective},
        {"hook", fxflag::BackwardHook},
        {"custom", fxflag::NonBuiltin},
        {"wrapper", fxflag::FunctionalWrapper},
        {"triton", fxflag::FunctionalWrapper | fxflag::TritonWrapper}};
    return flags.at(name);
  }

  static FxPolicy policyOf(const std::string &name) {
    static const std::map<std::string, FxPolicy> policies = {
        {"MUST_SAVE", FxPolicy::MustSave},
        {"PREFER_SAVE", FxPolicy::PreferSave},
        {"MUST_RECOMPUTE", FxPolicy::MustRecompute},
        {"PREFER_RECOMPUTE", FxPolicy::PreferRecompute}};
    return policies.at(name);
  }

  /// False for the first word that is not an attribute, the target.
  bool readAttribute(const std::string &word, FxNode &info,
                     std::vector<std::string> &symbols, int32_t &binds) {
    if (word == "static") {
      info.flags |= fxflag::StaticLifetime;
      return true;
    }
    size_t equals = word.find('=');
    if (equals == std::string::npos)
      return false;
    std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    std::vector<std::string> list = split(value, ',');
    std::vector<std::string> pair = split(value, ':');
    if (key == "s") {
      auto added = storages.try_emplace(pair[0], -1);
      if (added.second)
        added.first->second = builder.storage(std::stoll(pair[1]));
      info.storage = added.first->second;
    } else if (key == "syms") {
      symbols = list;
    } else if (key == "binds") {
      binds = builder.symbol(value);
    } else if (key == "role") {
      info.role = value == "tangent"   ? FxRole::Tangent
                  : value == "fwdseed" ? FxRole::ForwardSeed
                  : value == "bwdseed" ? FxRole::BackwardSeed
                                       : FxRole::Primal;
    } else if (key == "dest") {
      info.destination = node(value);
    } else if (key == "flags") {
      for (const std::string &flag : list)
        info.flags |= flagOf(flag);
    } else if (key == "tag") {
      info.policy = policyOf(pair[0]);
      info.region = std::stoi(pair[1]);
    } else {
      error += "unknown attribute " + key + "; ";
    }
    return true;
  }

  /// "aten.mul.Tensor" is packet "aten.mul"; Python functions have no
  /// overloads.
  static std::string packetOf(const std::string &target) {
    for (const char *space : {"operator.", "math.", "torch.", "builtins."})
      if (target.rfind(space, 0) == 0)
        return target;
    size_t first = target.find('.'), last = target.rfind('.');
    return first == last ? target : target.substr(0, last);
  }

  void readArgument(const std::string &word) {
    std::string text = word.size() > 2 ? word.substr(2) : "";
    if (word == "[")
      builder.argListBegin();
    else if (word == "]")
      builder.argListEnd();
    else if (word[0] == '%')
      builder.argNode(node(word.substr(1)));
    else if (word[0] == '&')
      builder.argClonedNode(node(word.substr(1)));
    else if (word.rfind("kw:", 0) == 0)
      builder.keyword(word.substr(3));
    else if (word[0] == 'i')
      builder.argInt(std::stoll(text));
    else if (word[0] == 'f')
      builder.argFloat(std::strtod(text.c_str(), nullptr));
    else if (word[0] == 'b')
      builder.argBool(text == "1");
    else
      builder.argText(text);
  }

  FxGraphBuilder builder;
  std::map<std::string, FxNodeId> nodes;
  std::map<std::string, int32_t> storages;
};

} // namespace cutback::fxtext

#endif // CUTBACK_TEST_UNIT_PARTITION_TORCHRULES_FXTEXT_H
