// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the graphs of the unpacked reference data. NAME.json belongs to
// NAME/joint.txt of small, plan or bench, or, as SUITE.MODEL_DEVICE.N.M, to a
// file of the corpus. A file that cannot be read is left out with a message.

#include "Pareto.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace cutback;
using namespace cutback::bench;

static std::string findText(const std::string &root, llvm::StringRef name) {
  for (llvm::StringRef part : {"small", "plan", "bench"}) {
    std::string path = (root + "/" + part + "/" + name + "/joint.txt").str();
    if (llvm::sys::fs::exists(path))
      return path;
  }
  auto [suite, rest] = name.split('.');
  auto [model, numbers] = rest.split('.');
  auto [first, second] = numbers.split('.');
  auto [base, device] = model.rsplit('_');
  return (root + "/corpus/sub/" + suite + "/" + base + "_training_" + device +
          "/__compiled_fn_" + first + " Joint graph " + second + ".py")
      .str();
}

static bool readReference(const std::string &path, ParetoCase &which) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return false;
  llvm::Expected<llvm::json::Value> json =
      llvm::json::parse((*buffer)->getBuffer());
  if (!json) {
    llvm::consumeError(json.takeError());
    return false;
  }
  const llvm::json::Object *object = json->getAsObject();
  if (!object)
    return false;
  if (const auto *symbols = object->getObject("symbols"))
    for (const auto &entry : *symbols)
      which.symbols[entry.first] = entry.second.getAsInteger().value_or(0);
  // Where PyTorch recorded no static plan, roles say what is a parameter.
  const auto *rules = object->getObject("rules");
  if (!rules || !rules->getObject("torch-2.13-static"))
    return true;
  which.freeParameters.kind = FreeParameters::List;
  if (const auto *list = object->getArray("static"))
    for (const llvm::json::Value &index : *list)
      which.freeParameters.indices.push_back(index.getAsInteger().value_or(0));
  return true;
}

std::vector<ParetoCase>
cutback::bench::findParetoCases(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(folder + "/partition", code), end;
       it != end && !code; it.increment(code)) {
    llvm::StringRef name = llvm::sys::path::filename(it->path());
    if (name.consume_back(".json") && !name.ends_with(".net"))
      names.push_back(name.str());
  }
  llvm::sort(names);
  std::vector<ParetoCase> cases;
  for (const std::string &name : names) {
    ParetoCase which;
    which.name = name;
    which.text = findText(folder, name);
    if (readReference(folder + "/partition/" + name + ".json", which))
      cases.push_back(std::move(which));
    else
      llvm::errs() << "cannot read the reference of '" << name << "'\n";
  }
  return cases;
}
