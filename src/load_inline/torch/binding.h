// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/binding.h — host functions as callable by name: arguments and results converted
// by their C++ types.
#pragma once

#include "load_inline/torch/cuda_host.h"

namespace tilewright_inline {

// ---- Values in: From<T>::get(value, out) is false when the value is of another kind; `expected`
// names what it wants.

template <class T, class = void>
struct From {
  static_assert(sizeof(T) == 0,
                "a bound host function has a parameter of a type that a call cannot give it");
};
template <class T>
struct Held {
  T value;
};

template <>
struct From<at::Tensor> {
  static constexpr const char* expected = "a tensor";
  static bool get(const TwValue& v, at::Tensor& out) {
    if (v.kind != TwValue::Tensor) return false;
    out = at::Tensor::share(static_cast<TwTensor*>(const_cast<void*>(v.data)));
    return true;
  }
};
template <class T>
struct From<T, typename EnableIf<IsFloating<T>::value>::type> {
  static constexpr const char* expected = "a number";
  static bool get(const TwValue& v, T& out) {
    if (v.kind == TwValue::Number) out = static_cast<T>(v.number);
    else if (v.kind == TwValue::Integer) out = static_cast<T>(v.integer);
    else return false;
    return true;
  }
};
template <class T>
struct From<T, typename EnableIf<IsInteger<T>::value>::type> {
  static constexpr const char* expected = "an integer that fits its type";
  static bool get(const TwValue& v, T& out) {
    if (v.kind != TwValue::Integer && v.kind != TwValue::Boolean) return false;
    out = static_cast<T>(v.integer);
    return static_cast<long>(out) == v.integer && (T(-1) < T(0) || v.integer >= 0);
  }
};
template <>
struct From<bool> {
  static constexpr const char* expected = "a bool";
  static bool get(const TwValue& v, bool& out) {
    if (v.kind != TwValue::Boolean && v.kind != TwValue::Integer) return false;
    out = v.integer != 0;
    return true;
  }
};
template <>
struct From<c10::Scalar> {
  static constexpr const char* expected = "a number";
  static bool get(const TwValue& v, c10::Scalar& out) {
    if (v.kind == TwValue::Number) out = c10::Scalar(v.number);
    else if (v.kind == TwValue::Integer || v.kind == TwValue::Boolean) out = c10::Scalar(v.integer);
    else return false;
    return true;
  }
};
template <>
struct From<c10::IntArrayRef> {
  static constexpr const char* expected = "a list of integers";
  static bool get(const TwValue& v, c10::IntArrayRef& out) {
    if (v.kind != TwValue::Integers) return false;
    out = c10::IntArrayRef(static_cast<const long*>(v.data), static_cast<unsigned long>(v.count));
    return true;
  }
};
#ifdef TW_WITH_STRING
template <>
struct From<std::string> {
  static constexpr const char* expected = "a string";
  static bool get(const TwValue& v, std::string& out) {
    if (v.kind != TwValue::Text) return false;
    out.assign(static_cast<const char*>(v.data), static_cast<unsigned long>(v.count));
    return true;
  }
};
#endif
#ifdef TW_WITH_VECTOR
template <class T>
struct From<std::vector<T>> {
  static constexpr const char* expected = IsFloating<T>::value  ? "a list of numbers"
                                          : IsInteger<T>::value ? "a list of integers"
                                                                : "a list of tensors";
  static bool get(const TwValue& v, std::vector<T>& out) {
    out.clear();
    for (long i = 0; i < v.count; ++i) {
      if constexpr (IsFloating<T>::value || IsInteger<T>::value) {
        if (v.kind == TwValue::Integers)
          out.push_back(static_cast<T>(static_cast<const long*>(v.data)[i]));
        else if (v.kind == TwValue::Numbers && IsFloating<T>::value)
          out.push_back(static_cast<T>(static_cast<const double*>(v.data)[i]));
        else return false;
      } else {
        if (v.kind != TwValue::Tensors) return false;
        out.push_back(at::Tensor::share(static_cast<TwTensor* const*>(v.data)[i]));
      }
    }
    return v.kind >= TwValue::Tensors;
  }
};
#endif
#ifdef TW_WITH_OPTIONAL
template <class T>
struct From<std::optional<T>> {
  static constexpr const char* expected = From<T>::expected;
  static bool get(const TwValue& v, std::optional<T>& out) {
    if (v.kind == TwValue::None) return true;
    Held<T> held{T()};
    if (!From<T>::get(v, held.value)) return false;
    out = held.value;
    return true;
  }
};
#endif

template <class T>
struct Slot {
  T value{};
};
template <>
struct Slot<c10::Scalar> {
  c10::Scalar value = 0;
};

// ---- Values out.

inline TwValue make_value(int kind, long count, const void* data) {
  return {kind, count, 0, 0, data};
}
inline void give(const TwCall& call, const at::Tensor& result) {
  const TwValue value = result.defined() ? make_value(TwValue::Tensor, 1, result.handle())
                                         : make_value(TwValue::None, 0, nullptr);
  call.api->returns(call.call, &value);
}
inline void give(const TwCall& call, bool result) {
  TwValue value = make_value(TwValue::Boolean, 1, nullptr);
  value.integer = result;
  call.api->returns(call.call, &value);
}
template <class T>
typename EnableIf<IsInteger<T>::value>::type give(const TwCall& call, T result) {
  TwValue value = make_value(TwValue::Integer, 1, nullptr);
  value.integer = static_cast<long>(result);
  call.api->returns(call.call, &value);
}
template <class T>
typename EnableIf<IsFloating<T>::value>::type give(const TwCall& call, T result) {
  TwValue value = make_value(TwValue::Number, 1, nullptr);
  value.number = result;
  call.api->returns(call.call, &value);
}
inline void give_tensors(const TwCall& call, const at::Tensor* tensors, unsigned long count) {
  TwTensor** handles = new TwTensor*[count + 1];
  for (unsigned long i = 0; i < count; ++i) handles[i] = tensors[i].handle();
  const TwValue value = make_value(TwValue::Tensors, static_cast<long>(count), handles);
  call.api->returns(call.call, &value);
  delete[] handles;
}
#ifdef TW_WITH_STRING
inline void give(const TwCall& call, const std::string& result) {
  const TwValue value = make_value(TwValue::Text, static_cast<long>(result.size()), result.data());
  call.api->returns(call.call, &value);
}
#endif
#ifdef TW_WITH_VECTOR
inline void give(const TwCall& call, const std::vector<at::Tensor>& result) {
  give_tensors(call, result.data(), result.size());
}
inline void give(const TwCall& call, const std::vector<long>& result) {
  const TwValue value =
      make_value(TwValue::Integers, static_cast<long>(result.size()), result.data());
  call.api->returns(call.call, &value);
}
inline void give(const TwCall& call, const std::vector<double>& result) {
  const TwValue value =
      make_value(TwValue::Numbers, static_cast<long>(result.size()), result.data());
  call.api->returns(call.call, &value);
}
#endif
#ifdef TW_WITH_TUPLE
template <class... T>
void give(const TwCall& call, const std::tuple<T...>& result) {
  static_assert((std::is_same<T, at::Tensor>::value && ...),
                "a host function may return a tuple of tensors, and of nothing else");
  std::apply(
      [&](const auto&... each) {
        const at::Tensor tensors[] = {each...};
        give_tensors(call, tensors, sizeof...(T));
      },
      result);
}
inline void give(const TwCall& call, const std::pair<at::Tensor, at::Tensor>& result) {
  const at::Tensor tensors[] = {result.first, result.second};
  give_tensors(call, tensors, 2);
}
#endif

// ---- Calls. The arguments are unpacked one by one, each in a slot on the stack of its step.

template <class Result, class F, class... Done>
void apply(const TwCall& call, F& f, long, Done&... done) {
  if constexpr (__is_same(Result, void)) f(static_cast<Done&>(done)...);
  else give(call, f(static_cast<Done&>(done)...));
}
template <class... Left>
struct Unpack;
template <>
struct Unpack<> {
  template <class Result, class F, class... Done>
  static void run(const TwCall& call, F& f, long position, Done&... done) {
    apply<Result>(call, f, position, done...);
  }
};
template <class First, class... Rest>
struct Unpack<First, Rest...> {
  template <class Result, class F, class... Done>
  static void run(const TwCall& call, F& f, long position, Done&... done) {
    Slot<plain<First>> slot;
    if (!From<plain<First>>::get(call.arguments[position], slot.value))
      return call.api->wrong_argument(call.call, position, From<plain<First>>::expected);
    Unpack<Rest...>::template run<Result>(call, f, position + 1, done..., slot.value);
  }
};

// The default of a parameter, as py::arg("eps") = 1e-5 gives it.
struct Default {
  bool is_set = false;
  TwValue value{};
};
constexpr long most_parameters = 64;

struct Binding {
  const char* name;
  long parameter_count;
  long required_count;  // those behind it have defaults
  Default* defaults;    // one per parameter
  void (*invoke)(void* target, const TwCall& call);
  void* target;
  void (*destroy)(void* target);
};
struct Bindings {
  Binding all[256];
  long count = 0;
  Bindings() = default;
  Bindings(const Bindings&) = delete;
  Bindings& operator=(const Bindings&) = delete;
  ~Bindings() {
    for (long i = 0; i < count; ++i) {
      all[i].destroy(all[i].target);
      delete[] all[i].defaults;
    }
  }
  bool has(const char* name) const {
    for (long i = 0; i < count; ++i)
      if (__builtin_strcmp(all[i].name, name) == 0) return true;
    return false;
  }
  void add(const Binding& binding) {
    TW_REQUIRE(count < 256, "at most 256 functions can be bound");
    all[count++] = binding;
  }
};
inline Bindings& bindings() {
  static Bindings table;
  return table;
}

template <class F, class Result, class... Parameters>
void bind_callable(const char* name, F f) {
  constexpr long count = sizeof...(Parameters);
  static_assert(count <= most_parameters, "a bound function has at most 64 parameters");
  if (bindings().has(name)) return;  // in `functions` and in the module's own list
  bindings().add({name, count, count, new Default[count + 1],
                  [](void* target, const TwCall& call) {
                    Unpack<Parameters...>::template run<Result>(call, *static_cast<F*>(target), 0);
                  },
                  new F(f), [](void* target) { delete static_cast<F*>(target); }});
}
template <class Result, class... Parameters>
void bind(const char* name, Result (*f)(Parameters...)) {
  bind_callable<Result (*)(Parameters...), Result, Parameters...>(name, f);
}
template <class F, class Result, class... Parameters>
void bind_functor(const char* name, F f, Result (F::*)(Parameters...) const) {
  bind_callable<F, Result, Parameters...>(name, f);
}
template <class F>
auto bind(const char* name, F f) -> decltype(&F::operator(), void()) {
  bind_functor(name, f, &F::operator());
}

// py::arg and others in the list behind a function; all but arguments change nothing here.
template <class Extra>
void add_extra(const Extra& extra, Default* defaults, long& at, long count) {
  if constexpr (__is_base_of(Default, Extra)) {
    TW_REQUIRE(at < count, "more py::arg than the function has parameters");
    defaults[at++] = extra;
  }
}

// The functions bound last, by a module's def.
template <class... Extra>
void add_defaults(const char* name, const Extra&... extra) {
  for (long i = 0; i < bindings().count; ++i) {
    Binding& binding = bindings().all[i];
    if (__builtin_strcmp(binding.name, name) != 0) continue;
    long at = 0;
    (add_extra(extra, binding.defaults, at, binding.parameter_count), ...);
    binding.required_count = binding.parameter_count;
    while (binding.required_count > 0 && binding.defaults[binding.required_count - 1].is_set)
      --binding.required_count;
  }
}

struct Module {
  template <class F, class... Extra>
  Module& def(const char* name, F f, const Extra&... extra) {
    bind(name, f);
    add_defaults(name, extra...);
    return *this;
  }
  struct Ignored {
    template <class T>
    void operator=(const T&) {}
  };
  Ignored doc() { return {}; }
  Ignored attr(const char*) { return {}; }
};

// What TORCH_LIBRARY gives: functions by schema, "scale(Tensor x, float by) -> Tensor".
struct Library {
  // Declared; TORCH_LIBRARY_IMPL has the function.
  Library& def(const char*) { return *this; }
  template <class F>
  Library& def(const char* schema, F f) {
    return impl(schema, f);
  }
  template <class F>
  Library& impl(const char* schema, F f) {
    unsigned long size = 0;
    while (schema[size] && schema[size] != '(' && schema[size] != ' ') ++size;
    Text& name = Names::all().next();
    name.add(schema, size);
    bind(name.c_str(), f);
    return *this;
  }

