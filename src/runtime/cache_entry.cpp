// SPDX-License-Identifier: Apache-2.0
// runtime/cache_entry.cpp — writes and reads entries as a sequence of numbers and counted texts.
#include "runtime/cache_entry.h"

#include <cstring>
#include <string>
#include <string_view>

namespace tilewright {
namespace {

constexpr std::uint64_t magic = 0x0a31454843414354ULL;  // "TCACHE1\n" in the file
constexpr std::uint64_t format_version = 1;

// The header is five numbers: magic, version, two of the key, length.
constexpr std::size_t version_offset = 8;
constexpr std::size_t length_offset = 32;
constexpr std::size_t header_bytes = 40;
constexpr std::size_t checksum_bytes = 16;

class Writer {
 public:
  void number(std::uint64_t value) { append(&value, sizeof value); }
  void text(const void* data, std::size_t size) {
    number(size);
    append(data, size);
  }
  void text(std::string_view value) { text(value.data(), value.size()); }
  std::vector<std::byte>& out() { return out_; }

 private:
  void append(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), first, first + size);
  }
  std::vector<std::byte> out_;
};

// Reads what Writer wrote. A length that does not fit ends the reading: everything after it is
// empty.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> rest) : rest_(rest) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    const auto bytes = take(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::span<const std::byte> bytes() { return take(number()); }
  std::string text() {
    const auto piece = bytes();
    return std::string(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  bool is_at_end() const { return fits_ && rest_.empty(); }
  bool fits() const { return fits_; }

 private:
  std::span<const std::byte> take(std::uint64_t size) {
    fits_ = fits_ && size <= rest_.size();
    if (!fits_) return {};
    const auto piece = rest_.first(size);
    rest_ = rest_.subspan(size);
    return piece;
  }
  std::span<const std::byte> rest_;
  bool fits_ = true;
};

Hash128 read_hash(Reader& reader) {
  const std::uint64_t high = reader.number();
  const std::uint64_t low = reader.number();
  return {high, low};
}

}  // namespace

std::vector<std::byte> encode_cache_entry(const Hash128& key, const Binary& binary) {
  Writer writer;
  writer.out().reserve(binary.bytes.size() + binary.log.size() + 1024);
  writer.number(magic);
  writer.number(format_version);
  writer.number(key.high);
  writer.number(key.low);
  writer.number(0);  // the whole length, known at the end
  writer.text(binary.bytes.data(), binary.bytes.size());
  writer.text(binary.log);
  writer.number(binary.symbols.size());
  for (const auto& [expression, symbol] : binary.symbols) {
    writer.text(expression);
    writer.text(symbol);
  }
  const std::uint64_t length = writer.out().size() + checksum_bytes;
  std::memcpy(writer.out().data() + length_offset, &length, sizeof length);
  const Hash128 checksum = hash_bytes(writer.out());
  writer.number(checksum.high);
  writer.number(checksum.low);
  return std::move(writer.out());
}

bool is_intact_cache_entry(const Hash128& key, std::span<const std::byte> file) {
  if (file.size() < header_bytes + checksum_bytes) return false;
  const auto content = file.first(file.size() - checksum_bytes);
  Reader header(content);
  if (header.number() != magic) return false;
  header.number();  // the format version
  if (read_hash(header) != key || header.number() != file.size()) return false;
  Reader trailer(file.last(checksum_bytes));
  return hash_bytes(content) == read_hash(trailer);
}

std::optional<Binary> decode_cache_entry(const Hash128& key, std::span<const std::byte> file) {
  if (!is_intact_cache_entry(key, file)) return std::nullopt;
  if (Reader(file.subspan(version_offset)).number() != format_version) return std::nullopt;
  Reader reader(file.subspan(header_bytes, file.size() - header_bytes - checksum_bytes));
  Binary binary;
  const auto bytes = reader.bytes();
  binary.bytes.assign(bytes.begin(), bytes.end());
  binary.log = reader.text();
  const std::uint64_t symbols = reader.number();
  for (std::uint64_t i = 0; i < symbols && reader.fits(); ++i) {
    std::string expression = reader.text();
    std::string symbol = reader.text();
    binary.symbols.emplace_back(std::move(expression), std::move(symbol));
  }
  if (!reader.is_at_end()) return std::nullopt;
  return binary;
}

}  // namespace tilewright
