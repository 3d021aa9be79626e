// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A page as HTML: the files of PageAssets with the plan put in.
//
// What is worth knowing without a script is plain HTML: the headline and the
// table of all plans. Everything else the script draws from the data, which
// stands in a script element that browsers do not run. Style and script are
// allowed by their hashes alone and everything else is forbidden by the page's
// own policy, so a name in a graph can neither run nor ask for anything.

#include "cutback/Report/Page.h"

#include "PageWriter.h"

#include "cutback/Support/Text.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/SHA256.h"

using llvm::StringRef;

namespace cutback {

static const char kTemplate[] =
#include "page.html.inc"
    ;
static const char kStyle[] =
#include "page.css.inc"
    ;
static const char kScript[] =
#include "page.js.inc"
    ;

std::string escapeHtml(StringRef text) {
  std::string out;
  for (char c : validText(text))
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    case '\'':
      out += "&#39;";
      break;
    default:
      out += c;
    }
  return out;
}

std::string policyHash(StringRef text) {
  auto bytes = llvm::ArrayRef(reinterpret_cast<const uint8_t *>(text.data()),
                              text.size());
  auto hash = llvm::SHA256::hash(bytes);
  return "'sha256-" + llvm::encodeBase64(hash) + "'";
}

//===----------------------------------------------------------------------===//
// Headline
//===----------------------------------------------------------------------===//

/// "1,024.0 MiB (12 %) below strategy eager".
static std::string comparedTo(int64_t bytes, int64_t than,
                              const std::string &what) {
  if (bytes == than)
    return "as high as " + what;
  int64_t difference = std::abs(bytes - than);
  std::string out = formatBytes(difference);
  if (than > 0) {
    double percent =
        100.0 * static_cast<double>(difference) / static_cast<double>(than);
    out += " (" + formatFixed(percent, percent < 10 ? 1 : 0) + " %)";
  }
  return out + (bytes < than ? " below " : " above ") + what;
}

std::string Page::headline(size_t index) const {
  const PagePlan &plan = plans[index];
  std::vector<std::pair<const PagePlan *, std::string>> others;
  if (const PagePlan *eager =
          find(PagePlanName::Strategy, spell(Strategy::Eager)))
    if (eager != &plan)
      others.emplace_back(eager, "strategy eager");
  if (const PagePlan *rules = find(PagePlanName::Rules, ""))
    if (rules != &plan)
      others.emplace_back(rules, "PyTorch’s rules");
  std::string out = "This plan’s peak is " + formatBytes(plan.peakBytes);
  for (size_t i = 0; i < others.size(); ++i)
    out += (i ? " and " : ", ") + comparedTo(plan.peakBytes,
                                             others[i].first->peakBytes,
                                             others[i].second);
  out += "; saving and recomputing take " + formatPicoseconds(plan.pricedPs) +
         " of a step";
  for (size_t i = 0; i < others.size(); ++i)
    out += (i ? ", " : " (") + others[i].second + ": " +
           formatPicoseconds(others[i].first->pricedPs);
  out += others.empty() ? "" : ")";
  return out + (plan.verified ? "; verified: the two halves compute what the "
                                "graph computes."
                              : "; not verified.");
}

//===----------------------------------------------------------------------===//
// Page
//===----------------------------------------------------------------------===//

static void addCell(std::string &out, const std::string &text) {
  out += "<td>" + escapeHtml(text) + "</td>";
}

/// PyTorch that compiles nothing.
static std::string eagerRow(const AutogradSaves &eager) {
  std::string out = "<tr><th scope=\"row\">eager PyTorch, op by op</th>";
  addCell(out, eager.peakBytes ? formatBytes(*eager.peakBytes) : "–");
  addCell(out, formatBytes(eager.savedBytes));
  for (int i = 0; i < 3; ++i)
    addCell(out, "–");
  return out + "</tr>\n";
}

static std::string tableRows(const Page &page, size_t chosen,
                             const std::optional<OtherPartition> &other) {
  std::string out;
  for (size_t i = 0; i < page.plans.size(); ++i) {
    const PagePlan &plan = page.plans[i];
    out += "<tr data-plan=\"" + std::to_string(i) + "\"" +
           (i == chosen ? " aria-current=\"true\"" : "") +
           "><th scope=\"row\">" + escapeHtml(plan.name.label) + "</th>";
    addCell(out, formatBytes(plan.peakBytes));
    addCell(out, formatBytes(plan.savedBytes));
    addCell(out, formatCount(plan.recomputedOps));
    addCell(out, formatPicoseconds(plan.pricedPs));
    addCell(out, plan.verified ? "yes" : "no");
    out += "</tr>\n";
  }
  if (!other)
    return out;
  out += "<tr><th scope=\"row\">" + escapeHtml(other->origin) +
         "’s, from the log</th>";
  addCell(out, other->peakBytes ? formatBytes(*other->peakBytes) : "–");
  addCell(out, formatBytes(other->savedBytes));
  addCell(out, formatCount(other->recomputed));
  addCell(out, other->pricedPs ? formatPicoseconds(*other->pricedPs) : "–");
  addCell(out, other->accepted ? "yes" : "refused: " + other->verdict);
  return out + "</tr>\n";
}

std::string
fillTemplate(StringRef text,
             const std::vector<std::pair<StringRef, std::string>> &fields) {
  std::string out;
  StringRef rest = text;
  while (true) {
    auto [before, behind] = rest.split("{{");
    out += before;
    if (behind.empty())
      return out;
    auto [name, after] = behind.split("}}");
    for (const auto &[key, value] : fields)
      if (key == name)
        out += value;
    rest = after;
  }
}

std::string Page::html() const {
  std::string list;
  for (const std::string &note : notes)
    list += "<p class=\"note\">" + escapeHtml(note) + "</p>\n";
  StringRef subtitleText = StringRef(subtitle).trim();
  return fillTemplate(
      kTemplate, {
                     {"title", escapeHtml(title)},
                     {"style-hash", policyHash(kStyle)},
                     {"script-hash", policyHash(kScript)},
                     {"style", kStyle},
                     {"script", kScript},
                     {"subtitle", escapeHtml(subtitleText)},
                     {"headline", escapeHtml(headline(chosen))},
                     {"rows", tableRows(*this, chosen, other) +
                                  (eager ? eagerRow(*eager) : std::string())},
                     {"notes", list},
                     {"data", data()},
                 });
}

} // namespace cutback
