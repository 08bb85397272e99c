// SPDX-License-Identifier: Apache-2.0
// device_lib/emulate/cuda/types.cuh — vector types and their make_ functions.

#define TW_EMULATE_VECTOR(type, name, align2, align4) \
  struct name##1 {                                    \
    type x;                                           \
  };                                                  \
  struct alignas(align2) name##2 {                    \
    type x, y;                                        \
  };                                                  \
  struct name##3 {                                    \
    type x, y, z;                                     \
  };                                                  \
  struct alignas(align4) name##4 {                    \
    type x, y, z, w;                                  \
  };                                                  \
  TW_EMULATE_MAKE(type, name)

#define TW_EMULATE_MAKE(type, name)                                              \
  constexpr name##1 make_##name##1(type x) { return {x}; }                       \
  constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

struct uint1 {
  unsigned x;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
TW_EMULATE_MAKE(unsigned, uint)
TW_EMULATE_VECTOR(signed char, char, 2, 4)
TW_EMULATE_VECTOR(unsigned char, uchar, 2, 4)
TW_EMULATE_VECTOR(short, short, 4, 8)
TW_EMULATE_VECTOR(unsigned short, ushort, 4, 8)
TW_EMULATE_VECTOR(int, int, 8, 16)
TW_EMULATE_VECTOR(long, long, 16, 16)
TW_EMULATE_VECTOR(unsigned long, ulong, 16, 16)
TW_EMULATE_VECTOR(long long, longlong, 16, 16)
TW_EMULATE_VECTOR(unsigned long long, ulonglong, 16, 16)
TW_EMULATE_VECTOR(float, float, 8, 16)
TW_EMULATE_VECTOR(double, double, 16, 16)
#undef TW_EMULATE_MAKE
#undef TW_EMULATE_VECTOR
