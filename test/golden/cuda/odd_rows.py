# softmax_kernel(*bf16:16, *bf16:16, i32, 1024)
# of src/bench/kernels/softmax.py
