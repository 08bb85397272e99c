// SPDX-License-Identifier: Apache-2.0
// tilewright/error.h — the three kinds of error: the user's call or kernel, the environment, our
// own bug.
//
// Every error is thrown by value and says in its first sentence what was wrong, where, and what to
// do. Catch `Error` for all of them, a kind to react to it, a leaf type to handle one situation.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace tilewright {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// ---- The user's kernel or call.

class UserError : public Error {
 public:
  using Error::Error;
};

// A wrong argument: its count, type, device, range, or an unknown name.
class ArgumentError : public UserError {
 public:
  using UserError::UserError;
};

// A file or a foreign structure (.npy, DLPack) that is not what it claims to be.
class FormatError : public UserError {
 public:
  using UserError::UserError;
};

// Source that does not compile. what() holds the sentence and the log; the parts are also here.
class CompileError : public UserError {
 public:
  CompileError(const std::string& sentence, std::string log);
  const std::string& log() const { return log_; }

 private:
  std::string log_;
};

// ---- The environment.

class EnvironmentError : public Error {
 public:
  using Error::Error;
};

// A library, driver, compiler or device that this work needs and this machine lacks.
class MissingError : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

class OutOfMemory : public EnvironmentError {
 public:
  OutOfMemory(const std::string& device, std::size_t asked, std::size_t free);
  std::size_t asked() const { return asked_; }
  std::size_t free() const { return free_; }

 private:
  std::size_t asked_;
  std::size_t free_;
};

// A kernel that faulted while it ran (a bad address, a trap). On a GPU nothing more can run there
// in this process: report and exit.
class KernelFault : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

// ---- Our bug.

class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace tilewright
