// SPDX-License-Identifier: Apache-2.0
// frontend/python/source_test.cpp — encodings, line ends and sizes of files.
#include "frontend/python/source.h"

#include <cstdio>
#include <fstream>
#include <functional>

#include <gtest/gtest.h>

namespace tilewright::python {
namespace {

std::string message(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string refused(std::string_view bytes) {
  return message([&] { make_source("t.py", bytes); });
}

TEST(PythonSource, LineEndsAndBom) {
  EXPECT_EQ(make_source("t.py",
                        "\xef\xbb\xbf"
                        "a\r\nb\rc\n")
                .text,
            "a\nb\nc\n");
}

TEST(PythonSource, BadBytesAreNamedWithTheirPlace) {
  EXPECT_EQ(refused("a = 1\nb = 'é\xff'\n"),
            "t.py:2:7: error: byte 0xff is not valid UTF-8\n"
            "    b = '??"
            "?'\n"
            "          ^\n"
            "hint: save the file as UTF-8");
  EXPECT_EQ(
      refused("\xc0\x80"),
      "t.py:1:1: error: byte 0xc0 is not valid UTF-8\n    ??\n    ^\nhint: save the file as UTF-8");
  EXPECT_EQ(refused(std::string_view("ab\0c", 4)).substr(0, 61),
            "t.py:1:3: error: source code cannot contain null bytes\n    ab");
  EXPECT_EQ(refused("\xff\xfe"
                    "a"),
            "t.py: error: the file is UTF-16, not UTF-8\nhint: save the file as UTF-8");
}

TEST(PythonSource, DeclaredEncodings) {
  EXPECT_EQ(refused("# -*- coding: utf-8 -*-\nx = 'é'\n"), "no error");
  EXPECT_EQ(refused("# coding: latin-1\nx = 'e'\n"), "no error");
  EXPECT_EQ(refused("#!/usr/bin/python\n# vim: set fileencoding=latin-1 :\nx = '\xe9'\n"),
            "t.py:2:25: error: the encoding 'latin-1' is not read\n"
            "    # vim: set fileencoding=latin-1 :\n"
            "                            ^^^^^^^\n"
            "hint: save the file as UTF-8");
}

TEST(PythonSource, LargeTextIsRefused) {
  EXPECT_EQ(refused(std::string(max_source_bytes + 1, '\n')),
            "t.py: the file has 16.0 MiB, and Python files over 16.0 MiB are not read; keep the "
            "kernels in a file of "
            "their own");
  EXPECT_EQ(refused(std::string(max_source_bytes, '\n')), "no error");
}

TEST(PythonSource, LargeFileIsRefusedBeforeItIsRead) {
  const std::string path = testing::TempDir() + "python_source_test_large.py";
  std::ofstream(path).close();
  std::FILE* file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  std::fseek(file, 100 * 1000 * 1000, SEEK_SET);  // a hole: takes no space
  std::fputc('\n', file);
  std::fclose(file);
  EXPECT_EQ(message([&] { read_source(path); }),
            path +
                ": the file has 95.4 MiB, and Python files over 16.0 MiB are not read; keep the "
                "kernels in a file "
                "of their own");
  std::remove(path.c_str());
}

TEST(PythonSource, MissingFile) {
  EXPECT_EQ(message([] { read_source("/nowhere/x.py"); }),
            "cannot open '/nowhere/x.py': No such file or directory");
}

}  // namespace
}  // namespace tilewright::python
