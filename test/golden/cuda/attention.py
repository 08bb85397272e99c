# attention_forward(*fp16:16, *fp16:16, *fp16:16, *fp16:16, *fp32:16, i32:16, fp32, 64, 128, 64, False)
# of examples/attention.py
