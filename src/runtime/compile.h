// SPDX-License-Identifier: Apache-2.0
// runtime/compile.h — from a KernelSource to a binary for a target, through the disk cache. No
// device is needed.
#pragma once

#include <string>

#include "base/hash.h"
#include "runtime/backend.h"
#include "tilewright/kernel_source.h"
#include "tilewright/target.h"

namespace tilewright {

struct CompileReport {
  bool from_cache = false;
  double seconds = 0;
};

// Throws CompileError with the compiler's log, MissingError without the compiler. Safe from many
// threads and processes: one of them compiles, the others take its result.
Binary compile(const KernelSource& source, const Target& target, CompileReport* report = nullptr);
// How many sources this process has had compiled, or has found compiled.
std::size_t compiled_sources();

// What the binary is stored under: a hash of the source with its headers, options, include folders
// and name expressions, the files that it includes from disk (include_scan.h), the target, the
// compiler, and this library with its sanitizers. Signatures and launch plans are left out, since
// no compiler sees them.
Hash128 compile_key(const KernelSource& source, const Target& target,
                    const std::string& compiler_identity);

// ---- The two compilers behind it; each is one folder's business.

// A compiler's identity for the cache key, found without starting or opening it: path, size,
// modification time. Throws MissingError (what for, how to get it) when there is none.
std::string host_compiler_identity();  // runtime/cpu/host_compiler.cpp
std::string host_compiler_path();      // of the same program; throws the same
std::string nvrtc_identity();          // runtime/cuda/nvrtc.cpp

Binary compile_with_host_compiler(const KernelSource& source, const Target& target);
Binary compile_with_nvrtc(const KernelSource& source, const Target& target);
// The PTX on the way to the cubin; not cached.
std::string ptx_with_nvrtc(const KernelSource& source, const Target& target);

}  // namespace tilewright