 private:
  // They live as long as the bindings.
  struct Names {
    Text texts[256];
    long count = 0;
    Text& next() {
      TW_REQUIRE(count < 256, "at most 256 functions can be bound");
      return texts[count++];
    }
    static Names& all() {
      static Names names;
      return names;
    }
  };
};
struct LibraryRecord {
  void (*define)(Library&);
  LibraryRecord* next;
  static LibraryRecord*& first() {
    static LibraryRecord* list = nullptr;
    return list;
  }
  explicit LibraryRecord(void (*define)(Library&)) : define(define), next(first()) {
    first() = this;
  }
};
inline void define_libraries() {
  Library library;
  for (LibraryRecord* r = LibraryRecord::first(); r; r = r->next) r->define(library);
}

// The call with the defaults of the arguments that it leaves out.
inline void invoke(const Binding& binding, const TwCall& call) {
  if (call.argument_count >= binding.parameter_count) return binding.invoke(binding.target, call);
  TwValue values[most_parameters];
  for (long i = 0; i < binding.parameter_count; ++i)
    values[i] = i < call.argument_count ? call.arguments[i] : binding.defaults[i].value;
  TwCall whole = call;
  whole.arguments = values;
  whole.argument_count = binding.parameter_count;
  binding.invoke(binding.target, whole);
}

inline void answer(const TwCall& call, void (*define_all)()) {
  api() = call.api;
  configurations().count = 0;
  try {
    if (bindings().count == 0) define_all();
    if (call.function >= 0) return invoke(bindings().all[call.function], call);
    for (long i = 0; i < bindings().count; ++i)
      call.api->define(call.call, bindings().all[i].name, bindings().all[i].parameter_count,
                       bindings().all[i].required_count);
  } catch (const std::exception& error) {
    call.api->fails(call.call, error.what());
  } catch (...) {
    call.api->fails(call.call, "it threw something that is not a std::exception");
  }
}

}  // namespace tilewright_inline

