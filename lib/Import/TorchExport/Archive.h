// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The containers that torch.export and torch.save write.
#ifndef CUTBACK_LIB_IMPORT_TORCHEXPORT_ARCHIVE_H
#define CUTBACK_LIB_IMPORT_TORCHEXPORT_ARCHIVE_H

#include "cutback/Import/Weights.h"
#include "cutback/Support/Zip.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <memory>
#include <string>
#include <vector>

namespace cutback::pt2 {

/// A zip archive with errors in a context.
class Archive {
public:
  Archive(mlir::MLIRContext *context, llvm::StringRef fileName)
      : context(context), name(fileName) {}

  /// Reads the directory of `bytes`, which must outlive this.
  mlir::LogicalResult open(llvm::StringRef bytes);

  const ZipEntry *find(const llvm::Twine &path) const;
  const std::vector<ZipEntry> &entries() const { return zip->entries(); }
  /// The content of an entry that is read with the graph; what had to be
  /// unpacked lives as long as this. `checked` compares its checksum. An entry
  /// that would grow to more than 64 MiB and a hundred times its packed size is
  /// refused: no exporter packs anything, and no text packs like that.
  mlir::FailureOr<llvm::StringRef> content(const ZipEntry &entry, bool checked);
  /// The content of an entry that holds a storage, which is unpacked only when
  /// it is asked for; null for an empty one. The archive's memory must outlive
  /// it.
  std::shared_ptr<WeightStorage> storage(const ZipEntry &entry) const;
  /// "FILE/ENTRY", for positions in an entry.
  std::string nameOf(const ZipEntry &entry) const;

  mlir::LogicalResult fail(const llvm::Twine &what,
                           const llvm::Twine &next) const;
  mlir::LogicalResult fail(const ZipEntry &entry, const llvm::Twine &what,
                           const llvm::Twine &next) const;

  mlir::MLIRContext *context;
  std::string name;
  /// What was unpacked; whoever keeps references to it takes them over.
  std::vector<std::unique_ptr<std::string>> unpacked;

private:
  mlir::LogicalResult fail(const ZipError &error) const;

  /// Shared with the storages that are still packed.
  std::shared_ptr<ZipArchive> zip = std::make_shared<ZipArchive>();
};

/// A program in a container.
struct ArchiveModel {
  std::string name; ///< "model"
  const ZipEntry *program = nullptr;
};

/// What torch.export.save wrote, of any release.
struct Package {
  std::string root;    ///< "model/", or empty
  bool isFlat = false; ///< torch 2.1 to 2.7
  std::vector<ArchiveModel> models;

  /// Finds the programs; fails with an error if there are none.
  mlir::LogicalResult read(Archive &archive);
};

} // namespace cutback::pt2

#endif // CUTBACK_LIB_IMPORT_TORCHEXPORT_ARCHIVE_H
