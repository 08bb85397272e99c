# SPDX-License-Identifier: Apache-2.0
# cross_entropy.py — the loss of each row of logits and its gradient, without ever storing a
# probability: one pass finds maximum and sum together, the second writes the gradient.
import triton
import triton.language as tl


@triton.jit
def cross_entropy_kernel(logits_ptr, label_ptr, loss_ptr, gradient_ptr, row_stride, classes,
                         ignored, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * row_stride
    gradient_ptr += row * row_stride
    label = tl.load(label_ptr + row)
    if label == ignored:
        tl.store(loss_ptr + row, 0.0)
        for first in range(0, classes, BLOCK):
            column = first + tl.arange(0, BLOCK)
            tl.store(gradient_ptr + column, 0.0, mask=column < classes)
        return

    largest = -float("inf")
    total = 0.0
    for first in range(0, classes, BLOCK):
        column = first + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + column, mask=column < classes, other=-float("inf")).to(tl.float32)
        now = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - now) + tl.sum(tl.exp(x - now), axis=0)
        largest = now
    log_sum = largest + tl.log(total)
    tl.store(loss_ptr + row, log_sum - tl.load(logits_ptr + label).to(tl.float32))

    for first in range(0, classes, BLOCK):
        column = first + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + column, mask=column < classes, other=-float("inf")).to(tl.float32)
        gradient = tl.exp(x - log_sum) - tl.where(column == label, 1.0, 0.0)
        tl.store(gradient_ptr + column, gradient, mask=column < classes)
