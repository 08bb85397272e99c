// SPDX-License-Identifier: Apache-2.0
// load_inline/kernel_stubs.h — host functions that carry a kernel's name and signature and launch
// it, as nvcc makes them.
//
// The body is called with the configuration of `<<<...>>>` waiting (torch/cuda_host.h). On a GPU it
// hands over the kernel's name expression; emulated, the address of the kernel's CPU entry, whose
// threads run the kernel under another name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "load_inline/outline.h"

namespace tilewright {

// What an emulated kernel is called where its stub takes the name: "ns::k" and "k" become
// "ns::tw_thread_k" and "tw_thread_k".
std::string thread_name(std::string_view kernel);

// `{ ... }` that launches the kernel of this declaration on a GPU.
std::string gpu_stub_body(const Declaration& kernel);

// A whole function, in its namespace, that launches the kernel by emulation. `text` is the source
// of the declaration.
std::string emulated_stub(const Declaration& kernel, std::string_view text, bool uses_barriers,
                          bool is_overloaded);

// The same for a whole program: the kernel is registered before main runs (torch/cuda_program.h),
// so that one module can hold every instance.
std::string gpu_program_stub_body(const Declaration& kernel, bool is_overloaded);
std::string emulated_program_stub(const Declaration& kernel, std::string_view text,
                                  bool uses_barriers, bool is_overloaded);

// Declares the stub of a kernel that is declared without its body: default arguments stand there.
std::string stub_declaration(const Declaration& kernel, std::string_view text);

// The name that parameter `index` has, or gets where the declaration leaves it out.
std::string parameter_name(const Declaration& kernel, std::size_t index);

}  // namespace tilewright
