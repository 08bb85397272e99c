// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/cuda_abi.h — the CUDA runtime as a whole program sees it: what the program's
// text asks of the library.
//
// Compiled into both sides. Every function answers with the number of a cudaError_t; nothing is
// thrown across. An interface of virtual functions only, so that the program needs no symbol of the
// library. All functions may be called from any thread of the program.
#pragma once

#include "load_inline/torch/abi.h"

enum TwMemoryKind : int { TwDeviceMemory, TwPinnedMemory, TwManagedMemory };

// What can be asked of a kernel.
enum TwKernelNumber : int {
  TwBlocksPerProcessor,  // with `threads` and `shared_bytes` per block
  TwRegisters,
  TwStaticSharedBytes,
  TwLocalBytes,
  TwConstantBytes,
  TwMaxThreads,
  TwBinaryVersion
};

struct TwCuda {
  // Of the last error of this thread: what was wrong, in a sentence.
  virtual const char* sentence() = 0;

  // Before main: the kernels that the program can launch, and its __device__ and __constant__
  // variables. `stub` and `shadow` are the addresses that the program's text knows them by.
  virtual void define_kernel(const void* stub, const char* name, void* entry) = 0;
  virtual void define_symbol(const void* shadow, const char* name, unsigned long bytes) = 0;

  virtual int allocate(void** address, unsigned long bytes, int memory_kind) = 0;
  virtual int release(void* address, int memory_kind) = 0;
  // Host memory of the program's own that the device may copy from and to asynchronously.
  virtual int pin(void* address, unsigned long bytes, unsigned flags) = 0;
  virtual int unpin(void* address) = 0;
  virtual int copy(void* to, const void* from, unsigned long bytes, int direction, void* stream,
                   int waits) = 0;
  virtual int fill(void* address, int value, unsigned long bytes, void* stream, int waits) = 0;
  virtual int symbol(const void* shadow, unsigned long bytes, void** address) = 0;
  virtual int memory(unsigned long* free, unsigned long* total) = 0;
  virtual int memory_kind(const void* address, int* kind) = 0;  // kind -1: ordinary host memory

  virtual int create_stream(void** stream, unsigned flags) = 0;
  virtual int destroy_stream(void* stream) = 0;
  virtual int synchronize_stream(void* stream) = 0;
  virtual int query_stream(void* stream) = 0;
  virtual int wait_event(void* stream, void* event) = 0;
  virtual int call_host(void* stream, void (*function)(void*), void* data) = 0;

  virtual int create_event(void** event, unsigned flags) = 0;
  virtual int destroy_event(void* event) = 0;
  virtual int record_event(void* event, void* stream) = 0;
  virtual int synchronize_event(void* event) = 0;
  virtual int query_event(void* event) = 0;
  virtual int elapsed(float* milliseconds, void* start, void* end) = 0;

  virtual int synchronize() = 0;
  virtual int device_count(int* count) = 0;
  virtual int set_device(int device) = 0;
  virtual int attribute(int* value, int what, int device) = 0;  // numbers of cudaDeviceAttr
  virtual int describe(char* name, unsigned long name_bytes, unsigned long* memory, int device) = 0;
  virtual int version(int* value) = 0;

  virtual int kernel_number(long* value, const void* stub, int what, int threads,
                            unsigned long shared_bytes) = 0;
  virtual int launch(const void* stub, const TwLaunch* request, int is_cooperative) = 0;

 protected:
  ~TwCuda() = default;
};

// What the entry of a program's text is given.
struct TwProgram {
  enum Step : int { Define, Main };
  int step;
  TwCuda* cuda;
  int argument_count;
  char** arguments;
  int result;                            // of main
  int has_failed;                        // main ended by an exception
  void (*fails)(const char* message);    // what it said
  void (*unseen)(const char* sentence);  // a launch failed, and the program never asked
};
