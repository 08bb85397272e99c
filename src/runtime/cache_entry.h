// SPDX-License-Identifier: Apache-2.0
// runtime/cache_entry.h — the bytes of one disk cache entry.
//
// A magic word, the format's version, the key and the whole length, then the binary, its log and
// its symbols, each with its length; a 128-bit checksum over all of that ends the file. All but the
// middle is the same in every version of the format, so that any version can tell damage.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"
#include "runtime/backend.h"

namespace tilewright {

std::vector<std::byte> encode_cache_entry(const Hash128& key, const Binary& binary);

// Empty when the entry is not intact, or of another format version.
std::optional<Binary> decode_cache_entry(const Hash128& key, std::span<const std::byte> file);

// Whether no bit is wrong or missing and the entry has this key, whatever the format version.
bool is_intact_cache_entry(const Hash128& key, std::span<const std::byte> file);

}  // namespace tilewright
