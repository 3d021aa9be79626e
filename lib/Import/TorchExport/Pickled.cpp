#include "Pickled.h"
using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;
LogicalResult pt2::readPickled(Archive &archive, const ZipEntry &entry,
                               bool isConstant, WeightFile &file) {
  return success();
}
