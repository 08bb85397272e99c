// SPDX-License-Identifier: Apache-2.0
// test/fuzz/ir_parser_fuzz.cpp — any bytes either parse as IR or give an error with a place; a
// kernel that is valid prints and parses back, and every pass leaves it valid.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/diagnostic.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/axis_info.h"
#include "passes/passes.h"
#include "tilewright/error.h"

namespace {

using namespace tilewright;

[[noreturn]] void fail(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s\n%s\n", what, text.c_str());
  std::abort();
}

std::optional<ir::Kernel> parsed(const std::string& text) {
  try {
    return ir::parse(text, "fuzz.tir");
  } catch (const SyntaxOrTypeError& error) {
    const Span span = error.diagnostic().span;
    if (error.diagnostic().message.empty() || span.line < 1 || span.column < 1)
      fail("an error without a place", text);
    return std::nullopt;
  }
}

bool is_valid(const ir::Kernel& kernel) {
  try {
    ir::verify(kernel);
  } catch (const InternalError&) {
    return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::optional<ir::Kernel> kernel = parsed(text);
  if (!kernel || !is_valid(*kernel)) return 0;
  const std::string printed = ir::print(*kernel);
  const std::optional<ir::Kernel> again = parsed(printed);
  if (!again || ir::print(*again) != printed) fail("printed text parses differently", printed);
  const AxisAnalysis analysis(*kernel);
  for (const PassEntry& pass : all_passes()) {
    pass.run(*kernel, Target::host());
    if (!is_valid(*kernel)) fail(std::string(pass.name).c_str(), printed);
  }
  return 0;
}
