// SPDX-License-Identifier: Apache-2.0
// base/quote.h — text of the user's inside generated text: one function per language.
//
// Names of files and kernels, lines of source, messages and labels may hold anything. Each function
// gives text that cannot end the comment, string, directive, element or cell that holds it, and
// that shows what the user wrote where the language allows it.
#pragma once

#include <string>
#include <string_view>

namespace tilewright {

// For one line of a terminal or a table: what shows nothing is written as \n, \x1b or \u202e.
std::string printable(std::string_view text);
// The same for text of several lines: line ends and tabs stay.
std::string printable_lines(std::string_view text);

// ---- C++ and CUDA C++.

// A string literal with its quotes: "a\"b". Its value is exactly the text.
std::string cpp_string(std::string_view text);

// A whole comment: "// a.py:7: y = x + 1". Backslashes at its end are left out, since they would
// take the next line in.
std::string cpp_comment(std::string_view text);

// The name of a source for compilers. They copy it as it is into PTX, which knows no escapes: what
// would end it there becomes '_'.
std::string source_name(std::string_view file);

// `#line 7 "a.py"` and a line end.
std::string line_directive(int line, std::string_view file);

// ---- Pages, reports and traces.

// Text or the value of an attribute in HTML, SVG and XML.
std::string xml_text(std::string_view text);

// A string of JSON with its quotes. Bytes that are no UTF-8 become U+FFFD, as in XML.
std::string json_string(std::string_view text);

// JSON that stands inside a <script> element: the same value, without anything that HTML or
// JavaScript reads.
std::string json_in_script(std::string_view json);

// Text in a cell of a Markdown table or in a paragraph.
std::string markdown_text(std::string_view text);

// A cell of CSV. Spreadsheets take what begins with = + - @ for a formula: a ' stands before it.
std::string csv_cell(std::string_view text);

// A frame of a folded stack ("step;forward;gelu 1200"), where ';' parts frames.
std::string folded_frame(std::string_view text);

// ---- Shells.

// One word of a POSIX shell.
std::string shell_word(std::string_view text);

}  // namespace tilewright
