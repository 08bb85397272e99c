// SPDX-License-Identifier: Apache-2.0
// tilewright/dlpack.h — tensors to and from other libraries without a copy, through DLPack.
//
// The structures are DLPack's (version 1.x and the older unversioned form), declared by name only:
// include DLPack's own header, or the library's that hands you one, before using them.
#pragma once

#include "tilewright/tensor.h"

extern "C" {
struct DLManagedTensor;
struct DLManagedTensorVersioned;
}

namespace tilewright {

// Takes over the capsule: its deleter runs when the last reference to the tensor goes. Throws
// FormatError on a dtype, device or strides we do not have; the capsule is then left to the caller.
Tensor from_dlpack(DLManagedTensor* capsule);
Tensor from_dlpack(DLManagedTensorVersioned* capsule);

// The receiver calls the capsule's deleter when it is done.
DLManagedTensor* to_dlpack(const Tensor& tensor);
DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor);

}  // namespace tilewright
