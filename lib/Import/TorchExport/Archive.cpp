// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which programs an archive holds is told by its entries, never by a version:
//
//   R/archive_format, R/models/NAME.json      torch 2.8 and later; R is one
//                                             folder, or nothing
//   serialized_exported_program.json          torch 2.1 to 2.7
//
// A package of AOTInductor is of the first form without models.

#include "Archive.h"

#include "Fields.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

LogicalResult Archive::fail(const Twine &what, const Twine &next) const {
  InFlightDiagnostic diag =
      mlir::emitError(FileLineColLoc::get(context, name, 0, 0));
  diag << what;
  diag.attachNote() << next;
  return diag;
}

LogicalResult Archive::fail(const ZipEntry &entry, const Twine &what,
                            const Twine &next) const {
  InFlightDiagnostic diag =
      mlir::emitError(FileLineColLoc::get(context, nameOf(entry), 0, 0));
  diag << what;
  diag.attachNote() << next;
  return diag;
}

LogicalResult Archive::fail(const ZipError &error) const {
  return fail(Twine(error.message) + " (at byte " + Twine(error.offset) + ")",
              error.next);
}

LogicalResult Archive::open(StringRef bytes) {
  if (std::optional<ZipError> error =
          ZipArchive::read({bytes.data(), bytes.size()}, *zip))
    return fail(*error);
  return success();
}

const ZipEntry *Archive::find(const Twine &path) const {
  SmallString<128> buffer;
  StringRef text = path.toStringRef(buffer);
  return zip->find({text.data(), text.size()});
}

std::string Archive::nameOf(const ZipEntry &entry) const {
  return name + "/" + std::string(entry.name);
}

FailureOr<StringRef> Archive::content(const ZipEntry &entry, bool checked) {
  constexpr uint64_t kAlways = uint64_t(64) << 20, kMostTimes = 100;
  if (entry.isDeflated && entry.size > kAlways &&
      entry.size / kMostTimes > entry.data.size())
    return fail(entry,
                "this entry would unpack from " + Twine(entry.data.size()) +
                    " to " + Twine(entry.size) + " bytes",
                "no program packs like this; if the file is to be trusted, "
                "unpack it and pack it again without compression (zip -0)");
  auto buffer = std::make_unique<std::string>();
  std::string_view result;
  if (std::optional<ZipError> error =
          zip->content(entry, checked, *buffer, result))
    return fail(*error);
  if (entry.isDeflated)
    unpacked.push_back(std::move(buffer));
  return ref(result);
}

std::shared_ptr<WeightStorage> Archive::storage(const ZipEntry &entry) const {
  if (entry.size == 0)
    return nullptr;
  if (!entry.isDeflated)
    return std::make_shared<WeightStorage>(
        ArrayRef(entry.data.data(), entry.data.size()));
  return std::make_shared<WeightStorage>(
      nameOf(entry), entry.size,
      [zip = zip, entry](std::string &content) -> std::string {
        std::string_view result;
        std::optional<ZipError> error =
            zip->content(entry, /*checked=*/true, content, result);
        return error ? error->message + "; " + error->next : "";
      });
}

/// Bytes are little-endian, and the form is the one that is known.
static LogicalResult checkFormat(Archive &archive) {
  for (const ZipEntry &entry : archive.entries()) {
    StringRef name = ref(entry.name);
    size_t slash = name.find('/');
    StringRef last = slash == StringRef::npos ? name : name.substr(slash + 1);
    if (last != "byteorder" && last != "archive_version")
      continue;
    FailureOr<StringRef> text = archive.content(entry, false);
    if (failed(text))
      return failure();
    if (last == "byteorder" && text->trim() != "little")
      return archive.fail(entry, "these tensors are not little-endian",
                          "save the program on a little-endian machine");
    unsigned version = 0;
    if (last == "archive_version" &&
        (text->trim().getAsInteger(10, version) || version > 0)) {
      std::string what = "this archive has another version than 0: '" +
                         text->trim().str() + "'";
      return archive.fail(entry, what,
                          "export the program with a release that cutback "
                          "knows (torch 2.8 to 2.13)");
    }
  }
  return success();
}

LogicalResult Package::read(Archive &archive) {
  constexpr StringRef kFlat = "serialized_exported_program.json";
  if (const ZipEntry *program = archive.find(kFlat)) {
    isFlat = true;
    models.push_back({"model", program});
    return success();
  }
  if (failed(checkFormat(archive)))
    return failure();
  bool isPackage = archive.find("archive_format") != nullptr;
  if (!isPackage && !archive.entries().empty()) {
    StringRef first = ref(archive.entries().front().name);
    root = first.take_front(first.find('/') + 1).str();
    isPackage = !root.empty() && archive.find(root + "archive_format");
  }
  for (const ZipEntry &entry : archive.entries()) {
    StringRef path = ref(entry.name);
    bool isModel = path.consume_front(root) && path.consume_front("models/") &&
                   path.consume_back(".json") && !path.empty();
    if (isModel)
      models.push_back({path.str(), &entry});
  }
  if (!models.empty())
    return success();
  for (const ZipEntry &entry : archive.entries())
    if (ref(entry.name).starts_with(root + "data/aotinductor/"))
      return archive.fail(
          "this is a package of AOTInductor: compiled code, not a program",
          "save the exported program itself: torch.export.save(ep, FILE)");
  return archive.fail(
      isPackage ? "this archive of torch.export holds no program"
                : "this zip archive is not one that torch.export writes",
      "expected models/NAME.json or serialized_exported_program.json in it, "
      "as torch.export.save writes them");
}
