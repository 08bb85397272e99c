// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/onednn.cpp — finds and opens the oneDNN plug-in.
#include "runtime/cpu/onednn.h"

#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "base/dynamic_library.h"
#include "base/log.h"
#include "base/settings.h"

namespace tilewright {
namespace {

constexpr const char* plugin_file = "libtilewright_onednn.so";

// Where TILEWRIGHT_ONEDNN says, else beside this library.
std::string plugin_path() {
  if (!settings().onednn.empty()) return settings().onednn == "none" ? "" : settings().onednn;
  Dl_info place{};
  if (dladdr(reinterpret_cast<void*>(&plugin_path), &place) == 0 || place.dli_fname == nullptr)
    return "";
  const std::filesystem::path folder = std::filesystem::path(place.dli_fname).parent_path();
  const std::string path = (folder / plugin_file).string();
  return access(path.c_str(), R_OK) == 0 ? path : "";
}

const OnednnPlugin* open_plugin(const std::string& path) {
  const auto refuse = [&](const std::string& reason) {
    warn_once(
        fmt::format("the oneDNN plug-in at {} {}: products are made by tilewright's own kernels",
                    path, reason));
    return nullptr;
  };
  std::string error;
  DynamicLibrary library = DynamicLibrary::open(path, &error);
  if (!library) return refuse(fmt::format("cannot be opened ({})", error));
  const auto exported =
      reinterpret_cast<const OnednnPlugin* (*)()>(library.symbol("tilewright_onednn_plugin"));
  if (exported == nullptr) return refuse("lacks tilewright_onednn_plugin");
  const OnednnPlugin* const plugin = exported();
  if (plugin->version != onednn_plugin_version)
    return refuse(fmt::format("has version {} of our interface, not {}", plugin->version,
                              onednn_plugin_version));
  library.leak();
  log_line("libraries", fmt::format("products by {} ({})", plugin->name, path));
  return plugin;
}

// Looked for once for each value of the setting.
const OnednnPlugin* plugin() {
  static std::mutex mutex;
  static auto& opened = *new std::map<std::string, const OnednnPlugin*>;
  const std::lock_guard lock(mutex);
  const auto found = opened.find(settings().onednn);
  if (found != opened.end()) return found->second;
  const std::string path = plugin_path();
  if (path.empty())
    log_line("libraries",
             "no oneDNN plug-in was found: products are made by tilewright's own kernels");
  return opened[settings().onednn] = path.empty() ? nullptr : open_plugin(path);
}

}  // namespace

bool onednn_multiply(const LibraryProduct& product) {
  const OnednnPlugin* const made = plugin();
  return made != nullptr && made->multiply(product, settings().threads);
}

bool onednn_convolve(const LibraryConvolution& convolution) {
  const OnednnPlugin* const made = plugin();
  return made != nullptr && made->convolve(convolution, settings().threads);
}

std::string onednn_name() {
  const OnednnPlugin* const made = plugin();
  return made == nullptr ? "" : made->name;
}

}  // namespace tilewright
