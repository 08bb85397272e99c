// SPDX-License-Identifier: Apache-2.0
// test/fuzz/safetensors_fuzz.cpp — any bytes as a header either are one whose every claim holds, or
// give an error of one line; one that holds is written and read back the same.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tensor/safetensors_header.h"
#include "tilewright/error.h"

namespace {

using namespace tilewright;

[[noreturn]] void fail(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s\n%s\n", what, text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t data_bytes = 24;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const SafetensorsHeader header = parse_safetensors_header(text, data_bytes, "fuzz");
    std::uint64_t at = 0;
    for (const StoredTensor& tensor : header.tensors) {
      if (tensor.begin != at || tensor.end > data_bytes) fail("a claim does not hold", text);
      at = tensor.end;
    }
    if (at != data_bytes) fail("bytes without a tensor", text);
    const std::string written = safetensors_preamble(header);
    const SafetensorsHeader again =
        parse_safetensors_header(std::string_view(written).substr(8), data_bytes, "fuzz");
    if (again.tensors.size() != header.tensors.size() || again.metadata != header.metadata)
      fail("written and read back it differs", text);
    for (std::size_t i = 0; i < again.tensors.size(); ++i)
      if (again.tensors[i].name != header.tensors[i].name &&
          header.tensors[i].end > header.tensors[i].begin)
        fail("a name differs", text);
  } catch (const FormatError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) fail("two lines", error.what());
  }
  return 0;
}
