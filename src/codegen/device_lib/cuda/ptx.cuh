// SPDX-License-Identifier: Apache-2.0
// device_lib/cuda/ptx.cuh — every instruction that CUDA C++ has no name for, one function each.
// device_lib/emulate/cuda/ptx.cuh has the same functions for a CPU.

#define TW_DEVICE static __device__ __forceinline__

namespace tw {
namespace ptx {

// Whether an aligned word may be read when only some of it belongs to somebody.
constexpr bool reads_whole_words = true;

// The same value, of which the compiler knows nothing: what is computed from it is computed there.
TW_DEVICE int opaque(int x) {
  asm volatile("" : "+r"(x));
  return x;
}
template <class T>
TW_DEVICE T* opaque(T* p) {
  asm volatile("" : "+l"(p));
  return p;
}

// Ends the kernel with a fault: a store to nowhere, since ptxas spills in kernels that set their
// registers where it sees a trap, behind a branch or a predicate (tutorial 03 with roles: 596 bytes,
// 0.90 of cuBLAS instead of 1.02).
TW_DEVICE void fault_unless_positive(long long x) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      ".reg .b64 nowhere;\n"
      "setp.le.s64 p, %0, 0;\n"
      "mov.b64 nowhere, 0;\n"
      "@p st.global.b64 [nowhere], %0;\n"
      "}\n" ::"l"(x));
}

#define TW_UNARY(name, instruction)                      \
  TW_DEVICE float name(float x) {                        \
    float y;                                             \
    asm(instruction " %0, %1;" : "=f"(y) : "f"(x));      \
    return y;                                            \
  }
TW_UNARY(ex2, "ex2.approx.ftz.f32")      // about 2 ulp
TW_UNARY(lg2, "lg2.approx.ftz.f32")      // about 1 ulp away from 1
TW_UNARY(rcp, "rcp.approx.ftz.f32")      // 1 ulp
TW_UNARY(rsqrt, "rsqrt.approx.ftz.f32")  // 1 ulp
TW_UNARY(sqrt, "sqrt.approx.ftz.f32")    // 1 ulp
#undef TW_UNARY

// 2 ulp over the whole range of y in 2^-126 .. 2^126.
TW_DEVICE float div_full(float x, float y) {
  float q;
  asm("div.full.f32 %0, %1, %2;" : "=f"(q) : "f"(x), "f"(y));
  return q;
}

// Quotient and remainder by the machine's own code, which divides magnitudes: -2^31 / -1 is -2^31,
// and anything may come where b is 0. Conditions around C++'s operators would keep the compiler from
// making only once what many quotients by one divisor share (Liger's group norm: 17 inverses).
TW_DEVICE int divide_magnitudes(int a, int b) {
  int q;
  asm("div.s32 %0, %1, %2;" : "=r"(q) : "r"(a), "r"(b));
  return q;
}
TW_DEVICE int remainder_of_magnitudes(int a, int b) {
  int r;
  asm("rem.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

// Divides many numbers by one, by the steps of div_full: its bits where nothing is fused with it.
struct Divisor {
  float scale, inverse;
  __device__ __forceinline__ explicit Divisor(float y) {
    const float size = y < 0.0f ? -y : y;
    scale = size > 0x1p126f ? 0.25f : size < 0x1p-126f ? 0x1p24f : 1.0f;
    inverse = rcp(y * scale);
  }
  __device__ __forceinline__ float divide(float x) const { return x * scale * inverse; }
};

// NaN where one of them is.
#if __CUDA_ARCH__ >= 800
TW_DEVICE float max_nan(float x, float y) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(x), "f"(y));
  return larger;
}
TW_DEVICE float min_nan(float x, float y) {
  float smaller;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(smaller) : "f"(x), "f"(y));
  return smaller;
}
#else
TW_DEVICE float max_nan(float x, float y) { return x != x ? x : y != y ? y : fmaxf(x, y); }
TW_DEVICE float min_nan(float x, float y) { return x != x ? x : y != y ? y : fminf(x, y); }
#endif

