// SPDX-License-Identifier: Apache-2.0
// profile/trace_file.cpp — the pieces of the file: a kind, a size, and that many bytes. Both
// processes run the same library on one machine, so numbers are written as they lie in memory.
#include "profile/trace_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "tilewright/error.h"

namespace tilewright {
namespace {

constexpr char magic[8] = {'t', 'w', 't', 'r', 'a', 'c', 'e', '1'};
constexpr std::uint64_t largest_piece = 1 << 20;

enum class Piece : std::uint32_t { Begin, Text, Event, Device, Note };

struct PieceHead {
  Piece kind;
  std::uint32_t bytes;
};

void put(std::string& out, Piece kind, std::string_view bytes) {
  const PieceHead head{kind, static_cast<std::uint32_t>(bytes.size())};
  out.append(reinterpret_cast<const char*>(&head), sizeof head);
  out.append(bytes);
}

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string text_of_device(const TraceDevice& device) {
  return std::string(bytes_of(device.device)) + std::string(bytes_of(device.processors)) +
         device.architecture + "\n" + device.name;
}

std::string read_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (!file)
    throw EnvironmentError(
        fmt::format("the trace {} cannot be read: {}", path, std::strerror(errno)));
  std::string text;
  char part[1 << 16];
  while (const std::size_t count = std::fread(part, 1, sizeof part, file)) text.append(part, count);
  std::fclose(file);
  return text;
}

// Texts are numbered anew by every append; `first` is where those of the current one begin.
void take_piece(Trace& trace, std::vector<std::uint32_t>& texts, Piece kind,
                std::string_view bytes) {
  switch (kind) {
    case Piece::Begin:
      texts = {0};
      return;
    case Piece::Text:
      texts.push_back(trace.number_of(bytes));
      return;
    case Piece::Event: {
      TraceEvent event;
      if (bytes.size() != sizeof event) return;
      std::memcpy(&event, bytes.data(), sizeof event);
      if (event.name >= texts.size() || event.detail >= texts.size()) return;
      event.name = texts[event.name];
      event.detail = texts[event.detail];
      trace.events.push_back(event);
      return;
    }
    case Piece::Device: {
      TraceDevice device;
      if (bytes.size() < 8) return;
      std::memcpy(&device.device, bytes.data(), 4);
      std::memcpy(&device.processors, bytes.data() + 4, 4);
      const std::size_t end = std::min(bytes.find('\n', 8), bytes.size());
      device.architecture = bytes.substr(8, end - 8);
      device.name = bytes.substr(std::min(end + 1, bytes.size()));
      trace.devices.push_back(std::move(device));
      return;
    }
    case Piece::Note:
      trace.notes.emplace_back(bytes);
      return;
  }
}

}  // namespace

TraceFile::TraceFile(const std::string& path) : file_(std::fopen(path.c_str(), "wbe")) {
  if (!file_)
    throw EnvironmentError(
        fmt::format("the trace {} cannot be written: {}", path, std::strerror(errno)));
  std::fwrite(magic, 1, sizeof magic, file_);
}

TraceFile::~TraceFile() { std::fclose(file_); }

void TraceFile::append(const Trace& piece) {
  if (piece.events.empty() && piece.notes.empty() && piece.devices.empty()) return;
  std::string out;
  put(out, Piece::Begin, "");
  for (std::size_t i = 1; i < piece.texts.size(); ++i)
    put(out, Piece::Text, std::string_view(piece.texts[i]).substr(0, 4096));
  for (const TraceEvent& event : piece.events) put(out, Piece::Event, bytes_of(event));
  for (const TraceDevice& device : piece.devices) put(out, Piece::Device, text_of_device(device));
  for (const std::string& note : piece.notes) put(out, Piece::Note, note);
  std::fwrite(out.data(), 1, out.size(), file_);
  std::fflush(file_);
}

Trace read_trace_file(const std::string& path) {
  const std::string text = read_file(path);
  if (text.size() < sizeof magic || std::memcmp(text.data(), magic, sizeof magic) != 0)
    throw EnvironmentError(fmt::format("{} is no trace of this version", path));
  Trace trace;
  std::vector<std::uint32_t> texts = {0};
  std::size_t at = sizeof magic;
  while (at < text.size()) {
    PieceHead head{};
    const bool has_head = text.size() - at >= sizeof head;
    if (has_head) std::memcpy(&head, text.data() + at, sizeof head);
    if (!has_head || head.bytes > largest_piece || text.size() - at - sizeof head < head.bytes) {
      trace.notes.emplace_back("the program ended before the trace was complete");
      break;
    }
    take_piece(trace, texts, head.kind,
               std::string_view(text).substr(at + sizeof head, head.bytes));
    at += sizeof head + head.bytes;
  }
  trace.finish();
  return trace;
}

}  // namespace tilewright
