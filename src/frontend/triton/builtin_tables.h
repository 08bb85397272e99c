// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtin_tables.h — the tables of builtins, one family per file.
#pragma once

#include <span>

#include "frontend/triton/call.h"

namespace tilewright::triton {

std::span<const BuiltinRow> create_builtins();     // arange, zeros, program_id, where, cast
std::span<const BuiltinRow> shape_builtins();      // reshape, permute, join, broadcast_to
std::span<const BuiltinRow> memory_builtins();     // load, store
std::span<const BuiltinRow> block_builtins();      // make_block_ptr, advance, descriptors
std::span<const BuiltinRow> atomic_builtins();     // atomic_add, ...
std::span<const BuiltinRow> math_builtins();       // exp, maximum, fma
std::span<const BuiltinRow> reduce_builtins();     // sum, max, reduce, cumsum, softmax
std::span<const BuiltinRow> sort_builtins();       // sort, topk, flip, histogram
std::span<const BuiltinRow> dot_builtins();        // dot, dot_scaled
std::span<const BuiltinRow> random_builtins();     // rand, philox
std::span<const BuiltinRow> debug_builtins();      // static_assert, device_print, hints
std::span<const BuiltinRow> asm_builtins();        // inline_asm_elementwise
std::span<const BuiltinRow> map_builtins();        // map_elementwise
std::span<const BuiltinRow> type_builtins();       // dtype(...), pointer_type(...), constexpr(...)
std::span<const BuiltinRow> libdevice_builtins();  // everything of libdevice
std::span<const BuiltinRow> python_builtins();     // len, min, isinstance
std::span<const BuiltinRow> python_math_builtins();  // math.sqrt of constants
std::span<const BuiltinRow> triton_builtins();       // triton.cdiv, triton.next_power_of_2
std::span<const BuiltinRow> target_builtins();       // tl.target_info.*
std::span<const BuiltinRow> cuda_builtins();         // tl.extra.cuda.gdc_*
std::span<const BuiltinRow> dtype_methods();         // dtype.is_floating()
std::span<const BuiltinRow> descriptor_methods();    // desc.load(...)
std::span<const BuiltinRow> block_methods();         // block_pointer.advance(...)

}  // namespace tilewright::triton
