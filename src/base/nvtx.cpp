// SPDX-License-Identifier: Apache-2.0
// base/nvtx.cpp — the table that a tool fills in, and its library.
#include "base/nvtx.h"

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "base/dynamic_library.h"
#include "base/log.h"
#include "base/settings.h"

namespace tilewright {
namespace {

// Places in the table of the core module; only these two are ours.
constexpr unsigned push_slot = 9, pop_slot = 11, slots = 16;
constexpr int core_module = 1;
constexpr std::uint32_t callbacks_table = 1, version_table = 3;

using AnyFunction = void (*)();
using PushFunction = int (*)(const char*);
using PopFunction = int (*)();

AnyFunction functions[slots] = {};
AnyFunction* table[slots + 1] = {};

int module_functions(int module, AnyFunction*** out, unsigned* size) {
  if (module != core_module) return 0;
  if (out) *out = table;
  if (size) *size = slots;
  return 1;
}

void set_tool_version(std::uint32_t) {}

struct Callbacks {
  std::size_t size = sizeof(Callbacks);
  int (*module_functions_of)(int, AnyFunction***, unsigned*) = module_functions;
};
struct VersionInfo {
  std::size_t size = sizeof(VersionInfo);
  std::uint32_t version = 3;
  std::uint32_t reserved = 0;
  void (*set)(std::uint32_t) = set_tool_version;
};

const void* export_table(std::uint32_t id) {
  static const Callbacks callbacks;
  static const VersionInfo version;
  if (id == callbacks_table) return &callbacks;
  return id == version_table ? &version : nullptr;
}

// True when a tool is there and takes ranges.
bool attach() {
  const std::string& path = settings().nvtx_injection;
  if (path.empty()) return false;
  for (unsigned i = 0; i < slots; ++i) table[i] = &functions[i];
  std::string error;
  DynamicLibrary library = DynamicLibrary::open(path, &error);
  using Initialize = int (*)(const void* (*)(std::uint32_t));
  const auto initialize =
      library ? reinterpret_cast<Initialize>(library.symbol("InitializeInjectionNvtx2")) : nullptr;
  const bool is_attached = initialize && initialize(export_table) != 0;
  library.leak();
  if (!initialize)
    warn_once(fmt::format("ranges do not reach the tool of NVTX_INJECTION64_PATH={}: {}", path,
                          error.empty() ? "it takes none" : error));
  return is_attached && functions[push_slot] && functions[pop_slot];
}

bool has_tool() {
  static const bool is_attached = attach();
  return is_attached;
}

}  // namespace

bool nvtx_push(const std::string& name) {
  if (!has_tool()) return false;
  reinterpret_cast<PushFunction>(functions[push_slot])(name.c_str());
  return true;
}

bool nvtx_takes_launches() { return settings().profile_folder.empty() && has_tool(); }

void nvtx_pop() { reinterpret_cast<PopFunction>(functions[pop_slot])(); }

}  // namespace tilewright
