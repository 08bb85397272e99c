// SPDX-License-Identifier: Apache-2.0
// tilewright/safetensors.h — named tensors in files, as the weights of models are passed around.
//
//   tw::save_safetensors("model.safetensors", {{"w", w}, {"b", b}});
//   auto tensors = tw::load_safetensors("model.safetensors");   // tensors.at("w")
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tilewright/tensor.h"

namespace tilewright {

using NamedTensors = std::map<std::string, Tensor>;

// All tensors of the file. On the CPU they lie in the file's own pages, which are read when they
// are needed; what is written into them does not reach the file. The file must not become shorter
// while they live. Throws FormatError when the content is not what it claims to be or has a dtype
// that is none of ours, EnvironmentError when the file cannot be read.
NamedTensors load_safetensors(const std::string& path, std::optional<Device> device = {});
// The texts that a file has besides.
std::map<std::string, std::string> load_safetensors_metadata(const std::string& path);
// Tensors of any strides and devices. Written under another name first, so that `path` is whole or
// untouched.
void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata = {});

}  // namespace tilewright
