# SPDX-License-Identifier: Apache-2.0
# public/ — public Triton kernels, run as they are with Triton and with Tilewright.
