// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/driver_api.h — the CUDA driver as a table of functions, opened at run time.
#pragma once

#include <string>

#include "runtime/cuda/driver_types.h"

namespace tilewright::cuda {

struct DriverApi {
#define OP(name, ...) CUresult (*name)(__VA_ARGS__) = nullptr;
#include "runtime/cuda/driver_functions.def"
#undef OP
};

// Fills `api` from the library at `path` (or its soname). An empty string when all is well; else
// what is wrong with it, and the library is closed again. A driver that was opened stays open for
// the life of the process.
std::string load_driver(const std::string& path, DriverApi& api, std::string* resolved_path);

// The table of this process; filled once, by the creation of the backend, before anything else is
// called.
inline constinit DriverApi driver_table{};
inline const DriverApi& driver() { return driver_table; }

// The file of the driver that is open; empty when none is.
std::string driver_path();

inline CUdeviceptr address_of(const void* data) {
  return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(data));
}
inline void* pointer_of(CUdeviceptr address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

}  // namespace tilewright::cuda
