// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/core.h — the small parts of the torch-shaped header: text, errors, checks,
// types, devices, options.
//
// Written for compile time: it includes nothing of the standard library but std::exception and
// std::initializer_list, and takes std::string, std::vector and friends as they come (their own
// header is in front where the source uses them).
#pragma once

#include "load_inline/torch/abi.h"
#include "load_inline/torch/small_floats.h"

#if __has_include(<bits/exception.h>)
#include <bits/exception.h>
#else
#include <exception>
#endif
#include <initializer_list>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif

#define TORCH_EXTENSION_NAME tilewright_extension
#define C10_LIKELY(x) (__builtin_expect(static_cast<bool>(x), 1))
#define C10_UNLIKELY(x) (__builtin_expect(static_cast<bool>(x), 0))

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;

namespace std {
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
}  // namespace std

namespace tilewright_inline {

inline const TwHostApi*& api() {
  static const TwHostApi* table = nullptr;
  return table;
}

template <class T>
struct Plain {
  using type = T;
};
template <class T>
struct Plain<T&> {
  using type = T;
};
template <class T>
struct Plain<T&&> {
  using type = T;
};
template <class T>
struct Plain<const T> {
  using type = T;
};
template <class T>
struct Plain<const T&> {
  using type = T;
};
template <class T>
using plain = typename Plain<T>::type;

template <bool B>
struct Flag {
  static constexpr bool value = B;
};
template <class T>
struct IsInteger : Flag<false> {};
template <class T>
struct IsFloating : Flag<false> {};
template <>
struct IsInteger<char> : Flag<true> {};
template <>
struct IsInteger<signed char> : Flag<true> {};
template <>
struct IsInteger<unsigned char> : Flag<true> {};
template <>
struct IsInteger<short> : Flag<true> {};
template <>
struct IsInteger<unsigned short> : Flag<true> {};
template <>
struct IsInteger<int> : Flag<true> {};
template <>
struct IsInteger<unsigned> : Flag<true> {};
template <>
struct IsInteger<long> : Flag<true> {};
template <>
struct IsInteger<unsigned long> : Flag<true> {};
template <>
struct IsInteger<long long> : Flag<true> {};
template <>
struct IsInteger<unsigned long long> : Flag<true> {};
template <>
struct IsFloating<float> : Flag<true> {};
template <>
struct IsFloating<double> : Flag<true> {};
template <bool B, class T = void>
struct EnableIf {};
template <class T>
struct EnableIf<true, T> {
  using type = T;
};

// Builds messages: numbers, strings of any kind, and whatever has a `write_to(Text&)`.
class Text {
 public:
  Text() = default;
  Text(const Text& other) { add(other.c_str()); }
  Text& operator=(const Text&) = delete;
  ~Text() { delete[] data_; }
  const char* c_str() const { return data_ ? data_ : ""; }
  unsigned long size() const { return size_; }
  void clear() {
    size_ = 0;
    if (data_) data_[0] = 0;
  }

  Text& add(const char* text) { return add(text, __builtin_strlen(text)); }
  Text& add(const char* text, unsigned long size) {
    if (size_ + size + 1 > capacity_) {
      capacity_ = 2 * (size_ + size) + 64;
      char* larger = new char[capacity_];
      if (data_) __builtin_memcpy(larger, data_, size_);
      delete[] data_;
      data_ = larger;
    }
    __builtin_memcpy(data_ + size_, text, size);
    size_ += size;
    data_[size_] = 0;
    return *this;
  }
  Text& add_integer(long value) {
    char digits[32];
    return add(digits,
               static_cast<unsigned long>(__builtin_snprintf(digits, sizeof digits, "%ld", value)));
  }
  Text& add_unsigned(unsigned long value) {
    char digits[32];
    return add(digits,
               static_cast<unsigned long>(__builtin_snprintf(digits, sizeof digits, "%lu", value)));
  }
  Text& add_number(double value) {
    char digits[48];
    return add(digits,
               static_cast<unsigned long>(__builtin_snprintf(digits, sizeof digits, "%g", value)));
  }