TW_DEVICE unsigned short f32_to_f16(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
TW_DEVICE unsigned short f32_to_f16_rtz(float x) {
  unsigned short bits;
  asm("cvt.rz.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
TW_DEVICE unsigned short f64_to_f16(double x) {
  unsigned short bits;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x));
  return bits;
}
TW_DEVICE float f16_to_f32(unsigned short bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
TW_DEVICE unsigned short f32_to_bf16(float x) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

// ---- a + b, a - b, a * b and a * b + c of 16-bit floats, rounded once. `otherwise` computes it
// where the processor has no such instruction. A detour by f32 has a conversion for each result,
// which of a single bf16 is made by the slow unit.

#if __CUDA_ARCH__ >= 900
#define TW_BF16_ARITHMETIC(op)                                  \
  unsigned short bits;                                          \
  asm(op ".rn.bf16 %0, %1, %2;" : "=h"(bits) : "h"(a), "h"(b)); \
  return bits
#else
#define TW_BF16_ARITHMETIC(op) return otherwise()
#endif
#define TW_SHORT_ARITHMETIC(name, op)                                                             \
  template <class Otherwise>                                                                      \
  TW_DEVICE unsigned short name##_f16(unsigned short a, unsigned short b, Otherwise) {            \
    unsigned short bits;                                                                          \
    asm(op ".rn.f16 %0, %1, %2;" : "=h"(bits) : "h"(a), "h"(b));                                  \
    return bits;                                                                                  \
  }                                                                                               \
  template <class Otherwise>                                                                      \
  TW_DEVICE unsigned short name##_bf16(unsigned short a, unsigned short b, Otherwise otherwise) { \
    TW_BF16_ARITHMETIC(op);                                                                       \
  }
TW_SHORT_ARITHMETIC(plus, "add")
TW_SHORT_ARITHMETIC(minus, "sub")
TW_SHORT_ARITHMETIC(times, "mul")
#undef TW_SHORT_ARITHMETIC
#undef TW_BF16_ARITHMETIC

template <class Otherwise>
TW_DEVICE unsigned short fma_f16(unsigned short a, unsigned short b, unsigned short c, Otherwise) {
  unsigned short bits;
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(bits) : "h"(a), "h"(b), "h"(c));
  return bits;
}
template <class Otherwise>
TW_DEVICE unsigned short fma_bf16(unsigned short a, unsigned short b, unsigned short c,
                                  Otherwise otherwise) {
#if __CUDA_ARCH__ >= 800
  unsigned short bits;
  asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(bits) : "h"(a), "h"(b), "h"(c));
  return bits;
#else
  return otherwise();
#endif
}

// ---- Loads that say how long the line is wanted.

#define TW_EVICT_LOADS(name, level)                                                            \
  TW_DEVICE uint4 name(const uint4* p) {                                                       \
    uint4 v;                                                                                   \
    asm volatile("ld.global.L1::" level ".v4.b32 {%0, %1, %2, %3}, [%4];"                      \
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)                                  \
                 : "l"(p)                                                                      \
                 : "memory");                                                                  \
    return v;                                                                                  \
  }                                                                                            \
  TW_DEVICE uint2 name(const uint2* p) {                                                       \
    uint2 v;                                                                                   \
    asm volatile("ld.global.L1::" level ".v2.b32 {%0, %1}, [%2];"                              \
                 : "=r"(v.x), "=r"(v.y)                                                        \
                 : "l"(p)                                                                      \
                 : "memory");                                                                  \
    return v;                                                                                  \
  }                                                                                            \
  TW_DEVICE unsigned name(const unsigned* p) {                                                 \
    unsigned v;                                                                                \
    asm volatile("ld.global.L1::" level ".b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");       \
    return v;                                                                                  \
  }                                                                                            \
  TW_DEVICE unsigned short name(const unsigned short* p) {                                     \
    unsigned short v;                                                                          \
    asm volatile("ld.global.L1::" level ".b16 %0, [%1];" : "=h"(v) : "l"(p) : "memory");       \
    return v;                                                                                  \
  }                                                                                            \
  TW_DEVICE unsigned char name(const unsigned char* p) {                                       \
    unsigned v;                                                                                \
    asm volatile("ld.global.L1::" level ".b8 %0, [%1];" : "=r"(v) : "l"(p) : "memory");        \
    return (unsigned char)v;                                                                   \
  }
TW_EVICT_LOADS(load_evict_first, "evict_first")
TW_EVICT_LOADS(load_evict_last, "evict_last")
#undef TW_EVICT_LOADS

// ---- Loads whose lines leave L2 last, of data that is read once: what is written meanwhile leaves
// first then, and reaches memory in the order of its rows. `v` stays as it is unless `is_wanted`;
// a branch around the load would keep the loads of a thread apart.

