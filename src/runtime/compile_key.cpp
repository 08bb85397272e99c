// SPDX-License-Identifier: Apache-2.0
// runtime/compile_key.cpp — everything that a compiled binary depends on, as one hash.
#include <dlfcn.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "runtime/compile.h"
#include "runtime/include_scan.h"
#include "tilewright/version.h"

namespace tilewright {
namespace {

#ifdef TW_SANITIZE
constexpr const char* sanitizer = TW_SANITIZE;
#else
constexpr const char* sanitizer = "";
#endif

// The file that this code was loaded from: while the library is worked on, its version number stays
// but the flags and headers that it gives to compilers change.
std::string library_identity() {
  Dl_info place{};
  struct stat info {};
  if (dladdr(reinterpret_cast<const void*>(&library_identity), &place) == 0 || !place.dli_fname)
    return "";
  if (stat(place.dli_fname, &info) != 0) return "";
  return fmt::format("{} {}.{:09}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

void add_all(Hasher& hasher, const std::vector<std::string>& texts) {
  hasher.add(static_cast<std::int64_t>(texts.size()));
  for (const std::string& text : texts) hasher.add(text);
}

void add_source(Hasher& hasher, const KernelSource& source) {
  hasher.add(static_cast<std::int64_t>(source.language)).add(source.name).add(source.text);
  hasher.add(static_cast<std::int64_t>(source.headers.size()));
  for (const NamedFile& header : source.headers) hasher.add(header.name).add(header.text);
  add_all(hasher, source.options);
  add_all(hasher, source.include_folders);
  add_all(hasher, source.name_expressions);
  const std::vector<IncludedFile> files = included_files(source);
  hasher.add(static_cast<std::int64_t>(files.size()));
  for (const IncludedFile& file : files)
    hasher.add(file.path)
        .add(static_cast<std::int64_t>(file.content.high))
        .add(static_cast<std::int64_t>(file.content.low));
}

}  // namespace

Hash128 compile_key(const KernelSource& source, const Target& target,
                    const std::string& compiler_identity) {
  static const std::string library = library_identity();
  Hasher hasher;
  hasher.add(version()).add(library).add(sanitizer).add(compiler_identity);
  hasher.add(static_cast<std::int64_t>(target.kind)).add(target.name);
  add_all(hasher, target.compiler_flags);
  add_source(hasher, source);
  return hasher.finish();
}

}  // namespace tilewright