 private:
  char* data_ = nullptr;
  unsigned long size_ = 0;
  unsigned long capacity_ = 0;
};

template <class T>
auto write(Text& out, const T& value, int) -> decltype(value.write_to(out), void()) {
  value.write_to(out);
}
template <class T>
auto write(Text& out, const T& value, int) -> decltype(value.c_str(), void()) {
  out.add(value.c_str(), value.size());
}
template <class T>
typename EnableIf<IsFloating<T>::value>::type write(Text& out, T value, int) {
  out.add_number(value);
}
template <class T>
typename EnableIf<IsInteger<T>::value>::type write(Text& out, T value, int) {
  if (T(-1) < T(0)) out.add_integer(static_cast<long>(value));
  else out.add_unsigned(static_cast<unsigned long>(value));
}
inline void write(Text& out, const char* value, int) { out.add(value); }
inline void write(Text& out, bool value, int) { out.add(value ? "true" : "false"); }
inline void write(Text& out, char value, int) { out.add(&value, 1); }
template <class T>
void write(Text& out, const T&, long) {
  out.add("?");
}  // a type that only a std::ostream could print

}  // namespace tilewright_inline

namespace c10 {

class Error : public std::exception {
 public:
  explicit Error(const ::tilewright_inline::Text& message) : message_(message) {}
  const char* what() const noexcept override { return message_.c_str(); }
  const char* what_without_backtrace() const noexcept { return message_.c_str(); }

 private:
  ::tilewright_inline::Text message_;
};
using IndexError = Error;
using ValueError = Error;

}  // namespace c10

namespace tilewright_inline {

// The last thing that the library refused, as an exception of the source's own kind.
[[noreturn]] inline void throw_api_error() {
  Text text;
  text.add(api()->error());
  throw c10::Error(text);
}

template <class... Parts>
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const Parts&... parts) {
  Text text;
  (write(text, parts, 0), ...);
  if (sizeof...(Parts) == 0) text.add("expected ").add(condition);
  text.add(" (").add(file).add(":").add_integer(line).add(")");
  throw c10::Error(text);
}

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  Text text;
  (write(text, parts, 0), ...);
  throw c10::Error(text);
}

}  // namespace tilewright_inline

// Checks of our own headers: their place would not help the user.
#define TW_REQUIRE(condition, ...)                                            \
  do {                                                                        \
    if (C10_UNLIKELY(!(condition))) ::tilewright_inline::refuse(__VA_ARGS__); \
  } while (false)

