// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/equivalent.h — our declarations beside NVIDIA's.
#pragma once

#include <type_traits>

namespace tilewright::cuda {

// Two spellings of one type: the same type, or enums and integers of one size, or structs of one
// size, or pointers and functions made of such types.
template <class Ours, class Theirs>
constexpr bool equivalent();

template <class Ours, class Theirs>
struct Equivalent {
  static constexpr bool is_number = (std::is_enum_v<Ours> || std::is_integral_v<Ours>)&&(
      std::is_enum_v<Theirs> || std::is_integral_v<Theirs>);
  // What nobody looks into, we do not define.
  static constexpr bool has_same_size() {
    if constexpr (requires { sizeof(Ours); }) return sizeof(Ours) == sizeof(Theirs);
    else return true;
  }
  static constexpr bool value() {
    if constexpr (std::is_same_v<Ours, Theirs>) return true;
    else if constexpr (is_number && !(std::is_integral_v<Ours> && std::is_enum_v<Theirs>))
      return sizeof(Ours) == sizeof(Theirs);
    else if constexpr ((std::is_class_v<Ours> && std::is_class_v<Theirs>) ||
                       (std::is_union_v<Ours> && std::is_union_v<Theirs>))
      return has_same_size();
    else return false;
  }
};

template <class Ours, class Theirs>
struct Equivalent<Ours*, Theirs*> {
  static constexpr bool value() {
    return std::is_const_v<Ours> == std::is_const_v<Theirs> &&
           equivalent<std::remove_const_t<Ours>, std::remove_const_t<Theirs>>();
  }
};

template <class R1, class... P1, class R2, class... P2>
struct Equivalent<R1(P1...), R2(P2...)> {
  static constexpr bool value() {
    if constexpr (sizeof...(P1) != sizeof...(P2)) return false;
    else return equivalent<R1, R2>() && (equivalent<P1, P2>() && ...);
  }
};

template <class Ours, class Theirs>
constexpr bool equivalent() {
  return Equivalent<Ours, Theirs>::value();
}

}  // namespace tilewright::cuda