namespace pybind11 {
using module_ = ::tilewright_inline::Module;
using module = ::tilewright_inline::Module;
struct none {};
struct arg : ::tilewright_inline::Default {
  explicit constexpr arg(const char*) {}
  arg& noconvert(bool = true) { return *this; }
  arg& none(bool = true) { return *this; }
  arg& operator=(const pybind11::none&) { return set(TwValue::None); }
  arg& operator=(decltype(nullptr)) { return set(TwValue::None); }
  arg& operator=(bool given) { return set(TwValue::Boolean, given); }
  arg& operator=(const char* given) {
    value.data = given;
    value.count = static_cast<long>(__builtin_strlen(given));
    return set(TwValue::Text);
  }
  template <class T>
  typename ::tilewright_inline::EnableIf<::tilewright_inline::IsInteger<T>::value, arg&>::type
  operator=(T given) {
    return set(TwValue::Integer, static_cast<long>(given));
  }
  template <class T>
  typename ::tilewright_inline::EnableIf<::tilewright_inline::IsFloating<T>::value, arg&>::type
  operator=(T given) {
    value.number = given;
    return set(TwValue::Number);
  }
#ifdef TW_WITH_OPTIONAL
  arg& operator=(std::nullopt_t) { return set(TwValue::None); }
#endif