#define TORCH_CHECK(condition, ...)                                                     \
  do {                                                                                  \
    if (C10_UNLIKELY(!(condition)))                                                     \
      ::tilewright_inline::check_failed(__FILE__, __LINE__, #condition, ##__VA_ARGS__); \
  } while (false)
#define TORCH_CHECK_WITH(kind, condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE TORCH_CHECK
#define TORCH_CHECK_INDEX TORCH_CHECK
#define TORCH_CHECK_TYPE TORCH_CHECK
#define TORCH_CHECK_NOT_IMPLEMENTED TORCH_CHECK
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY TORCH_CHECK
#define AT_ASSERT TORCH_CHECK
#define AT_ASSERTM TORCH_CHECK
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b))
#define TORCH_CHECK_NE(a, b) TORCH_CHECK((a) != (b))
#define TORCH_CHECK_LT(a, b) TORCH_CHECK((a) < (b))
#define TORCH_CHECK_LE(a, b) TORCH_CHECK((a) <= (b))
#define TORCH_CHECK_GT(a, b) TORCH_CHECK((a) > (b))
#define TORCH_CHECK_GE(a, b) TORCH_CHECK((a) >= (b))
#define AT_ERROR(...) \
  ::tilewright_inline::check_failed(__FILE__, __LINE__, "an error", ##__VA_ARGS__)
#define TORCH_WARN(...) \
  do {                  \
  } while (false)
#define TORCH_WARN_ONCE TORCH_WARN

namespace c10 {

enum class ScalarType : signed char {
  Double,
  Float,
  Half,
  BFloat16,
  Float8_e4m3fn,
  Float8_e5m2,
  Char,
  Short,
  Int,
  Long,
  Byte,
  UInt16,
  UInt32,
  UInt64,
  Bool,
  Undefined = 127,
};
constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = ScalarType::Double,
                     kFloat = ScalarType::Float, kFloat32 = ScalarType::Float,
                     kHalf = ScalarType::Half, kFloat16 = ScalarType::Half,
                     kBFloat16 = ScalarType::BFloat16, kFloat8_e4m3fn = ScalarType::Float8_e4m3fn,
                     kFloat8_e5m2 = ScalarType::Float8_e5m2, kChar = ScalarType::Char,
                     kInt8 = ScalarType::Char, kShort = ScalarType::Short,
                     kInt16 = ScalarType::Short, kInt = ScalarType::Int, kInt32 = ScalarType::Int,
                     kLong = ScalarType::Long, kInt64 = ScalarType::Long, kByte = ScalarType::Byte,
                     kUInt8 = ScalarType::Byte, kUInt16 = ScalarType::UInt16,
                     kUInt32 = ScalarType::UInt32, kUInt64 = ScalarType::UInt64,
                     kBool = ScalarType::Bool;

inline const char* toString(ScalarType type) {
  constexpr const char* names[] = {"Double",      "Float",  "Half",   "BFloat16", "Float8_e4m3fn",
                                   "Float8_e5m2", "Char",   "Short",  "Int",      "Long",
                                   "Byte",        "UInt16", "UInt32", "UInt64",   "Bool"};
  return type == ScalarType::Undefined ? "Undefined" : names[static_cast<int>(type)];
}
inline long elementSize(ScalarType type) {
  constexpr long sizes[] = {8, 4, 2, 2, 1, 1, 1, 2, 4, 8, 1, 2, 4, 8, 1};
  return sizes[static_cast<int>(type)];
}
inline bool isFloatingType(ScalarType type) { return static_cast<int>(type) <= 5; }
inline bool isIntegralType(ScalarType type, bool with_bool = false) {
  return (static_cast<int>(type) > 5 && static_cast<int>(type) < 14) ||
         (with_bool && type == kBool);
}

template <class T>
struct CppTypeToScalarType;
#define TW_SCALAR_TYPE(T, name)                           \
  template <>                                             \
  struct CppTypeToScalarType<T> {                         \
    static constexpr ScalarType value = ScalarType::name; \
  };
TW_SCALAR_TYPE(double, Double)
TW_SCALAR_TYPE(float, Float)
TW_SCALAR_TYPE(Half, Half) TW_SCALAR_TYPE(BFloat16, BFloat16) TW_SCALAR_TYPE(signed char, Char)
    TW_SCALAR_TYPE(char, Char) TW_SCALAR_TYPE(short, Short) TW_SCALAR_TYPE(int, Int)
        TW_SCALAR_TYPE(long, Long) TW_SCALAR_TYPE(long long, Long)
            TW_SCALAR_TYPE(unsigned char, Byte) TW_SCALAR_TYPE(unsigned short, UInt16)
                TW_SCALAR_TYPE(unsigned, UInt32) TW_SCALAR_TYPE(unsigned long, UInt64)
                    TW_SCALAR_TYPE(unsigned long long, UInt64) TW_SCALAR_TYPE(bool, Bool)
#undef TW_SCALAR_TYPE

                        enum class DeviceType : signed char {
                          CPU = 0,
                          CUDA = 1
                        };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
using DeviceIndex = signed char;

class Device {
 public:
  Device(DeviceType type, int index = -1) : type_(type), index_(index) {}
  Device(const char* name) : type_(name[1] == 'u' ? kCUDA : kCPU), index_(-1) {
    if (type_ == kCUDA && name[4] == ':') index_ = name[5] - '0';
  }
  DeviceType type() const { return type_; }
  int index() const { return index_; }
  bool has_index() const { return index_ >= 0; }
  bool is_cuda() const { return type_ == kCUDA; }
  bool is_cpu() const { return type_ == kCPU; }
  bool operator==(const Device& other) const {
    return type_ == other.type_ && index_ == other.index_;
  }
  bool operator!=(const Device& other) const { return !(*this == other); }
  void write_to(::tilewright_inline::Text& out) const {
    out.add(type_ == kCUDA ? "cuda" : "cpu");
    if (index_ >= 0) out.add(":").add_integer(index_);
  }

 private:
  DeviceType type_;
  int index_;
};

struct MemoryFormat {
  int number;
  static const MemoryFormat Contiguous, Preserve;
};
inline constexpr MemoryFormat MemoryFormat::Contiguous{0}, MemoryFormat::Preserve{1};
constexpr int kStrided = 0;

class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType dtype) : dtype_(dtype) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType device) : device_(device) {}
  TensorOptions dtype(ScalarType value) const {
    TensorOptions o = *this;
    o.dtype_ = value;
    o.has_dtype_ = true;
    return o;
  }
  TensorOptions device(Device value) const {
    TensorOptions o = *this;
    o.device_ = value;
    return o;
  }
  TensorOptions device(DeviceType type, int index) const { return device(Device(type, index)); }
  TensorOptions requires_grad(bool = true) const { return *this; }
  TensorOptions layout(int) const { return *this; }
  TensorOptions memory_format(MemoryFormat) const { return *this; }
  TensorOptions pinned_memory(bool) const { return *this; }
  ScalarType dtype() const { return dtype_; }
  Device device() const { return device_; }
  bool has_dtype() const { return has_dtype_; }

 private:
  ScalarType dtype_ = kFloat;
  Device device_ = kCPU;
  bool has_dtype_ = false;
};
inline TensorOptions dtype(ScalarType type) { return TensorOptions().dtype(type); }
inline TensorOptions device(Device place) { return TensorOptions().device(place); }
inline TensorOptions requires_grad(bool = true) { return {}; }

