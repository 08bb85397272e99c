// SPDX-License-Identifier: Apache-2.0
// base/dynamic_library.h — a shared library opened at run time; stays open for the life of the
// value.
#pragma once

#include <string>
#include <utility>

namespace tilewright {

class DynamicLibrary {
 public:
  DynamicLibrary() = default;
  ~DynamicLibrary();
  DynamicLibrary(DynamicLibrary&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(path_, other.path_);
    return *this;
  }

  // A path or a soname. An empty value (false) when it cannot be opened; `error` then says why.
  static DynamicLibrary open(const std::string& path, std::string* error = nullptr);

  explicit operator bool() const { return handle_ != nullptr; }
  void* symbol(const char* name) const;  // null when there is none
  // The same into a table of functions; `missing` becomes the first name that there is none of.
  template <class Function>
  void look_up(const char* name, Function*& slot, std::string& missing) const {
    slot = reinterpret_cast<Function*>(symbol(name));
    if (!slot && missing.empty()) missing = name;
  }
  const std::string& path() const { return path_; }
  // Keeps the library open for the life of the process (code that may still run, drivers that must
  // not be unloaded).
  void leak() { handle_ = nullptr; }

 private:
  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace tilewright
