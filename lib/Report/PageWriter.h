// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the files that write a page.
#ifndef CUTBACK_LIB_REPORT_PAGEWRITER_H
#define CUTBACK_LIB_REPORT_PAGEWRITER_H

#include "cutback/Report/Page.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace cutback {

/// `text`, with what is not UTF-8 replaced.
std::string validText(llvm::StringRef text);

/// `text` as HTML shows it.
std::string escapeHtml(llvm::StringRef text);

/// How a content security policy names an inline element.
std::string policyHash(llvm::StringRef text);

/// A template with its marks, `{{name}}`, replaced, once each: what is put in
/// is not looked at again.
std::string fillTemplate(
    llvm::StringRef text,
    const std::vector<std::pair<llvm::StringRef, std::string>> &fields);

/// Writes the data of a page, once.
class PageWriter {
public:
  explicit PageWriter(const Page &page);
  std::string data();

private:
  /// Items told apart in the picture of memory.
  struct Groups {
    std::vector<std::string> names;
    std::vector<uint32_t> ofItem; ///< by item of the page
  };

  Groups group(llvm::function_ref<std::string(const PageItem &)> label);
  void chooseTraces();
  void column(llvm::StringRef key, const std::vector<int64_t> &values);
  void differences(llvm::StringRef key, const std::vector<int64_t> &values);
  void differencesOf(const std::vector<int64_t> &values);
  void textAttribute(llvm::StringRef key, llvm::StringRef text);
  void textList(llvm::StringRef key, const std::vector<std::string> &texts);
  void writeItems();
  void writePlan(size_t index);
  void writeSaved(const PagePlan &plan, const PagePlan *before);
  void writeRecomputed(const PagePlan &plan, const PagePlan *before);
  void writeMoments(const PagePlan &plan);
  void writeGroups(llvm::StringRef key, const PagePlan &plan,
                   const Groups &groups);
  void writePlaced(const PageArena &arena);
  void writeArena(const PageArena &arena);
  void writeOther(const OtherPartition &other);

  const Page &page;
  std::vector<uint32_t> order;  ///< items in the order of the model
  std::vector<uint32_t> number; ///< by item: its place in `order`
  Groups kinds, places;
  std::vector<bool> hasTrace; ///< by plan: it is in the page
  std::string text;
  llvm::raw_string_ostream os{text};
  llvm::json::OStream json{os};
};

} // namespace cutback

#endif // CUTBACK_LIB_REPORT_PAGEWRITER_H
