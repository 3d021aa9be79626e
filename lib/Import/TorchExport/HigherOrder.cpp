#include "GraphReader.h"
using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;
LogicalResult GraphReader::readHigherOrder(const Node &node, Frame &frame) {
  return fields.fail(node.json.find("target"),
                     fx::quoted(node.target) + " is not read", kNewer);
}
