// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/onednn.h — products and convolutions by oneDNN, through a plug-in of ours
// (libtilewright_onednn.so) that is opened at run time where it is.
#pragma once

#include <string>

#include "runtime/library_convolution.h"
#include "runtime/library_product.h"

namespace tilewright {

// What the plug-in exports. It is compiled with the library it comes with: `version` must be ours.
inline constexpr int onednn_plugin_version = 1;
struct OnednnPlugin {
  int version = 0;
  const char* name = nullptr;  // "oneDNN 2.6.3"
  // True when it was made; false when oneDNN does not take it. `threads` run it; 0: all.
  bool (*multiply)(const LibraryProduct& product, int threads) = nullptr;
  bool (*convolve)(const LibraryConvolution& convolution, int threads) = nullptr;
};

// As library_multiply and library_convolve.
bool onednn_multiply(const LibraryProduct& product);
bool onednn_convolve(const LibraryConvolution& convolution);
std::string onednn_name();

}  // namespace tilewright
