// SPDX-License-Identifier: Apache-2.0
// base/output_file.h — a result that is there as a whole or not at all.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tilewright {

// Throws EnvironmentError when no file could be written there; for before the work is done.
void check_output(const std::string& path);

// Written beside `path` and then renamed. Throws EnvironmentError when that fails.
void write_output(const std::string& path, std::string_view text);

// `make` appends text and may call `flush` whenever the text is long.
using MakeOutput =
    std::function<void(fmt::memory_buffer& text, const std::function<void()>& flush)>;
void write_output(const std::string& path, const MakeOutput& make);

}  // namespace tilewright