// A view of values somewhere else: braces, an array, a vector.
template <class T>
class ArrayRef {
 public:
  ArrayRef() = default;
  ArrayRef(const T* data, unsigned long size) : data_(data), size_(size) {}
  ArrayRef(const T& value) : data_(&value), size_(1) {}
  ArrayRef(std::initializer_list<T> values) : data_(values.begin()), size_(values.size()) {}
  template <class List,
            class = decltype(static_cast<const T*>(static_cast<const List*>(nullptr)->data()))>
  ArrayRef(const List& list) : data_(list.data()), size_(list.size()) {}
  const T* data() const { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  unsigned long size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](unsigned long i) const { return data_[i]; }
  const T& at(unsigned long i) const {
    TW_REQUIRE(i < size_, "index ", i, " of a list of ", size_);
    return data_[i];
  }
  const T& front() const { return data_[0]; }
  const T& back() const { return data_[size_ - 1]; }
  ArrayRef slice(unsigned long from, unsigned long count) const { return {data_ + from, count}; }
  ArrayRef slice(unsigned long from) const { return {data_ + from, size_ - from}; }
  bool equals(ArrayRef other) const { return *this == other; }
#ifdef TW_WITH_VECTOR
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
#endif
  friend bool operator==(ArrayRef a, ArrayRef b) {
    if (a.size_ != b.size_) return false;
    for (unsigned long i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }
  friend bool operator!=(ArrayRef a, ArrayRef b) { return !(a == b); }
  void write_to(::tilewright_inline::Text& out) const {
    out.add("[");
    for (unsigned long i = 0; i < size_; ++i) {
      if (i) out.add(", ");
      ::tilewright_inline::write(out, data_[i], 0);
    }
    out.add("]");
  }

 private:
  const T* data_ = nullptr;
  unsigned long size_ = 0;
};
using IntArrayRef = ArrayRef<long>;

// A number of either kind.
class Scalar {
 public:
  Scalar(double value) : number_(value), integer_(static_cast<long>(value)) {}
  Scalar(float value) : Scalar(static_cast<double>(value)) {}
  Scalar(long value) : number_(static_cast<double>(value)), integer_(value), is_integer_(true) {}
  Scalar(int value) : Scalar(static_cast<long>(value)) {}
  Scalar(bool value) : Scalar(static_cast<long>(value)) {}
  template <class T>
  T to() const {
    return is_integer_ ? static_cast<T>(integer_) : static_cast<T>(number_);
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  long toLong() const { return to<long>(); }
  int toInt() const { return to<int>(); }
  bool isFloatingPoint() const { return !is_integer_; }

 private:
  double number_;
  long integer_;
  bool is_integer_ = false;
};

}  // namespace c10

#ifdef TW_WITH_OPTIONAL
namespace c10 {
using std::nullopt;
using std::nullopt_t;
using std::optional;
}  // namespace c10
#endif

namespace tilewright_inline {
inline void write(Text& out, c10::ScalarType value, int) { out.add(c10::toString(value)); }
inline void write(Text& out, c10::DeviceType value, int) {
  out.add(value == c10::kCUDA ? "cuda" : "cpu");
}
}  // namespace tilewright_inline
