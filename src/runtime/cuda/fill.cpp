// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/fill.cpp — fills by the driver's memsets, which know patterns of 1, 2 and 4 bytes.
#include "runtime/cuda/fill.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "runtime/cuda/errors.h"

namespace tilewright::cuda {
namespace {

// Where the copies that follow a strided memset start: large enough that few are needed.
constexpr std::size_t first_part = std::size_t{1} << 20;

template <class Word>
Word word_at(std::span<const std::byte> pattern, std::size_t offset) {
  Word word;
  std::memcpy(&word, pattern.data() + offset, sizeof word);
  return word;
}

// Every second word with one memset, the others with a second; then what is filled is copied behind
// itself, twice as much each time, because a memset of one-word rows does not reach the memory's
// bandwidth.
void fill_pairs(CUdeviceptr destination, std::size_t bytes, std::span<const std::byte> pattern,
                CUstream stream) {
  const std::size_t start = std::min(bytes, first_part);
  for (std::size_t half = 0; half < 8; half += 4)
    TW_CUDA(cuMemsetD2D32Async(destination + half, 8, word_at<unsigned>(pattern, half), 1,
                               start / 8, stream));
  for (std::size_t done = start; done < bytes;) {
    const std::size_t part = std::min(done, bytes - done);
    TW_CUDA(cuMemcpyAsync(destination + done, destination, part, stream));
    done += part;
  }
}

}  // namespace

void fill_memory(CUdeviceptr destination, std::size_t bytes, std::span<const std::byte> pattern,
                 CUstream stream) {
  const std::size_t width = pattern.size();
  TW_CHECK(width == 1 || width == 2 || width == 4 || width == 8, "a pattern of {} bytes", width);
  TW_CHECK(bytes % width == 0 && destination % width == 0, "{} bytes at {:#x} by {}", bytes,
           destination, width);
  if (bytes == 0) return;
  // A pattern that repeats within itself (zeros, above all) is filled as the smaller one.
  if (width > 1 && std::memcmp(pattern.data(), pattern.data() + width / 2, width / 2) == 0)
    return fill_memory(destination, bytes, pattern.first(width / 2), stream);
  if (width == 1)
    TW_CUDA(cuMemsetD8Async(destination, word_at<unsigned char>(pattern, 0), bytes, stream));
  if (width == 2)
    TW_CUDA(cuMemsetD16Async(destination, word_at<unsigned short>(pattern, 0), bytes / 2, stream));
  if (width == 4)
    TW_CUDA(cuMemsetD32Async(destination, word_at<unsigned>(pattern, 0), bytes / 4, stream));
  if (width == 8) fill_pairs(destination, bytes, pattern, stream);
}

}  // namespace tilewright::cuda
