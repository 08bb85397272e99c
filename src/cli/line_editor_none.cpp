// SPDX-License-Identifier: Apache-2.0
// cli/line_editor_none.cpp — for builds without libedit's header: lines are read as they come.
#include "cli/line_editor.h"

namespace tilewright::cli {

std::unique_ptr<LineEditor> open_line_editor(const std::string&, Completions) { return nullptr; }

}  // namespace tilewright::cli
