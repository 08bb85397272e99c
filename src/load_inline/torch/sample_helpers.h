// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/sample_helpers.h — what programs use of helper_cuda.h, helper_string.h and
// helper_timer.h: checks, the device, options and timers.
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <chrono>
#include <string>

#include "load_inline/torch/cuda_program.h"

namespace tilewright_inline {
inline void check_call(cudaError_t code, const char* call, const char* file, int line) {
  if (code == cudaSuccess) return;
  fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, int(code),
          cudaGetErrorName(code), call);
  exit(EXIT_FAILURE);
}
inline void check_last(const char* message, const char* file, int line) {
  const cudaError_t code = cudaGetLastError();
  if (code == cudaSuccess) return;
  fprintf(stderr, "%s(%d): %s: (%d) %s\n", file, line, message, int(code),
          cudaGetErrorString(code));
  exit(EXIT_FAILURE);
}
// The value of "--name=value" or "-name=value"; null when there is no such option.
inline const char* option_value(int count, const char** words, const char* name) {
  for (int i = 1; i < count; ++i) {
    const char* word = words[i];
    while (*word == '-') ++word;
    const size_t size = strlen(name);
    if (word != words[i] && strncmp(word, name, size) == 0 &&
        (word[size] == '=' || word[size] == 0))
      return word + size + (word[size] == '=');
  }
  return nullptr;
}
}  // namespace tilewright_inline

#ifndef checkCudaErrors
#define checkCudaErrors(call) ::tilewright_inline::check_call((call), #call, __FILE__, __LINE__)
#endif
#define getLastCudaError(message) ::tilewright_inline::check_last(message, __FILE__, __LINE__)
#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

inline bool checkCmdLineFlag(int count, const char** words, const char* name) {
  return ::tilewright_inline::option_value(count, words, name) != nullptr;
}
inline int getCmdLineArgumentInt(int count, const char** words, const char* name) {
  const char* const value = ::tilewright_inline::option_value(count, words, name);
  return value ? atoi(value) : 0;
}
inline float getCmdLineArgumentFloat(int count, const char** words, const char* name) {
  const char* const value = ::tilewright_inline::option_value(count, words, name);
  return value ? float(atof(value)) : 0;
}
inline bool getCmdLineArgumentString(int count, const char** words, const char* name, char** out) {
  const char* const value = ::tilewright_inline::option_value(count, words, name);
  *out = const_cast<char*>(value);
  return value != nullptr;
}

inline int findCudaDevice(int count, const char** words) {
  const int device =
      checkCmdLineFlag(count, words, "device") ? getCmdLineArgumentInt(count, words, "device") : 0;
  checkCudaErrors(cudaSetDevice(device));
  cudaDeviceProp properties;
  checkCudaErrors(cudaGetDeviceProperties(&properties, device));
  printf("GPU Device %d: \"%s\" with compute capability %d.%d\n\n", device, properties.name,
         properties.major, properties.minor);
  return device;
}
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int gpuDeviceInit(int device) {
  checkCudaErrors(cudaSetDevice(device));
  return device;
}
inline bool checkCudaCapabilities(int major, int minor) {
  cudaDeviceProp properties;
  checkCudaErrors(cudaGetDeviceProperties(&properties, 0));
  return properties.major > major || (properties.major == major && properties.minor >= minor);
}

class StopWatchInterface {
 public:
  void start() { begin_ = now(); }
  void stop() {
    total_ += now() - begin_;
    ++sessions_;
  }
  void reset() {
    total_ = 0;
    sessions_ = 0;
    begin_ = now();
  }
  float getTime() const { return float(total_); }
  float getAverageTime() const { return sessions_ ? float(total_ / sessions_) : 0; }

 private:
  static double now() {
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  double begin_ = 0, total_ = 0;
  int sessions_ = 0;
};
inline bool sdkCreateTimer(StopWatchInterface** timer) {
  *timer = new StopWatchInterface;
  return true;
}
inline bool sdkDeleteTimer(StopWatchInterface** timer) {
  delete *timer;
  *timer = nullptr;
  return true;
}
inline bool sdkStartTimer(StopWatchInterface** timer) { return (*timer)->start(), true; }
inline bool sdkStopTimer(StopWatchInterface** timer) { return (*timer)->stop(), true; }
inline bool sdkResetTimer(StopWatchInterface** timer) { return (*timer)->reset(), true; }
inline float sdkGetTimerValue(StopWatchInterface** timer) { return (*timer)->getTime(); }
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) {
  return (*timer)->getAverageTime();
}

// The error of the whole array, relative to the reference.
inline bool sdkCompareL2fe(const float* reference, const float* data, unsigned count,
                           float epsilon) {
  double error = 0, norm = 0;
  for (unsigned i = 0; i < count; ++i) {
    const double d = double(reference[i]) - data[i];
    error += d * d;
    norm += double(reference[i]) * reference[i];
  }
  return norm > 0 && sqrt(error) / sqrt(norm) < epsilon;
}
