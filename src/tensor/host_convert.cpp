// SPDX-License-Identifier: Apache-2.0
// tensor/host_convert.cpp — one loop per pair of dtypes; neighbouring elements get a loop the
// compiler can vectorise.
#include "tensor/host_convert.h"

#include <cstring>

#include "tensor/element_types.h"

namespace tilewright {
namespace {

// Through memcpy, since memory of other libraries need not be aligned, nor be of the type we call
// it.
template <class T>
T load(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

template <class To, class From>
void convert_elements(std::byte* destination, std::ptrdiff_t destination_step,
                      const std::byte* source, std::ptrdiff_t source_step, std::int64_t count) {
  const auto convert_at = [&](std::ptrdiff_t to_step, std::ptrdiff_t from_step) {
    for (std::int64_t i = 0; i < count; ++i) {
      const To value = element::convert<To>(load<From>(source + i * from_step));
      std::memcpy(destination + i * to_step, &value, sizeof value);
    }
  };
  if (destination_step == sizeof(To) && source_step == sizeof(From))
    convert_at(sizeof(To), sizeof(From));
  else convert_at(destination_step, source_step);
}

// Unchanged elements: only their size matters.
template <class T>
void move_elements(std::byte* destination, std::ptrdiff_t destination_step, const std::byte* source,
                   std::ptrdiff_t source_step, std::int64_t count) {
  if (destination_step == sizeof(T) && source_step == sizeof(T)) {
    std::memcpy(destination, source, static_cast<std::size_t>(count) * sizeof(T));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(destination + i * destination_step, source + i * source_step, sizeof(T));
}

}  // namespace

ConvertRow convert_row(DType to, DType from) {
  if (to == from &&
      to != DType::Bool) {  // bytes of bools that are not 0 become 1: C++ has no other true
    switch (size_of(to)) {
      case 1:
        return move_elements<unsigned char>;
      case 2:
        return move_elements<unsigned short>;
      case 4:
        return move_elements<unsigned int>;
      default:
        return move_elements<unsigned long long>;
    }
  }
  return with_element_type(to, [&]<class To>() {
    return with_element_type(
        from, [&]<class From>() -> ConvertRow { return convert_elements<To, From>; });
  });
}

}  // namespace tilewright
