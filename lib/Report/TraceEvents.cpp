// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One event a line, so that people and line tools can read a trace as well.
//
// The key of an op of the forward stands in the locations of its backward: the
// sequence number was given when the graph was differentiated. So a trace shows
// which launches of both halves belong together; an op of the forward without a
// gradient has no key, and neither have the ops of a graph that was read with
// its gradients.

#include "TraceEvents.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Replay.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <utility>

using namespace mlir;
using llvm::StringRef;

namespace cutback {

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

StringRef TraceEvents::spell(Track track) {
  return track == Track::Forward ? "forward" : "backward";
}

std::string TraceEvents::utf8(StringRef text) {
  return llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text);
}

void TraceEvents::attribute(llvm::json::OStream &json, StringRef key,
                            StringRef value) {
  json.attribute(key, utf8(value));
}

/// Microseconds, as the format wants them, of whole nanoseconds.
static std::string microseconds(int64_t nanoseconds) {
  std::string out;
  llvm::raw_string_ostream(out)
      << nanoseconds / 1000 << llvm::format(".%03d", int(nanoseconds % 1000));
  return out;
}

static void rawAttribute(llvm::json::OStream &json, StringRef key,
                         int64_t nanoseconds) {
  json.attributeBegin(key);
  json.rawValue(microseconds(nanoseconds));
  json.attributeEnd();
}

void TraceEvents::begin(Fields other) {
  os << "{\"displayTimeUnit\":\"ns\",\"otherData\":";
  {
    llvm::json::OStream json(os);
    json.object([&] { other(json); });
  }
  os << ",\"traceEvents\":[";
}

std::string TraceEvents::end() {
  os << "\n]}\n";
  return std::move(text);
}

void TraceEvents::event(StringRef name, StringRef phase, int track,
                        int64_t nanoseconds, Fields fields) {
  os << (isFirst ? "\n" : ",\n");
  isFirst = false;
  llvm::json::OStream json(os);
  json.object([&] {
    attribute(json, "name", name);
    json.attribute("ph", phase);
    json.attribute("pid", 1);
    json.attribute("tid", track);
    if (phase != "M")
      rawAttribute(json, "ts", nanoseconds);
    fields(json);
  });
}

void TraceEvents::complete(StringRef name, Track track, int64_t begin,
                           int64_t end, bool isRecomputed, Fields arguments) {
  event(name, "X", track, begin, [&](llvm::json::OStream &json) {
    rawAttribute(json, "dur", end - begin);
    json.attribute("cat", isRecomputed ? "recomputed" : spell(track));
    json.attributeObject("args", [&] { arguments(json); });
  });
}

void TraceEvents::nameTracks(StringRef title) {
  auto name = [&](StringRef what, int track, StringRef text) {
    event(what, "M", track, 0, [&](llvm::json::OStream &json) {
      json.attributeObject("args", [&] { attribute(json, "name", text); });
    });
  };
  name("process_name", Track::Memory, ("cutback: " + title).str());
  for (Track track : {Track::Forward, Track::Backward}) {
    name("thread_name", track, spell(track));
    event("thread_sort_index", "M", track, 0, [&](llvm::json::OStream &json) {
      json.attributeObject("args",
                           [&] { json.attribute("sort_index", int(track)); });
    });
  }
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

StepKeys::StepKeys(Operation *root) {
  if (!root)
    return;
  root->walk([&](Operation *op) {
    auto key = BackwardKey::read(op->getLoc());
    if (!key)
      return;
    StringRef of = std::exchange(key->of, "");
    forward.try_emplace(of, *key);
  });
}

std::optional<BackwardKey> StepKeys::find(Operation *op) const {
  if (auto key = BackwardKey::read(op->getLoc()))
    return key;
  if (op->getNumResults() == 0)
    return std::nullopt;
  auto found = forward.find(joint::nameInGraph(op));
  return found == forward.end() ? std::nullopt : std::optional(found->second);
}

void StepKeys::write(llvm::json::OStream &json,
                     ArrayRef<Operation *> ops) const {
  constexpr size_t maxOps = 40;
  std::optional<BackwardKey> last;
  json.attributeArray("ops", [&] {
    for (size_t i = 0; i < ops.size(); ++i) {
      std::optional<BackwardKey> key = find(ops[i]);
      last = key ? key : last;
      if (i >= maxOps)
        continue;
      std::string line = shortOpName(ops[i]);
      if (ops[i]->getNumResults())
        line = "%" + joint::getValueName(ops[i]->getResult(0)).str() + " = " +
               line;
      if (key)
        line += " (" + key->text() + ")";
      json.value(TraceEvents::utf8(line));
    }
    if (ops.size() > maxOps)
      json.value("and " + std::to_string(ops.size() - maxOps) + " more");
  });
  if (!last)
    return;
  json.attribute("number", static_cast<int64_t>(last->number));
  json.attributeArray("region", [&] {
    for (int64_t id : last->region)
      json.value(id);
  });
  if (!last->of.empty())
    TraceEvents::attribute(json, "backward_of", last->of);
}

} // namespace cutback