TW_DEVICE unsigned long long leave_last() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
TW_DEVICE void load_lingering(uint4& v, const uint4* p, bool is_wanted) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %6, 0;"
      " @p ld.global.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5; }"
      : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w)
      : "l"(p), "l"(leave_last()), "r"(int(is_wanted))
      : "memory");
}
TW_DEVICE void load_lingering(uint2& v, const uint2* p, bool is_wanted) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %4, 0;"
      " @p ld.global.L2::cache_hint.v2.b32 {%0, %1}, [%2], %3; }"
      : "+r"(v.x), "+r"(v.y)
      : "l"(p), "l"(leave_last()), "r"(int(is_wanted))
      : "memory");
}
TW_DEVICE void load_lingering(unsigned& v, const unsigned* p, bool is_wanted) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %3, 0; @p ld.global.L2::cache_hint.b32 %0, [%1], %2; }"
      : "+r"(v)
      : "l"(p), "l"(leave_last()), "r"(int(is_wanted))
      : "memory");
}
TW_DEVICE void load_lingering(unsigned short& v, const unsigned short* p, bool is_wanted) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %3, 0; @p ld.global.L2::cache_hint.b16 %0, [%1], %2; }"
      : "+h"(v)
      : "l"(p), "l"(leave_last()), "r"(int(is_wanted))
      : "memory");
}
// Bytes come one by one only at the ends of rows: as usual.
TW_DEVICE void load_lingering(unsigned char& v, const unsigned char* p, bool is_wanted) {
  if (is_wanted) v = *p;
}

// ---- Words that the compiler must not see as parts.

TW_DEVICE void keep_whole(uint4& v) {
  asm("" : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w));
}
TW_DEVICE void keep_whole(uint2& v) { asm("" : "+r"(v.x), "+r"(v.y)); }
TW_DEVICE void keep_whole(unsigned& v) { asm("" : "+r"(v)); }
TW_DEVICE void keep_whole(unsigned short&) {}
TW_DEVICE void keep_whole(unsigned char&) {}

// ---- Stores to global memory that stay whole: the compiler takes its own apart where the words are
// computed one by one.

TW_DEVICE void store_whole(uint4* p, uint4 v) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z),
               "r"(v.w)
               : "memory");
}
TW_DEVICE void store_whole(uint2* p, uint2 v) {
  asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(p), "r"(v.x), "r"(v.y) : "memory");
}
template <class T>
TW_DEVICE void store_whole(T* p, T value) {
  *p = value;
}
// Under a predicate: behind a branch the compiler would compute the address anew for every vector.
TW_DEVICE void store_whole_if(uint4* p, uint4 v, bool is_wanted) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %5, 0; @p st.global.v4.b32 [%0], {%1, %2, %3, %4}; }" ::"l"(p),
      "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(int(is_wanted))
      : "memory");
}
TW_DEVICE void store_whole_if(uint2* p, uint2 v, bool is_wanted) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %3, 0; @p st.global.v2.b32 [%0], {%1, %2}; }" ::"l"(p),
               "r"(v.x), "r"(v.y), "r"(int(is_wanted))
               : "memory");
}
template <class T>
TW_DEVICE void store_whole_if(T* p, T value, bool is_wanted) {
  if (is_wanted) *p = value;
}

// ---- Atomics on global memory that order other accesses. `Scope`: 0 block, 1 device, 2 system.

template <int Scope>
TW_DEVICE void fence() {
  if constexpr (Scope == 0) asm volatile("fence.acq_rel.cta;" ::: "memory");
  else if constexpr (Scope == 1) asm volatile("fence.acq_rel.gpu;" ::: "memory");
  else asm volatile("fence.acq_rel.sys;" ::: "memory");
}

#define TW_ATOM(name, order, type, constraint, instruction)                                      \
  template <int Scope>                                                                           \
  TW_DEVICE type name(type* p, type value) {                                                     \
    type old;                                                                                    \
    if constexpr (Scope == 0)                                                                    \
      asm volatile("atom." order ".cta.global." instruction " %0, [%1], %2;"                     \
                   : "=" constraint(old)                                                         \
                   : "l"(p), constraint(value)                                                   \
                   : "memory");                                                                  \
    else if constexpr (Scope == 1)                                                               \
      asm volatile("atom." order ".gpu.global." instruction " %0, [%1], %2;"                     \
                   : "=" constraint(old)                                                         \
                   : "l"(p), constraint(value)                                                   \
                   : "memory");                                                                  \
    else                                                                                         \
      asm volatile("atom." order ".sys.global." instruction " %0, [%1], %2;"                     \
                   : "=" constraint(old)                                                         \
                   : "l"(p), constraint(value)                                                   \
                   : "memory");                                                                  \
    return old;                                                                                  \
  }
