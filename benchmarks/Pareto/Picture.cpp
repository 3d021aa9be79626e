// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small multiples: one chart a graph, bytes to the right and extra time
// upwards, both from 0. The line is our hull, its dots are plans, the square is
// PyTorch's plan. Each chart has its own scale, which its caption gives, so
// that shapes can be compared. Text only in the font of the reader; no numbers
// in coordinates beyond a tenth of a pixel, so that the bytes are stable.

#include "Pareto.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace cutback;
using namespace cutback::bench;

static constexpr int kColumns = 6, kWidth = 150, kHeight = 110, kGapX = 26,
                     kGapY = 56, kMargin = 24, kHead = 64;

namespace {

class Chart {
public:
  Chart(llvm::raw_ostream &os, const ParetoResult &result, int left, int top)
      : os(os), result(result), left(left), top(top) {
    maxBytes = std::max<double>(result.torch.bytes, 1);
    maxPs = std::max<double>(result.torch.ps, 1);
    for (const ParetoPoint &p : result.ours)
      maxBytes = std::max<double>(maxBytes, p.bytes);
    // The end without memory is often far up: it may leave the chart.
    maxPs = std::max(maxPs * 1.6, double(result.ours.front().ps) * 1.3);
  }

  void draw() {
    os << llvm::format("<g transform=\"translate(%d %d)\">\n", left, top)
       << llvm::format("<rect width=\"%d\" height=\"%d\" class=\"f\"/>\n",
                       kWidth, kHeight)
       << "<polyline class=\"h\" points=\"";
    for (const ParetoPoint &p : result.ours)
      if (const ParetoPoint *next = &p; p.ps <= maxPs)
        os << llvm::format("%.1f,%.1f ", x(next->bytes), y(next->ps));
      else {
        leave(p);
        break;
      }
    os << "\"/>\n";
    for (const ParetoPoint &p : result.ours)
      if (p.ps <= maxPs)
        os << llvm::format("<circle class=\"o\" cx=\"%.1f\" cy=\"%.1f\" "
                           "r=\"2\"/>\n",
                           x(p.bytes), y(p.ps));
    os << llvm::format("<rect class=\"t\" x=\"%.1f\" y=\"%.1f\" width=\"6\" "
                       "height=\"6\"/>\n",
                       x(result.torch.bytes) - 3, y(result.torch.ps) - 3);
    caption();
    os << "</g>\n";
  }

private:
  double x(double bytes) const { return bytes / maxBytes * (kWidth - 12) + 4; }
  double y(double ps) const {
    return kHeight - 4 - ps / maxPs * (kHeight - 12);
  }

  /// The segment to a plan that lies above the chart, up to the border.
  void leave(const ParetoPoint &to) {
    const ParetoPoint *from = &result.ours.front();
    for (const ParetoPoint &p : result.ours)
      if (p.ps <= maxPs)
        from = &p;
    double part = (maxPs - from->ps) / double(to.ps - from->ps);
    os << llvm::format("%.1f,%.1f",
                       x(from->bytes + part * double(to.bytes - from->bytes)),
                       y(maxPs));
  }

  void caption() {
    llvm::StringRef name = result.name;
    if (auto dot = name.find('.'); dot != llvm::StringRef::npos)
      name = name.substr(dot + 1);
    name = name.split('.').first.substr(0, 22);
    os << llvm::format("<text x=\"0\" y=\"%d\" class=\"n\">", kHeight + 13)
       << name << "</text>\n"
       << llvm::format("<text x=\"0\" y=\"%d\" class=\"s\">", kHeight + 26)
       << bytesText(maxBytes)
       << llvm::format(", %.3g us</text>\n", maxPs * 1e-6);
  }

  static std::string bytesText(double bytes) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (bytes >= 1e8)
      os << llvm::format("%.1f GB", bytes * 1e-9);
    else if (bytes >= 1e5)
      os << llvm::format("%.1f MB", bytes * 1e-6);
    else
      os << llvm::format("%.1f kB", bytes * 1e-3);
    return text;
  }

  llvm::raw_ostream &os;
  const ParetoResult &result;
  int left, top;
  double maxBytes, maxPs;
};

} // namespace

std::string
cutback::bench::drawFronts(const std::vector<ParetoResult> &results) {
  std::string text;
  llvm::raw_string_ostream os(text);
  int rows = (static_cast<int>(results.size()) + kColumns - 1) / kColumns;
  int width = 2 * kMargin + kColumns * kWidth + (kColumns - 1) * kGapX;
  int height = kHead + kMargin + rows * (kHeight + kGapY);
  os << llvm::format("<svg xmlns=\"http://www.w3.org/2000/svg\" "
                     "viewBox=\"0 0 %d %d\" width=\"%d\">\n",
                     width, height, width)
     << "<style>text{font-family:sans-serif;fill:#222}.n{font-size:11px}"
        ".s{font-size:10px;fill:#666}.f{fill:#fafafa;stroke:#ccc}"
        ".h{fill:none;stroke:#2166ac;stroke-width:1.3}.o{fill:#2166ac}"
        ".t{fill:#d6604d}</style>\n"
     << llvm::format("<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
                     width, height)
     << llvm::format("<text x=\"%d\" y=\"26\" font-size=\"15\">Saved bytes "
                     "(right) against extra time (up), H100 roofline</text>\n",
                     kMargin)
     << llvm::format("<circle class=\"o\" cx=\"%d\" cy=\"43\" r=\"3\"/>"
                     "<text x=\"%d\" y=\"47\" class=\"n\">our plans, and their "
                     "hull</text>\n",
                     kMargin + 4, kMargin + 14)
     << llvm::format("<rect class=\"t\" x=\"%d\" y=\"40\" width=\"7\" "
                     "height=\"7\"/><text x=\"%d\" y=\"47\" class=\"n\">"
                     "PyTorch 2.13; both scales from 0 to what the caption "
                     "says</text>\n",
                     kMargin + 170, kMargin + 182);
  for (size_t i = 0; i < results.size(); ++i) {
    int column = static_cast<int>(i) % kColumns;
    int row = static_cast<int>(i) / kColumns;
    Chart(os, results[i], kMargin + column * (kWidth + kGapX),
          kHead + row * (kHeight + kGapY))
        .draw();
  }
  os << "</svg>\n";
  return text;
}
