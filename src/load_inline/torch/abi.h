// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/abi.h — what passes between the library and host functions compiled at run
// time.
//
// Plain C structures and one table of functions, so that compiled code needs no symbol of the
// library and no C++ object or exception crosses. This file is compiled into both sides. On this
// side of the border a function reports failure by its result, and error() then has the sentence.
#pragma once

extern "C" {

// A tensor as compiled code sees it. Made and destroyed by the library; `refs` is changed with
// atomic operations only.
struct TwTensor {
  long refs;
  void* data;
  const long* sizes;
  const long* strides;
  long numel;
  int rank;
  int dtype;        // the number of a tilewright::DType
  int device_type;  // 0 cpu, 1 cuda: what the source is told, which under emulation is not where
                    // the memory is
  int device_index;
  int is_contiguous;
};

struct TwValue {
  enum Kind : int { None, Tensor, Number, Integer, Boolean, Text, Tensors, Integers, Numbers };
  int kind;
  long count;  // characters of Text, elements of a list
  double number;
  long integer;      // also Boolean
  const void* data;  // TwTensor*, char*, TwTensor* const*, const long*, const double*
};

struct TwLaunch {
  const char* kernel;  // a name expression
  void* entry;         // emulated: the kernel's CPU entry
  unsigned grid[3];
  unsigned block[3];
  unsigned long shared_bytes;
  void* stream;
  void** parameters;
  const unsigned long* parameter_bytes;
  long parameter_count;
};

// An operation on tensors by its name: "empty", "add", "transpose", ...
struct TwOperation {
  const char* name;
  TwTensor* const* tensors;
  long tensor_count;
  const long* integers;
  long integer_count;
  const double* numbers;
  long number_count;
};

struct TwHostApi {
  unsigned long size;
  const char* (*error)();
  void (*destroy)(TwTensor* tensor);
  TwTensor* (*operate)(const TwOperation* operation);            // null: error
  int (*item)(TwTensor* tensor, double* number, long* integer);  // 0: error, as below
  int (*launch)(const TwLaunch* launch);
  int (*synchronize)();
  void* (*current_stream)(int device);
  int (*allocate)(void** address, unsigned long bytes);  // cudaMalloc
  int (*release)(void* address);
  int (*copy)(void* to, const void* from, unsigned long bytes);  // any direction
  int (*fill)(void* address, int value, unsigned long bytes);
  // work(data, first, last) over [begin, end) in parts of at least `grain`, on all cores.
  int (*parallel)(long begin, long end, long grain, void (*work)(void* data, long first, long last),
                  void* data);
  int (*device_number)(int what);  // 0: device count, 1: multiprocessors, ...
  // Reports of one call; `call` is the TwCall's.
  void (*define)(void* call, const char* name, long parameter_count, long required_count);
  void (*wrong_argument)(void* call, long position, const char* expected);
  void (*returns)(void* call, const TwValue* value);
  void (*fails)(void* call, const char* message);
};

// What the one entry of a compiled host source is asked to do.
struct TwCall {
  const TwHostApi* api;
  void* call;
  long function;  // -1: define every function that is bound; else the number of one, in that order
  const TwValue* arguments;
  long argument_count;
};

}  // extern "C"