 private:
  arg& set(int kind, long integer = 0) {
    is_set = true;
    value.kind = kind;
    value.integer = integer;
    return *this;
  }
};
namespace literals {
inline arg operator""_a(const char* name, unsigned long) { return arg(name); }
}  // namespace literals
struct kw_only {};
struct gil_scoped_release {};
template <class... Guards>
struct call_guard {};
}  // namespace pybind11
namespace py = pybind11;

#define PYBIND11_MODULE(name, variable) \
  static void tilewright_module(::tilewright_inline::Module& variable)

namespace torch {
using Library = ::tilewright_inline::Library;
}  // namespace torch
#define TORCH_FN(function) (&function)
#define TW_LIBRARY_AT(variable, number)                                            \
  static void tilewright_library_##number(::tilewright_inline::Library& variable); \
  static ::tilewright_inline::LibraryRecord tilewright_record_##number(            \
      tilewright_library_##number);                                                \
  static void tilewright_library_##number([[maybe_unused]] ::tilewright_inline::Library& variable)
#define TW_LIBRARY(variable, number) TW_LIBRARY_AT(variable, number)
#define TORCH_LIBRARY(space, variable) TW_LIBRARY(variable, __COUNTER__)
#define TORCH_LIBRARY_FRAGMENT(space, variable) TW_LIBRARY(variable, __COUNTER__)
#define TORCH_LIBRARY_IMPL(space, key, variable) TW_LIBRARY(variable, __COUNTER__)
