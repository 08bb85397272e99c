// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/cuda_program.h — the CUDA runtime for a whole program: kernels, and the entry
// of the program itself.
#pragma once

#include "load_inline/torch/cuda_memory.h"

// ---- Kernels.

namespace tilewright_inline {

// Every kernel that the text can launch, templates by instance; in a list before main runs.
struct KernelRecord {
  const void* stub;
  Text name;
  void* entry;
  KernelRecord* next;
  static KernelRecord*& first() {
    static KernelRecord* list = nullptr;
    return list;
  }
  KernelRecord(const void* stub, const char* text, void* entry)
      : stub(stub), entry(entry), next(first()) {
    name.add(text);
    first() = this;
  }
};
template <auto stub, class Name, class Entry>
struct Registered {
  static KernelRecord record;
};
template <auto stub, class Name, class Entry>
KernelRecord Registered<stub, Name, Entry>::record((const void*)stub, Name{}().c_str(),
                                                   (void*)Entry{}());

// The variables of the device, by the addresses that the host's text has.
struct SymbolRecord {
  const void* shadow;
  const char* name;
  unsigned long bytes;
  SymbolRecord* next;
  static SymbolRecord*& first() {
    static SymbolRecord* list = nullptr;
    return list;
  }
  SymbolRecord(const void* shadow, const char* name, unsigned long bytes)
      : shadow(shadow), name(name), bytes(bytes), next(first()) {
    first() = this;
  }
};

inline cudaError_t launch_kernel(const void* stub, const TwLaunch& request, int is_cooperative) {
  const int code = cuda()->launch(stub, &request, is_cooperative);
  if (code != cudaSuccess && last_error().unseen_launch.size() == 0)
    last_error().unseen_launch.add(cuda()->sentence());
  return answered(code);
}

template <auto stub, class Name, class Entry, class... Parameters>
void launch_registered(Name, Entry, Parameters&... parameters) {
  const KernelRecord& record = Registered<stub, Name, Entry>::record;
  const Configuration c = take_configuration(record.name.c_str());
  void* addresses[] = {(void*)__builtin_addressof(parameters)..., nullptr};
  const unsigned long bytes[] = {sizeof(parameters)..., 0};
  TwLaunch request =
      request_of(c, record.entry, addresses, bytes, static_cast<long>(sizeof...(parameters)));
  request.kernel = record.name.c_str();
  launch_kernel(record.stub, request, 0);
}

template <class Kernel>
long kernel_number(Kernel kernel, int what, int threads, size_t shared_bytes, int* code) {
  long value = 0;
  *code = cuda()->kernel_number(&value, (const void*)kernel, what, threads, shared_bytes);
  return value;
}

template <class Kernel>
cudaError_t launch_by_address(Kernel kernel, const Configuration& c, void** arguments,
                              int is_cooperative) {
  const TwLaunch request = request_of(c, nullptr, arguments, nullptr, -1);
  return launch_kernel((const void*)kernel, request, is_cooperative);
}

}  // namespace tilewright_inline

template <class Kernel>
cudaError_t cudaLaunchKernel(Kernel kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  return ::tilewright_inline::launch_by_address(kernel, {grid, block, shared_bytes, stream},
                                                arguments, 0);
}
template <class Kernel>
cudaError_t cudaLaunchCooperativeKernel(Kernel kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  return ::tilewright_inline::launch_by_address(kernel, {grid, block, shared_bytes, stream},
                                                arguments, 1);
}

struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes;
};
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, Kernel kernel) {
  int code = 0;
  const auto get = [&](auto& field, int what) {
    int one = 0;
    field = ::tilewright_inline::kernel_number(kernel, what, 0, 0, &one);
    if (one != cudaSuccess) code = one;
  };
  *out = {};
  get(out->sharedSizeBytes, TwStaticSharedBytes);
  get(out->constSizeBytes, TwConstantBytes);
  get(out->localSizeBytes, TwLocalBytes);
  get(out->maxThreadsPerBlock, TwMaxThreads);
  get(out->numRegs, TwRegisters);
  get(out->binaryVersion, TwBinaryVersion);
  out->ptxVersion = out->binaryVersion;
  return ::tilewright_inline::answered(code);
}
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
// Launches ask for the shared memory that they use themselves.
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel, cudaFuncAttribute, int) {
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel kernel, int threads,
                                                          size_t shared_bytes) {
  int code = 0;
  *blocks = static_cast<int>(::tilewright_inline::kernel_number(kernel, TwBlocksPerProcessor,
                                                                threads, shared_bytes, &code));
  return ::tilewright_inline::answered(code);
}
// The largest of the block sizes with the most resident threads, in whole warps.
template <class Kernel, class SharedBytes>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, Kernel kernel,
                                                           SharedBytes shared_bytes_of,
                                                           int limit = 0) {
  int code = 0, processors = 0, most = 0;
  const int largest =
      static_cast<int>(::tilewright_inline::kernel_number(kernel, TwMaxThreads, 0, 0, &code));
  if (code != cudaSuccess) return ::tilewright_inline::answered(code);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount,
                         ::tilewright_inline::current_device());
  *grid = *block = 0;
  for (int threads = limit > 0 && limit < largest ? limit : largest; threads > 0;
       threads = (threads - 1) / 32 * 32) {
    int blocks = 0;
    const cudaError_t asked = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, kernel, threads, shared_bytes_of(threads));
    if (asked != cudaSuccess) return asked;
    if (blocks * threads <= most) continue;
    most = blocks * threads;
    *block = threads;
    *grid = blocks * processors;
  }
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel kernel,
                                               size_t shared_bytes = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid, block, kernel, [shared_bytes](int) { return shared_bytes; }, limit);
}

// ---- The program's entry.

namespace tilewright_inline {

inline int call_main(int (*main)(), TwProgram&) { return main(); }
inline int call_main(void (*main)(), TwProgram&) { return main(), 0; }
inline int call_main(int (*main)(int, char**), TwProgram& p) {
  return main(p.argument_count, p.arguments);
}
inline int call_main(int (*main)(int, const char**), TwProgram& p) {
  return main(p.argument_count, const_cast<const char**>(p.arguments));
}

template <class Main>
void run_program(TwProgram& program, Main main) {
  cuda() = program.cuda;
  if (program.step == TwProgram::Define) {
    for (KernelRecord* k = KernelRecord::first(); k; k = k->next)
      program.cuda->define_kernel(k->stub, k->name.c_str(), k->entry);
    for (SymbolRecord* s = SymbolRecord::first(); s; s = s->next)
      program.cuda->define_symbol(s->shadow, s->name, s->bytes);
    return;
  }
  try {
    program.result = call_main(main, program);
    if (last_error().unseen_launch.size() > 0) program.unseen(last_error().unseen_launch.c_str());
  } catch (const std::exception& error) {
    program.has_failed = 1;
    program.fails(error.what());
  } catch (...) {
    program.has_failed = 1;
    program.fails("it threw something that is not a std::exception");
  }
}

}  // namespace tilewright_inline
