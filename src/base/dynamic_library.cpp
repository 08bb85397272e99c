// SPDX-License-Identifier: Apache-2.0
// base/dynamic_library.cpp — dlopen, dlsym, dlclose.
#include "base/dynamic_library.h"

#include <dlfcn.h>

namespace tilewright {

DynamicLibrary::~DynamicLibrary() {
  if (handle_) dlclose(handle_);
}

DynamicLibrary DynamicLibrary::open(const std::string& path, std::string* error) {
  DynamicLibrary library;
  library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  library.path_ = path;
  if (!library.handle_ && error) {
    const char* reason = dlerror();
    *error = reason ? reason : "unknown reason";
  }
  return library;
}

void* DynamicLibrary::symbol(const char* name) const {
  return handle_ ? dlsym(handle_, name) : nullptr;
}

}  // namespace tilewright
