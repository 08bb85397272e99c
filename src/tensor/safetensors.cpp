// SPDX-License-Identifier: Apache-2.0
// tensor/safetensors.cpp — maps safetensors files into memory, and writes them. A header is
// believed only as far as the file's size goes.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/output_file.h"
#include "base/unicode.h"
#include "tensor/safetensors_header.h"
#include "tensor/shape.h"
#include "tensor/traced.h"
#include "tilewright/error.h"
#include "tilewright/safetensors.h"

namespace tilewright {
namespace {

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t longest_json = std::uint64_t{100} << 20;  // as other readers limit it
constexpr std::size_t flushed_bytes = std::size_t{4} << 20;

[[noreturn]] void refuse_file(const std::string& path, const std::string& reason) {
  throw FormatError(fmt::format("'{}' cannot be read as safetensors: {}", path, reason));
}

// A file's pages, private to this process: what is written there does not reach the file.
class Mapping {
 public:
  explicit Mapping(const std::string& path) {
    const int handle = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (handle < 0)
      throw EnvironmentError(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
    struct stat facts;
    const bool is_known = ::fstat(handle, &facts) == 0;
    const bool is_regular = is_known && S_ISREG(facts.st_mode);
    size_ = is_regular ? static_cast<std::uint64_t>(facts.st_size) : 0;
    if (size_ >= length_bytes)
      data_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE, handle, 0);
    const int code = errno;
    ::close(handle);
    if (!is_regular) refuse_file(path, "it is not a regular file");
    if (size_ < length_bytes) refuse_file(path, "it is too short to have a header");
    if (data_ == MAP_FAILED)
      throw EnvironmentError(fmt::format("cannot read '{}': {}", path, std::strerror(code)));
  }
  ~Mapping() {
    if (data_ != MAP_FAILED) ::munmap(data_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  unsigned char* bytes() const { return static_cast<unsigned char*>(data_); }
  std::uint64_t size() const { return size_; }

 private:
  void* data_ = MAP_FAILED;
  std::uint64_t size_ = 0;
};

struct OpenedFile {
  std::shared_ptr<Mapping> mapping;
  SafetensorsHeader header;
  std::uint64_t first = 0;  // of the data, in the file
};

OpenedFile open_safetensors(const std::string& path) {
  OpenedFile file{.mapping = std::make_shared<Mapping>(path)};
  const unsigned char* const bytes = file.mapping->bytes();
  std::uint64_t length = 0;
  for (std::uint64_t i = 0; i < length_bytes; ++i) length |= std::uint64_t{bytes[i]} << (8 * i);
  const std::uint64_t rest = file.mapping->size() - length_bytes;
  if (length > rest || length > longest_json)
    refuse_file(path, fmt::format("its header claims {} bytes where {} are left", length,
                                  std::min(rest, longest_json)));
  file.first = length_bytes + length;
  const std::string_view json(reinterpret_cast<const char*>(bytes + length_bytes), length);
  file.header = parse_safetensors_header(json, rest - length, path);
  return file;
}

bool is_plain_bool(const unsigned char* bytes, std::size_t count) {
  return std::all_of(bytes, bytes + count, [](unsigned char b) { return b <= 1; });
}

// In the file's pages, or copied where elements would not be aligned or mean something else.
Tensor tensor_in_file(const OpenedFile& file, const StoredTensor& stored) {
  const TensorOptions options(stored.dtype, Device::cpu());
  unsigned char* const bytes = file.mapping->bytes() + file.first + stored.begin;
  const std::size_t count = stored.end - stored.begin;
  const bool is_bool = stored.dtype == DType::Bool;
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(bytes) % size_of(stored.dtype) == 0;
  if (count > 0 && is_aligned && (!is_bool || is_plain_bool(bytes, count)))
    return from_blob(bytes, stored.shape, options, [kept = file.mapping] {});
  const Tensor copy = empty(stored.shape, options);
  if (count > 0) std::memcpy(copy.data(), bytes, count);
  if (is_bool)
    for (std::size_t i = 0; i < count; ++i) copy.data<bool>()[i] = bytes[i] != 0;
  return copy;
}

void check_text(const std::string& text) {
  for (std::string_view rest = text; !rest.empty();) {
    const CodePoint point = decode_utf8(rest);
    if (point.bytes == 0)
      throw ArgumentError("a name or text for a safetensors file is not UTF-8: write it so");
    rest.remove_prefix(point.bytes);
  }
}

// Large elements first, so that all are aligned.
SafetensorsHeader header_for(const NamedTensors& tensors) {
  SafetensorsHeader header;
  for (const auto& [name, tensor] : tensors) {
    check_text(name);
    if (name == "__metadata__")
      throw ArgumentError("a tensor in a safetensors file cannot be named __metadata__");
    if (!tensor.is_defined())
      throw ArgumentError(fmt::format("tensor \"{}\" to save is undefined", name));
    header.tensors.push_back({.name = name, .dtype = tensor.dtype(), .shape = tensor.shape()});
  }
  std::stable_sort(header.tensors.begin(), header.tensors.end(),
                   [](const StoredTensor& a, const StoredTensor& b) {
                     return size_of(a.dtype) > size_of(b.dtype);
                   });
  std::uint64_t at = 0;
  for (StoredTensor& tensor : header.tensors) {
    tensor.begin = at;
    at += static_cast<std::uint64_t>(checked_numel(tensor.shape, size_of(tensor.dtype))) *
          size_of(tensor.dtype);
    tensor.end = at;
  }
  return header;
}

}  // namespace

NamedTensors load_safetensors(const std::string& path, std::optional<Device> device) {
  const OpenedFile file = open_safetensors(path);
  const Device to = device ? *device : default_device();
  NamedTensors tensors;
  for (const StoredTensor& stored : file.header.tensors)
    tensors.emplace(stored.name, tensor_in_file(file, stored).to(to));
  return tensors;
}

std::map<std::string, std::string> load_safetensors_metadata(const std::string& path) {
  return open_safetensors(path).header.metadata;
}

void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata) {
  SafetensorsHeader header = header_for(tensors);
  for (const auto& [key, text] : metadata) {
    check_text(key);
    check_text(text);
  }
  header.metadata = metadata;
  const std::string preamble = safetensors_preamble(header);
  // All on the host before anything is written: a failing copy leaves no file.
  std::vector<Tensor> hosts;
  for (const StoredTensor& stored : header.tensors) {
    const Looking looking("save_safetensors()", tensors.at(stored.name));
    hosts.push_back(tensors.at(stored.name).cpu().contiguous());
  }
  write_output(path, [&](fmt::memory_buffer& out, const std::function<void()>& flush) {
    out.append(preamble.data(), preamble.data() + preamble.size());
    for (const Tensor& host : hosts) {
      const char* const bytes = static_cast<const char*>(host.numel() == 0 ? nullptr : host.data());
      for (std::size_t at = 0; at < host.nbytes(); at += flushed_bytes) {
        out.append(bytes + at, bytes + std::min(at + flushed_bytes, host.nbytes()));
        flush();
      }
    }
  });
}

}  // namespace tilewright
