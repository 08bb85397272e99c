// SPDX-License-Identifier: Apache-2.0
// tensor/npy.cpp — reads and writes .npy files. Nothing is allocated on a header's word: the file's
// size must agree first.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "tensor/npy_header.h"
#include "tensor/shape.h"
#include "tensor/traced.h"
#include "tilewright/error.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

// One call moves at most this much: the kernel cuts longer ones at 2 GiB anyway.
constexpr std::size_t transfer_bytes = std::size_t{1} << 30;
constexpr std::size_t longest_header = std::size_t{16} << 20;

[[noreturn]] void throw_errno(const char* what, const std::string& path) {
  const int code = errno;
  throw EnvironmentError(fmt::format("cannot {} '{}': {}", what, path, std::strerror(code)));
}
[[noreturn]] void throw_format(const std::string& path, const std::string& reason) {
  throw FormatError(fmt::format("'{}' cannot be read as .npy: {}", path, reason));
}

class File {
 public:
  // `name` stands in messages: it is not a temporary's.
  File(const std::string& path, int flags, std::string name)
      : name_(std::move(name)), handle_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (handle_ < 0) throw_errno((flags & O_CREAT) != 0 ? "write" : "open", name_);
  }
  ~File() {
    if (handle_ >= 0) ::close(handle_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::size_t regular_size() const {
    struct stat facts;
    if (::fstat(handle_, &facts) != 0) throw_errno("look at", name_);
    if (!S_ISREG(facts.st_mode)) throw_format(name_, "it is not a regular file");
    return static_cast<std::size_t>(facts.st_size);
  }
  void read(void* out, std::size_t bytes) {
    auto* to = static_cast<std::byte*>(out);
    while (bytes > 0) {
      const ssize_t done = ::read(handle_, to, std::min(bytes, transfer_bytes));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) throw_errno("read", name_);
      if (done == 0) throw_format(name_, "it became shorter while it was read");
      to += done;
      bytes -= static_cast<std::size_t>(done);
    }
  }
  void write(const void* data, std::size_t bytes) {
    auto* from = static_cast<const std::byte*>(data);
    while (bytes > 0) {
      const ssize_t done = ::write(handle_, from, std::min(bytes, transfer_bytes));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) throw_errno("write", name_);
      from += done;
      bytes -= static_cast<std::size_t>(done);
    }
  }
  // Some file systems report a full disk only here.
  void close() {
    const int result = ::close(handle_);
    handle_ = -1;
    if (result != 0) throw_errno("write", name_);
  }

 private:
  std::string name_;
  int handle_;
};

struct Located {
  NpyHeader header;
  std::size_t data_bytes = 0;
};

Located read_header(File& file, const std::string& path) {
  const std::size_t size = file.regular_size();
  unsigned char start[12];
  if (size < 10) throw_format(path, "it is too short to have a header");
  file.read(start, 8);
  if (std::memcmp(start, "\x93NUMPY", 6) != 0)
    throw_format(path, "it does not begin with the mark of .npy files");
  const int version = start[6];
  if (version < 1 || version > 3 || start[7] != 0)
    throw_format(path, fmt::format("it has version {}.{}; versions 1.0, 2.0 and 3.0 are known",
                                   version, start[7]));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  if (size < 8 + length_bytes) throw_format(path, "it is too short to have a header");
  file.read(start + 8, length_bytes);
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= static_cast<std::size_t>(start[8 + i]) << (8 * i);
  const std::size_t rest = size - 8 - length_bytes;
  if (length > rest || length > longest_header)
    throw_format(path, fmt::format("its header claims {} bytes where {} are left", length,
                                   std::min(rest, longest_header)));
  std::string text(length, ' ');
  file.read(text.data(), length);
  return {parse_npy_header(text, path), rest - length};
}

std::size_t claimed_bytes(const NpyHeader& header, const std::string& path) {
  try {
    return static_cast<std::size_t>(checked_numel(header.shape, size_of(header.dtype))) *
           size_of(header.dtype);
  } catch (const ArgumentError& error) {
    throw_format(path, error.what());
  }
}

// Removes the file unless it was renamed.
struct Temporary {
  std::string path;
  ~Temporary() {
    if (!path.empty()) ::unlink(path.c_str());
  }
};

std::string temporary_path(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return fmt::format("{}.{}.{}.tmp", path, ::getpid(), count++);
}

}  // namespace

Tensor load_npy(const std::string& path, std::optional<Device> device) {
  File file(path, O_RDONLY | O_NONBLOCK, path);  // a pipe must not block before it is refused
  const auto [header, data_bytes] = read_header(file, path);
  const std::size_t claimed = claimed_bytes(header, path);
  if (claimed != data_bytes)
    throw_format(path,
                 fmt::format("its header claims {} bytes of data (shape {}, {}), but it has {}",
                             claimed, shape_text(header.shape), name_of(header.dtype), data_bytes));
  Shape stored = header.shape;
  if (header.is_fortran_order) std::reverse(stored.begin(), stored.end());
  Tensor out = empty(stored, {header.dtype, Device::cpu()});
  file.read(out.data(), data_bytes);
  if (header.dtype == DType::Bool) {
    auto* bytes = static_cast<unsigned char*>(out.data());
    for (std::size_t i = 0; i < data_bytes; ++i) bytes[i] = bytes[i] != 0;
  }
  if (header.is_fortran_order) {
    std::vector<int> order;
    for (int d = out.rank() - 1; d >= 0; --d) order.push_back(d);
    out = out.permute(std::move(order));
  }
  return out.to(device ? *device : default_device());
}

void save_npy(const std::string& path, const Tensor& tensor) {
  const Looking looking("save_npy()", tensor);
  const std::string preamble = npy_preamble(tensor.dtype(), tensor.shape());
  const Tensor host = tensor.cpu().contiguous();
  struct stat facts;
  if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode))
    throw EnvironmentError(fmt::format("cannot write '{}': it is not a regular file", path));
  Temporary temporary{temporary_path(path)};
  File file(temporary.path, O_WRONLY | O_CREAT | O_EXCL, path);
  file.write(preamble.data(), preamble.size());
  file.write(host.data(), host.nbytes());
  file.close();
  if (std::rename(temporary.path.c_str(), path.c_str()) != 0) throw_errno("write", path);
  temporary.path.clear();
}

}  // namespace tilewright
