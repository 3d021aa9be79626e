// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `--dump-network`: the network that was solved, as JSON, one arc a line so
// that two dumps can be compared with a text tool. The file appears whole or
// not at all.
//
// Vertices of the roofline network are listed by name and arcs go between
// them; PyTorch's network lists nodes, and node i is vertices 2i+2 (in) and
// 2i+3 (out), as in the reference networks. Linear.

#include "Internal.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace cutback;

static void write(llvm::raw_ostream &os, const FlowNetwork &network,
                  llvm::function_ref<std::string(uint32_t)> nodeName,
                  uint32_t numNodes, bool isInOut) {
  os << "{\"" << (isInOut ? "names" : "vertices") << "\": [";
  for (uint32_t node = 0; node < numNodes; ++node)
    os << (node ? ",\n" : "\n") << llvm::json::Value(nodeName(node));
  os << "],\n\"arcs\": [";
  bool first = true;
  for (const FlowArc &arc : network.arcs()) {
    os << (first ? "\n" : ",\n") << "[" << arc.from << ", " << arc.to << ", "
       << arc.capacity << "]";
    first = false;
  }
  os << "]}\n";
}

LogicalResult
cutback::dumpNetwork(joint::GraphOp graph, const PartitionOptions &options,
                     const FlowNetwork &network,
                     llvm::function_ref<std::string(uint32_t)> nodeName,
                     uint32_t numNodes, bool isInOut) {
  if (options.dumpNetwork.empty())
    return success();
  llvm::Error error = llvm::writeToOutput(
      options.dumpNetwork, [&](llvm::raw_ostream &os) -> llvm::Error {
        write(os, network, nodeName, numNodes, isInOut);
        return llvm::Error::success();
      });
  if (!error)
    return success();
  return graph.emitError("cannot write the network to '")
         << options.dumpNetwork << "': " << llvm::toString(std::move(error));
}
