# SPDX-License-Identifier: Apache-2.0
# public/cases.py — which public operations are run, at which sizes: their own host code, forward and backward.
import dataclasses
import importlib
import pathlib
import re

import torch

CASES = []
ROWS = ((16384, 4096), (8192, 8192), (65536, 1024))
LOGITS = ((4096, 32000), (4096, 128256), (16384, 8192))
HEADS = ((8, 2048, 32, 128), (4, 4096, 32, 64), (16, 1024, 16, 256))
FLA_ROWS = ((16, 2048, 2048), (4, 4096, 4096), (64, 1024, 1024))


@dataclasses.dataclass
class Case:
    project: str
    name: str
    sizes: tuple
    function: object


def case(project, name, sizes):
    def keep(function):
        CASES.append(Case(project, name, sizes, function))
        return function
    return keep


class Maker:
    """Inputs of a case."""

    def randn(self, *shape, dtype=torch.bfloat16, grad=False):
        return torch.randn(shape, dtype=dtype, device="cuda").requires_grad_(grad)

    def f32(self, *shape, grad=False):
        return self.randn(*shape, dtype=torch.float32, grad=grad)

    def log_probs(self, *shape, grad=False):
        return self.f32(*shape).sub(6).requires_grad_(grad)

    def integers(self, high, *shape):
        return torch.randint(0, high, shape, device="cuda")

    def gradients(self, *outputs):
        torch.autograd.backward(outputs, [self.randn(*y.shape, dtype=y.dtype) for y in outputs])


def get(module, name):
    return getattr(importlib.import_module(module), name)


def apply_rows(module, function, *parameters, before=(), after=(), make="randn"):
    """A function of rows: `before` more tensors like x, `parameters` of the columns, `after` as they are."""
    def run(t, *shape):
        rows = [getattr(t, make)(*shape, grad=True) for _ in range(1 + len(before))]
        weights = [getattr(t, p)(shape[-1], grad=True) for p in parameters]
        call = get(module, function)
        result = getattr(call, "apply", call)(*rows, *weights, *after)
        results = [r for r in (result if isinstance(result, tuple) else (result,)) if r is not None and r.requires_grad]
        t.gradients(*results)
    return run


# ---- Liger-Kernel

LIGER = "liger_kernel.ops."
case("Liger", "rms_norm", ROWS)(apply_rows(LIGER + "rms_norm", "LigerRMSNormFunction", "randn", after=(1e-6,)))


@case("Liger", "cross_entropy", LOGITS)
def liger_cross_entropy(t, rows, columns):
    x = t.randn(rows, columns, grad=True)
    get(LIGER + "cross_entropy", "LigerCrossEntropyFunction").apply(x, t.integers(columns, rows), None)


case("Liger", "layer_norm", ROWS)(apply_rows(LIGER + "layer_norm", "LigerLayerNormFunction", "randn", "randn", after=(1e-6,)))
case("Liger", "swiglu", ROWS)(apply_rows(LIGER + "swiglu", "LigerSiLUMulFunction", before=(1,)))
case("Liger", "geglu", ROWS)(apply_rows(LIGER + "geglu", "LigerGELUMulFunction", before=(1,)))


