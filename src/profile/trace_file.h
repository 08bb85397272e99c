// SPDX-License-Identifier: Apache-2.0
// profile/trace_file.h — a trace that one process writes while it runs and another reads: pieces
// are appended, so that what was written before a crash can be read.
#pragma once

#include <cstdio>
#include <string>

#include "profile/trace.h"

namespace tilewright {

class TraceFile {
 public:
  // Throws EnvironmentError when the file cannot be written.
  explicit TraceFile(const std::string& path);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  void append(const Trace& piece);

 private:
  std::FILE* file_;
};

// What is whole in the file, finished; a note says when its end is missing. Throws when it is no
// such file.
Trace read_trace_file(const std::string& path);

}  // namespace tilewright
