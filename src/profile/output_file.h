// SPDX-License-Identifier: Apache-2.0
// profile/output_file.h — a result that is there as a whole or not at all.
#pragma once

#include <functional>
#include <string>

#include <fmt/format.h>

namespace tilewright {

// `make` appends text and may call `flush` whenever the text is long. Written beside `path` and
// then renamed. Throws EnvironmentError when that fails.
void write_output(
    const std::string& path,
    const std::function<void(fmt::memory_buffer& text, const std::function<void()>& flush)>& make);

}  // namespace tilewright