@case("Liger", "rope", HEADS)
def liger_rope(t, batch, length, heads, size):
    q = t.randn(batch, length, heads, size).transpose(1, 2).requires_grad_()
    k = t.randn(batch, length, heads // 4, size).transpose(1, 2).requires_grad_()
    cos, sin = t.randn(1, length, size), t.randn(1, length, size)
    q2, k2 = get(LIGER + "rope", "LigerRopeFunction").apply(q, k, cos, sin)
    t.gradients(q2, k2)


case("Liger", "softmax", ROWS)(apply_rows(LIGER + "softmax", "LigerSoftmaxFunction"))
case("Liger", "fused_add_rms_norm", ROWS)(
    apply_rows(LIGER + "fused_add_rms_norm", "LigerFusedAddRMSNormFunction", "randn", before=(1,), after=(1e-6,)))


@case("Liger", "kl_div", LOGITS)
def liger_kl_div(t, rows, columns):
    loss = get(LIGER + "kl_div", "LigerKLDivLossFunction").apply(
        t.log_probs(rows, columns, grad=True), t.log_probs(rows, columns), "batchmean", True)
    loss.backward()


@case("Liger", "jsd", LOGITS)
def liger_jsd(t, rows, columns):
    get(LIGER + "jsd", "LigerJSDFunction").apply(t.log_probs(rows, columns, grad=True), t.log_probs(rows, columns))


@case("Liger", "tvd", LOGITS)
def liger_tvd(t, rows, columns):
    get(LIGER + "tvd", "LigerTVDLossFunction").apply(t.log_probs(rows, columns, grad=True), t.log_probs(rows, columns))


@case("Liger", "group_norm", ((64, 128, 4096), (32, 512, 1024), (256, 64, 2048)))
def liger_group_norm(t, batch, channels, hidden):
    y = get(LIGER + "group_norm", "LigerGroupNormFunction").apply(
        t.f32(batch, channels, hidden, grad=True), t.f32(channels, grad=True), t.f32(channels, grad=True),
        channels, channels // 4, 1e-6)
    t.gradients(y)


@case("Liger", "dyt", ROWS)
def liger_dyt(t, rows, columns):
    y = get(LIGER + "dyt", "LigerDyTFunction").apply(
        t.randn(rows, columns, grad=True), t.randn(1, grad=True), t.randn(columns, grad=True), t.randn(columns, grad=True))
    t.gradients(y)


case("Liger", "poly_norm", ROWS)(lambda t, rows, columns: t.gradients(
    get(LIGER + "poly_norm", "LigerPolyNormFunction").apply(
        t.randn(rows, columns, grad=True), t.randn(3, grad=True), t.randn(grad=True))))
case("Liger", "relu_squared", ROWS)(apply_rows(LIGER + "relu_squared", "LigerReLUSquaredFunction"))
case("Liger", "sparsemax", ROWS)(apply_rows(LIGER + "sparsemax", "LigerSparsemaxFunction", after=(-1,)))


@case("Liger", "modulated_rms_norm", ROWS)
def liger_modulated_rms_norm(t, rows, columns):
    y = get(LIGER + "modulated_rms_norm", "LigerModulatedRMSNormFunction").apply(
        t.randn(8, rows // 8, columns, grad=True), t.randn(columns, grad=True),
        t.randn(8, columns, grad=True), t.randn(8, columns, grad=True), 1e-6)
    t.gradients(y)


case("Liger", "swiglu_fused_gate_up", ROWS)(
    apply_rows(LIGER + "swiglu", "LigerFusedGateUpSiLUMulFunction"))


@case("Liger", "qwen2vl_mrope", HEADS)
def liger_mrope(t, batch, length, heads, size):
    q = t.randn(batch, length, heads, size).transpose(1, 2).requires_grad_()
    k = t.randn(batch, length, heads // 4, size).transpose(1, 2).requires_grad_()
    cos, sin = t.randn(3, batch, length, size), t.randn(3, batch, length, size)
    section = [size // 8, size * 3 // 16, size * 3 // 16]
    q2, k2 = get(LIGER + "qwen2vl_mrope", "LigerQwen2VLMRopeFunction").apply(q, k, cos, sin, section)
    t.gradients(q2, k2)


@case("Liger", "grpo_loss", ((8, 512, 32000), (4, 256, 128256), (16, 1024, 8192)))
def liger_grpo(t, batch, length, vocabulary):
    logits = t.randn(batch, length + 1, vocabulary, grad=True)
    result = get(LIGER + "grpo_loss", "GrpoLossFunction").apply(
        logits, t.f32(batch, length), t.f32(batch, length), t.integers(vocabulary, batch, length),
        t.f32(batch), None, 0.9, 0.04, 0.2, 0.4, False)
    result[0].backward()


@case("Liger", "attn_res", ((8, 16384, 1024), (4, 16384, 2048), (8, 4096, 4096)))
def liger_attn_res(t, blocks, tokens, size):
    y = get(LIGER + "attn_res", "LigerAttnResFunction").apply(
        t.randn(blocks, 1, tokens, size, grad=True), t.randn(size, grad=True), t.randn(size, grad=True), 1e-6)
    t.gradients(y)


@case("Liger", "embedding", ((16384, 4096), (65536, 1024), (8192, 8192)))
def liger_embedding(t, tokens, size):
    y = get(LIGER + "experimental.embedding", "LigerEmbeddingFunction").apply(
        t.f32(32000, size, grad=True), t.integers(32000, tokens))
    t.gradients(y)


@case("Liger", "multi_token_mask", ((64, 1024), (16, 2048), (4, 4096)))
def liger_multi_token_mask(t, batch, length):
    for name in ("_mask_inf_forward", "_mask_inf_backward"):
        get(LIGER + "multi_token_attention", name)(t.randn(batch, length, length))


@case("Liger", "mhc", ((16384, 4, 1024), (8192, 4, 2048), (4096, 4, 4096)))
def liger_mhc(t, tokens, streams, size):
    y = get(LIGER + "mhc", "LigerMHCPreFunction").apply(t.randn(tokens, streams, size, grad=True), t.f32(tokens, streams, grad=True))
    t.gradients(y)
    y = get(LIGER + "mhc", "LigerMHCPostResFunction").apply(
        t.randn(tokens, streams, size, grad=True), t.randn(tokens, size, grad=True),
        t.f32(tokens, streams, grad=True), t.f32(tokens, streams, streams, grad=True))
    t.gradients(y)


# ---- flash-linear-attention

FLA = "fla.modules."
case("fla", "rms_norm", FLA_ROWS)(
    lambda t, *shape: t.gradients(get(FLA + "layernorm", "rms_norm")(t.randn(*shape, grad=True), t.randn(shape[-1], grad=True), None)))
case("fla", "layer_norm", FLA_ROWS)(apply_rows(FLA + "layernorm", "layer_norm", "randn", "randn"))
case("fla", "layer_norm_short_rows", ((16, 2048, 32, 128), (16, 4096, 32, 64), (8, 2048, 16, 256)))(
    apply_rows(FLA + "layernorm", "layer_norm", "randn", "randn"))
case("fla", "l2norm", ((16, 2048, 32, 128), (16, 4096, 32, 64), (16, 2048, 16, 256)))(apply_rows(FLA + "l2norm", "l2norm"))
case("fla", "l2norm_long_rows", FLA_ROWS)(apply_rows(FLA + "l2norm", "l2norm"))
for _function in ("SigmoidFunction", "SwishFunction"):
    case("fla", _function.replace("Function", "").lower(), FLA_ROWS)(apply_rows(FLA + "activations", _function))
case("fla", "logsigmoid", FLA_ROWS)(apply_rows(FLA + "activations", "LogSigmoidFunction", after=(16.0,)))
for _function in ("SwiGLUFunction", "SigmoidGLUFunction"):
    case("fla", _function.replace("Function", "").lower(), FLA_ROWS)(apply_rows(FLA + "activations", _function, before=(1,)))
case("fla", "powglu", FLA_ROWS)(apply_rows(FLA + "activations", "PowGLUFunction", before=(1,), after=(3.0,)))
case("fla", "token_shift", FLA_ROWS)(apply_rows(FLA + "token_shift", "token_shift"))
case("fla", "layer_norm_gated", FLA_ROWS)(apply_rows(FLA + "fused_norm_gate", "layer_norm_gated", "randn", "randn", before=(1,)))
case("fla", "rms_norm_gated", ((16, 2048, 32, 128), (16, 4096, 32, 64), (16, 2048, 16, 256)))(
    lambda t, *shape: t.gradients(get(FLA + "fused_norm_gate", "rms_norm_gated")(
        t.randn(*shape, grad=True), t.randn(*shape, grad=True), t.randn(shape[-1], grad=True), None)))


@case("fla", "layernorm_gated", ROWS)
def fla_layernorm_gated(t, rows, columns):
    y = get(FLA + "layernorm_gated", "LayerNormFn").apply(
        t.randn(rows, columns, grad=True), t.randn(columns, grad=True), None, t.randn(rows, columns, grad=True),
        1e-6, None, True, True)
    t.gradients(y)


@case("fla", "rotary", HEADS)
def fla_rotary(t, batch, length, heads, size):
    y = get(FLA + "rotary", "rotary_embedding")(
        t.randn(batch, length, heads, size, grad=True), t.randn(length, size // 2), t.randn(length, size // 2))
    t.gradients(y)


@case("fla", "cross_entropy", LOGITS)
def fla_cross_entropy(t, rows, columns):
    loss, _ = get(FLA + "fused_cross_entropy", "cross_entropy_loss")(t.randn(rows, columns, grad=True), t.integers(columns, rows))
    t.gradients(loss)


@case("fla", "softmax", ROWS)
def fla_softmax(t, rows, columns):
    p = get("fla.ops.utils.softmax", "softmax_fwd")(t.randn(rows, columns))
    get("fla.ops.utils.softmax", "softmax_bwd")(p, t.f32(rows, columns))


case("fla", "logsumexp", ROWS)(lambda t, *shape: get("fla.ops.utils.logsumexp", "logsumexp_fwd")(t.randn(*shape)))


@case("fla", "cumsum", ((16, 4096, 32, 64), (4, 8192, 32, 128), (32, 2048, 16, 64)))
def fla_cumsum(t, batch, length, heads, size):
    cumsum = importlib.import_module("fla.ops.utils.cumsum")
    cumsum.chunk_local_cumsum(t.f32(batch, length, heads), 64)
    cumsum.chunk_local_cumsum(t.f32(batch, length, heads, size), 64)
    cumsum.chunk_global_cumsum(t.f32(batch, length, heads))
    cumsum.chunk_global_cumsum(t.f32(batch, length, heads, size))


case("fla", "mean_pooling", ((16, 4096, 32, 64), (4, 8192, 32, 128), (32, 2048, 16, 64)))(
    lambda t, *shape: t.gradients(get("fla.ops.utils.pooling", "mean_pooling")(t.randn(*shape, grad=True), 64)))


@case("fla", "hgrn", ((16, 2048, 2048), (4, 4096, 4096), (64, 1024, 1024)))
def fla_hgrn(t, batch, length, size):
    y, _ = get("fla.ops.hgrn.fused_recurrent", "fused_recurrent_hgrn")(
        t.randn(batch, length, size, grad=True), t.randn(batch, length, size, grad=True))
    t.gradients(y)


@case("fla", "rwkv7_addcmul", FLA_ROWS)
def fla_addcmul(t, batch, length, size):
    ys = get("fla.ops.rwkv7.fused_addcmul", "fused_addcmul_rwkv7")(
        t.randn(batch, length, size, grad=True), t.randn(batch, length, size, grad=True),
        *(t.randn(1, 1, size, grad=True) for _ in range(6)))
    t.gradients(*ys)


case("fla", "rwkv7_k_update", FLA_ROWS)(lambda t, *shape: t.gradients(get("fla.ops.rwkv7.fused_k_update", "fused_k_rwkv7")(
    t.randn(*shape, grad=True), t.randn(*shape, grad=True), t.randn(shape[-1], grad=True))))


@case("fla", "gdn_gate", ((16, 4096, 32), (8, 8192, 64), (64, 2048, 16)))
def fla_gdn_gate(t, batch, length, heads):
    t.gradients(get("fla.ops.gated_delta_rule.gate", "fused_gdn_gate")(
        t.randn(batch, length, heads, grad=True), t.f32(heads, grad=True), t.f32(heads, grad=True)))


@case("fla", "kda_gate", ((16, 2048, 32, 128), (8, 4096, 32, 64), (16, 1024, 16, 256)))
def fla_kda_gate(t, batch, length, heads, size):
    t.gradients(get("fla.ops.kda.gate", "fused_kda_gate")(
        t.randn(batch, length, heads, size, grad=True), t.f32(heads, grad=True), t.f32(heads * size, grad=True)))


# ---- unsloth

UNSLOTH = "unsloth.kernels."
case("unsloth", "rms_layernorm", ROWS)(
    apply_rows(UNSLOTH + "rms_layernorm", "Fast_RMS_Layernorm", "randn", after=(1e-6, False)))
case("unsloth", "rms_layernorm_gemma", ROWS)(
    apply_rows(UNSLOTH + "rms_layernorm", "Fast_RMS_Layernorm", "randn", after=(1e-6, True)))
case("unsloth", "layernorm", ROWS)(apply_rows(UNSLOTH + "layernorm", "Fast_Layernorm", "randn", "randn", after=(1e-6,)))


@case("unsloth", "cross_entropy", LOGITS)
def unsloth_cross_entropy(t, rows, columns):
    loss = get(UNSLOTH + "cross_entropy_loss", "Fast_CrossEntropyLoss").apply(
        t.randn(rows, columns).requires_grad_(), t.integers(columns, rows), 0, 0)
    t.gradients(loss)


@case("unsloth", "rope", HEADS)
def unsloth_rope(t, batch, length, heads, size):
    y = get(UNSLOTH + "rope_embedding", "Fast_RoPE_Embedding").apply(
        t.randn(batch, length, heads, size).requires_grad_(), t.randn(length, size // 2), t.randn(length, size // 2))
    t.gradients(y)


@case("unsloth", "swiglu", FLA_ROWS)
def unsloth_swiglu(t, *shape):
    get(UNSLOTH + "swiglu", "swiglu_fg_kernel")(t.randn(*shape), t.randn(*shape))
    rows = (shape[0] * shape[1], shape[2])
    get(UNSLOTH + "swiglu", "swiglu_DWf_DW_dfg_kernel")(*(t.randn(*rows) for _ in range(3)))


@case("unsloth", "geglu", FLA_ROWS)
def unsloth_geglu(t, *shape):
    rows = (shape[0] * shape[1], shape[2])
    for kind in ("exact", "approx"):
        get(UNSLOTH + "geglu", f"geglu_{kind}_forward_kernel")(t.randn(*shape), t.randn(*shape))
        get(UNSLOTH + "geglu", f"geglu_{kind}_backward_kernel")(*(t.randn(*rows) for _ in range(3)))


# ---- TritonBench's performance set: its own inputs and calls

def metric(repos, name):
    """The object of TritonBench's golden_metrics that makes inputs and calls the operation."""
    file = repos / "TritonBench/performance_metrics/perf_G/golden_metrics" / f"{name}_perf.py"
    spec = importlib.util.spec_from_file_location(f"perf_{name}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.performance_metrics()


def tritonbench(repos, name):
    def run(t, place):
        run_place(metric(repos, name), place)
    return run


def run_place(metrics, place):
    """`place` 0 is the largest of its sizes, 1 the one that is two smaller, 2 four smaller."""
    with torch.device("cuda"):
        metrics.get_input_tensors()
    inputs = metrics.input_tensors
    if len(inputs) <= 2 * place:
        raise ValueError(f"only {len(inputs)} sizes")
    inputs = inputs[len(inputs) - 1 - 2 * place]
    metrics.input_tensors = []
    metrics.call_op(metrics.to_cuda(inputs))


def tritonbench_cases(repos):
    folder = pathlib.Path(repos) / "TritonBench/performance_metrics/perf_G/golden_metrics"
    names = sorted(file.name.removesuffix("_perf.py") for file in folder.glob("*_perf.py"))

    def multiplies(name):
        file = pathlib.Path(repos) / "TritonBench/data/TritonBench_G_v1" / f"{name}.py"
        return file.is_file() and bool(re.search(r"\btl\.dot\b", file.read_text()))

    return [Case("TritonBench", name, ((0,), (1,), (2,)), tritonbench(repos, name))
            for name in sorted(names, key=lambda name: (multiplies(name), name))]


def all_cases(repos):
    """In the order of importance."""
    return CASES + tritonbench_cases(repos)