TW_ATOM(atom_add_f16x2, "acq_rel", unsigned, "r", "add.noftz.f16x2")
TW_ATOM(relaxed_add_f16x2, "relaxed", unsigned, "r", "add.noftz.f16x2")
TW_ATOM(atom_add_bf16x2, "acq_rel", unsigned, "r", "add.noftz.bf16x2")  // from sm_90 on
TW_ATOM(relaxed_add_bf16x2, "relaxed", unsigned, "r", "add.noftz.bf16x2")
TW_ATOM(atom_add, "acq_rel", float, "f", "add.f32")
TW_ATOM(atom_add, "acq_rel", double, "d", "add.f64")
TW_ATOM(atom_add, "acq_rel", unsigned, "r", "add.u32")
TW_ATOM(atom_add, "acq_rel", unsigned long long, "l", "add.u64")
TW_ATOM(atom_min, "acq_rel", int, "r", "min.s32")
TW_ATOM(atom_min, "acq_rel", unsigned, "r", "min.u32")
TW_ATOM(atom_min, "acq_rel", long long, "l", "min.s64")
TW_ATOM(atom_min, "acq_rel", unsigned long long, "l", "min.u64")
TW_ATOM(atom_max, "acq_rel", int, "r", "max.s32")
TW_ATOM(atom_max, "acq_rel", unsigned, "r", "max.u32")
TW_ATOM(atom_max, "acq_rel", long long, "l", "max.s64")
TW_ATOM(atom_max, "acq_rel", unsigned long long, "l", "max.u64")
TW_ATOM(atom_and, "acq_rel", unsigned, "r", "and.b32")
TW_ATOM(atom_and, "acq_rel", unsigned long long, "l", "and.b64")
TW_ATOM(atom_or, "acq_rel", unsigned, "r", "or.b32")
TW_ATOM(atom_or, "acq_rel", unsigned long long, "l", "or.b64")
TW_ATOM(atom_xor, "acq_rel", unsigned, "r", "xor.b32")
TW_ATOM(atom_xor, "acq_rel", unsigned long long, "l", "xor.b64")
TW_ATOM(atom_exch, "acq_rel", unsigned, "r", "exch.b32")
TW_ATOM(atom_exch, "acq_rel", unsigned long long, "l", "exch.b64")
#undef TW_ATOM

#define TW_ATOM_CAS(name, order, type, constraint, instruction)                                  \
  template <int Scope>                                                                           \
  TW_DEVICE type name(type* p, type expected, type value) {                                      \
    type old;                                                                                    \
    if constexpr (Scope == 0)                                                                    \
      asm volatile("atom." order ".cta.global." instruction " %0, [%1], %2, %3;"                 \
                   : "=" constraint(old)                                                         \
                   : "l"(p), constraint(expected), constraint(value)                             \
                   : "memory");                                                                  \
    else if constexpr (Scope == 1)                                                               \
      asm volatile("atom." order ".gpu.global." instruction " %0, [%1], %2, %3;"                 \
                   : "=" constraint(old)                                                         \
                   : "l"(p), constraint(expected), constraint(value)                             \
                   : "memory");                                                                  \
    else                                                                                         \
      asm volatile("atom." order ".sys.global." instruction " %0, [%1], %2, %3;"                 \
                   : "=" constraint(old)                                                         \
                   : "l"(p), constraint(expected), constraint(value)                             \
                   : "memory");                                                                  \
    return old;                                                                                  \
  }
TW_ATOM_CAS(atom_cas, "acq_rel", unsigned short, "h", "cas.b16")
TW_ATOM_CAS(atom_cas, "acq_rel", unsigned, "r", "cas.b32")
TW_ATOM_CAS(atom_cas, "acq_rel", unsigned long long, "l", "cas.b64")
TW_ATOM_CAS(acquire_cas, "acquire", unsigned short, "h", "cas.b16")
TW_ATOM_CAS(acquire_cas, "acquire", unsigned, "r", "cas.b32")
TW_ATOM_CAS(acquire_cas, "acquire", unsigned long long, "l", "cas.b64")
#undef TW_ATOM_CAS

