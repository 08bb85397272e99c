// SPDX-License-Identifier: Apache-2.0
// frontend/python/unicode.h — which characters may stand in a Python name.
#pragma once

#include <string_view>

#include "base/unicode.h"

namespace tilewright::python {

// Characters, not bytes.
int count_characters(std::string_view text);

// May this character (outside ASCII) stand in a name? Blocks of punctuation, symbols, spaces and
// emoji may not; all else counts as a letter.
bool is_letter(char32_t value);

}  // namespace tilewright::python
