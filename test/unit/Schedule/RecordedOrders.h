// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lists that tools/dev/pipeline-orders recorded of PyTorch.
#ifndef CUTBACK_TEST_UNIT_SCHEDULE_RECORDEDORDERS_H
#define CUTBACK_TEST_UNIT_SCHEDULE_RECORDEDORDERS_H

#include "cutback/Schedule/Generate.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>
#include <zlib.h>

namespace cutback::pipeline {

struct RecordedOrder {
  std::string name, form;
  Shape shape;
  unsigned long crc = 0;
  std::string lists; ///< empty where only the checksum is recorded

  std::string title() const {
    return name + " " + form + " p=" + std::to_string(shape.ranks) +
           " v=" + std::to_string(shape.stagesPerRank) +
           " m=" + std::to_string(shape.microBatches);
  }
};

inline std::vector<RecordedOrder> readRecordedOrders() {
  std::ifstream file(CUTBACK_SOURCE_DIR "/test/unit/Schedule/orders.txt");
  std::vector<RecordedOrder> orders;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    if (line.find(' ') == std::string::npos) {
      orders.back().lists += line + "\n";
      continue;
    }
    RecordedOrder order;
    std::istringstream words(line);
    words >> order.name >> order.form >> order.shape.ranks >>
        order.shape.stagesPerRank >> order.shape.microBatches >> std::hex >>
        order.crc;
    orders.push_back(order);
  }
  return orders;
}

inline std::string listsOf(const Schedule &schedule) {
  std::string text;
  for (const Row &row : schedule.rows) {
    const char *separator = "";
    for (const auto &action : row) {
      if (!action)
        continue;
      text += separator + format(*action);
      separator = ",";
    }
    text += "\n";
  }
  return text;
}

inline unsigned long crcOf(const std::string &text) {
  return crc32(0, reinterpret_cast<const Bytef *>(text.data()), text.size());
}

} // namespace cutback::pipeline

#endif // CUTBACK_TEST_UNIT_SCHEDULE_RECORDEDORDERS_H
