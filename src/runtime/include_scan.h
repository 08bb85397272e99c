// SPDX-License-Identifier: Apache-2.0
// runtime/include_scan.h — the files on disk that a source includes, for its cache key.
//
// Finds #include lines by their text, without evaluating conditions or macros: a file that is
// included under a condition that does not hold counts as well, one whose name is made by a macro
// is not seen. Files are looked for beside the one that includes them, in the source's include
// folders and in those of its options (-I, -isystem, --include-path=); what is in none of them
// belongs to the compiler.
#pragma once

#include <string>
#include <vector>

#include "base/hash.h"
#include "tilewright/kernel_source.h"

namespace tilewright {

struct IncludedFile {
  std::string path;
  Hash128 content;
};

// Directly or through others, each once, in the order they are met. Headers in `source.headers`
// come before files.
std::vector<IncludedFile> included_files(const KernelSource& source);

}  // namespace tilewright
