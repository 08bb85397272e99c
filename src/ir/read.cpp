// SPDX-License-Identifier: Apache-2.0
// ir/read.cpp — what the verifier says of the user's text is the user's error, not ours.
#include "ir/read.h"

#include <fmt/format.h>

#include "ir/verify.h"

namespace tilewright::ir {

ParsedKernel read(std::string_view text, const std::string& file) {
  ParsedKernel parsed = parse_with_places(text, file);
  try {
    verify(parsed.kernel);
  } catch (const VerificationError& error) {
    const auto place = parsed.places.find(error.op());
    if (place == parsed.places.end())
      throw SyntaxOrTypeError(
          {file, {}, fmt::format("kernel '{}' is not valid: {}", parsed.kernel.name, error.rule())},
          text);
    throw SyntaxOrTypeError(
        {file, place->second,
         fmt::format("op '{}' of kernel '{}' is not valid: {}", error.op()->facts().name,
                     parsed.kernel.name, error.rule())},
        text);
  }
  return parsed;
}

}  // namespace tilewright::ir
