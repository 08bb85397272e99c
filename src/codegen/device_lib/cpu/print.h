// SPDX-License-Identifier: Apache-2.0
// device_lib/cpu/print.h — lines of device_print, each written at once.
#pragma once

extern "C" int printf(const char*, ...);
extern "C" int snprintf(char*, unsigned long, const char*, ...);
extern "C" double strtod(const char*, char**);
extern "C" float strtof(const char*, char**);

namespace tw {

struct PrintText {
  char text[40];
};

// The shortest text that reads back as the same number.
inline PrintText print_text(f64 x) {
  PrintText out;
  for (int digits = 1; digits <= 17; ++digits) {
    snprintf(out.text, sizeof out.text, "%.*g", digits, x);
    if (strtod(out.text, nullptr) == x) break;
  }
  return out;
}
inline PrintText print_text(f32 x) { return print_text(f64(x)); }
inline PrintText print_text(f16 x) { return print_text(f64(to_f32(x))); }
inline PrintText print_text(bf16 x) { return print_text(f64(to_f32(x))); }
inline PrintText print_text(f8e4m3 x) { return print_text(f64(to_f32(x))); }
inline PrintText print_text(f8e5m2 x) { return print_text(f64(to_f32(x))); }
inline PrintText print_text(i64 x) {
  PrintText out;
  snprintf(out.text, sizeof out.text, "%lld", x);
  return out;
}
inline PrintText print_text(u64 x) {
  PrintText out;
  snprintf(out.text, sizeof out.text, "%llu", x);
  return out;
}
inline PrintText print_hex(u64 x) {
  PrintText out;
  snprintf(out.text, sizeof out.text, "0x%llx", x);
  return out;
}

template <class Launch>
inline void fail(const Launch* launch, const i32 (&id)[3], const char* what) {
  char message[1024];
  snprintf(message, sizeof message, "%s (program %d, %d, %d)", what, id[0], id[1], id[2]);
  launch->services->fail(message);
}

inline void print_line(const i32 (&id)[3], i64 index, const char* prefix, const PrintText& value) {
  if (index < 0) printf("pid (%d, %d, %d) %s%s\n", id[0], id[1], id[2], prefix, value.text);
  else printf("pid (%d, %d, %d) idx %lld %s%s\n", id[0], id[1], id[2], index, prefix, value.text);
}

}  // namespace tw