// Adds to one half of a pair, and -0 to the other one, which leaves it as it is. The processor adds
// pairs; a single float of 16 bits goes round a loop of exchanges of the same pair.
template <class Add>
TW_DEVICE unsigned short add_half(unsigned short* p, unsigned short value, Add add) {
  const bool is_high = reinterpret_cast<unsigned long long>(p) % 4 != 0;
  const unsigned values = is_high ? unsigned(value) << 16 | 0x8000u : 0x80000000u | value;
  const unsigned old = add(reinterpret_cast<unsigned*>(p - (is_high ? 1 : 0)), values);
  return static_cast<unsigned short>(is_high ? old >> 16 : old);
}
// Adds to a 16-bit float. `otherwise` does it where the processor has no such instruction.
template <int Scope, bool IsOrdered, class Otherwise>
TW_DEVICE unsigned short add_one_f16(unsigned short* p, unsigned short value, Otherwise) {
  return add_half(p, value, [](unsigned* pair, unsigned values) {
    if constexpr (IsOrdered) return atom_add_f16x2<Scope>(pair, values);
    else return relaxed_add_f16x2<Scope>(pair, values);
  });
}
template <int Scope, bool IsOrdered, class Otherwise>
TW_DEVICE unsigned short add_one_bf16(unsigned short* p, unsigned short value,
                                      Otherwise otherwise) {
#if __CUDA_ARCH__ >= 900
  return add_half(p, value, [](unsigned* pair, unsigned values) {
    if constexpr (IsOrdered) return atom_add_bf16x2<Scope>(pair, values);
    else return relaxed_add_bf16x2<Scope>(pair, values);
  });
#else
  return otherwise();
#endif
}

// ---- Sums onto `Count` neighbours in global memory by one instruction without an order, from sm_90
// on. `one` adds one element where there is no such instruction.

#define TW_RED(instruction, ...)                                                                 \
  if constexpr (Scope == 0)                                                                      \
    asm volatile("red.relaxed.cta.global." instruction ";" ::__VA_ARGS__ : "memory");            \
  else if constexpr (Scope == 1)                                                                 \
    asm volatile("red.relaxed.gpu.global." instruction ";" ::__VA_ARGS__ : "memory");            \
  else asm volatile("red.relaxed.sys.global." instruction ";" ::__VA_ARGS__ : "memory");

template <int Scope, int Count, class One>
TW_DEVICE void add_f32(float* p, const float* v, One one) {
  if constexpr (Count == 4) {
    TW_RED("add.v4.f32 [%0], {%1, %2, %3, %4}", "l"(p), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]))
  } else if constexpr (Count == 2) {
    TW_RED("add.v2.f32 [%0], {%1, %2}", "l"(p), "f"(v[0]), "f"(v[1]))
  } else one(0);
}

#define TW_RED_PAIRS(name, type)                                                                 \
  template <int Scope, int Count, class One>                                                     \
  TW_DEVICE void name(unsigned short* p, const unsigned short* v, One one) {                     \
    unsigned w[Count / 2 + 1];                                                                   \
    _Pragma("unroll") for (int i = 0; i < Count / 2; ++i) w[i] = v[2 * i] | v[2 * i + 1] << 16;  \
    if constexpr (Count == 8) {                                                                  \
      TW_RED("add.noftz.v4." type " [%0], {%1, %2, %3, %4}", "l"(p), "r"(w[0]), "r"(w[1]),       \
             "r"(w[2]), "r"(w[3]))                                                               \
    } else if constexpr (Count == 4) {                                                           \
      TW_RED("add.noftz.v2." type " [%0], {%1, %2}", "l"(p), "r"(w[0]), "r"(w[1]))               \
    } else if constexpr (Count == 2) {                                                           \
      TW_RED("add.noftz." type " [%0], %1", "l"(p), "r"(w[0]))                                   \
    } else one(0);                                                                               \
  }
TW_RED_PAIRS(add_f16, "f16x2")
TW_RED_PAIRS(add_bf16, "bf16x2")
#undef TW_RED_PAIRS
#undef TW_RED

}  // namespace ptx
}  // namespace tw
