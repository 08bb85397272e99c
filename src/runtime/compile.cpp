// SPDX-License-Identifier: Apache-2.0
// runtime/compile.cpp — the compiler of a source's language, with the disk cache before it.
#include "runtime/compile.h"

#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "base/events.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/units.h"
#include "runtime/cache_folder.h"
#include "runtime/disk_cache.h"

namespace tilewright {
namespace {

std::atomic<std::size_t> sources_compiled{0};

// "a/gelu.cu" -> "a_gelu": part of a file's name.
std::string plain_name(std::string name, const std::string& extension) {
  if (name.ends_with(extension)) name.resize(name.size() - extension.size());
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') c = '_';
  if (name.empty() || name.starts_with('.')) name.insert(0, "source");
  return name.substr(0, 100);
}

// For TILEWRIGHT_DUMP_DIR. Reading generated source is a help: that it cannot be written must not
// stop the work.
void dump_source(const KernelSource& source, const Hash128& key) {
  const std::string& folder = settings().dump_folder;
  if (folder.empty()) return;
  const std::string extension = source.language == Language::Cuda ? ".cu" : ".cpp";
  const std::string path = fmt::format("{}/{}-{}{}", folder, plain_name(source.name, extension),
                                       key.hex().substr(0, 8), extension);
  bool is_written = make_folders(folder) == 0;
  if (std::FILE* file = is_written ? std::fopen(path.c_str(), "wbe") : nullptr) {
    is_written = std::fwrite(source.text.data(), 1, source.text.size(), file) == source.text.size();
    is_written &= std::fclose(file) == 0;
  } else {
    is_written = false;
  }
  if (!is_written)
    warn_once(fmt::format(
        "sources are not written to TILEWRIGHT_DUMP_DIR={} ({}); name a folder that can be written",
        folder, std::strerror(errno)));
}

}  // namespace

std::size_t compiled_sources() { return sources_compiled.load(std::memory_order_relaxed); }

Binary compile(const KernelSource& source, const Target& target, CompileReport* report) {
  sources_compiled.fetch_add(1, std::memory_order_relaxed);
  const auto start = std::chrono::steady_clock::now();
  const bool is_cuda = source.language == Language::Cuda;
  const Hash128 key =
      compile_key(source, target, is_cuda ? nvrtc_identity() : host_compiler_identity());
  dump_source(source, key);
  EventScope event(EventKind::Compile, is_cuda ? "NVRTC or cache" : "host compiler or cache");
  event.describe(source.name);
  const auto make = [&] {
    const EventScope making(EventKind::Compile, is_cuda ? "NVRTC" : "host compiler");
    return is_cuda ? compile_with_nvrtc(source, target)
                   : compile_with_host_compiler(source, target);
  };
  CompileReport result;
  Binary binary = DiskCache::shared().find_or_make(key, make, &result.from_cache);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (logs("compile"))
    log_line("compile",
             fmt::format("{} '{}' for {} in {}, {} ({})", result.from_cache ? "found" : "compiled",
                         source.name, target.name, format_seconds(result.seconds),
                         format_bytes(binary.bytes.size()), key.hex()));
  if (report) *report = result;
  return binary;
}

}  // namespace tilewright
