# SPDX-License-Identifier: Apache-2.0
# public/launches.py — sees every launch that host code makes with Triton, and describes it as text.
import dataclasses
import hashlib
import pathlib

import triton
import triton.language as tl
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

OPTIONS = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": None, "enable_fp_fusion": True}


class Unsupported(Exception):
    """A launch that the other side cannot be given: says why."""


@dataclasses.dataclass
class Launch:
    jit: JITFunction
    arguments: dict  # by name, in order
    types: dict  # name -> (type as Triton names it, what Triton knows of the value)
    grid: tuple
    options: dict

    def name(self):
        return self.jit.__name__

    def file(self):
        return pathlib.Path(self.jit.fn.__code__.co_filename)

    def signature(self):
        """In the manner of `tilewright compile --signature`."""
        return ", ".join(f"{name}={item_text(name, *item)}" for name, item in self.types.items())

    def key(self, repos):
        """The same for all launches that need the same machine code."""
        file = self.file().resolve().relative_to(repos)
        return f"{file}:{self.name()}", self.signature(), tuple(sorted(self.options.items(), key=str))


def key_hash(key):
    return hashlib.sha256(repr(key).encode()).hexdigest()[:20]


def item_text(name, kind, known):
    if kind == "constexpr":
        return constant_text(name, known)
    if not isinstance(kind, str) or kind.startswith("tensordesc") or "nvTmaDesc" in kind:
        raise Unsupported(f"argument '{name}' is a tuple or a descriptor")
    return ("i1" if kind == "u1" else kind) + (":16" if known == "D" else "")


def constant_text(name, value):
    value = value.value if isinstance(value, tl.constexpr) else value
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, tl.dtype):
        return value.name
    raise Unsupported(f"constant '{name}' is a {type(value).__name__}")


def bind(jit, args, grid, kwargs):
    """A launch with Triton's own view of its arguments."""
    kwargs = {k: v for k, v in kwargs.items() if k not in ("debug", "instrumentation_mode")}
    device = triton.runtime.driver.active.get_current_device()
    binder = jit.device_caches[device][4]
    bound, specialization, rest = binder(*args, **kwargs)
    types = dict(zip(bound, specialization))
    # A kernel may have a parameter of an option's name: Triton takes its value for both.
    options = {name: rest.get(name, getattr(bound.get(name), "value", bound.get(name, value)))
               for name, value in OPTIONS.items()}
    if options["num_stages"] is None:
        options["num_stages"] = OPTIONS["num_stages"]
    grid = grid(bound) if callable(grid) else grid
    grid = tuple(int(g) for g in grid) + (1,) * (3 - len(grid))
    return Launch(jit, bound, types, grid, options)


def fixed_config(tuner, args, kwargs):
    """The config in the middle of the list that is left for these arguments: nothing is timed, and
    both sides run the same one."""
    tuner.nargs = dict(zip(tuner.arg_names, args))
    configs = tuner.prune_configs(kwargs) if len(tuner.configs) > 1 else tuner.configs
    config = configs[len(configs) // 2]
    if config.pre_hook is not None:
        config.pre_hook({**tuner.nargs, **kwargs, **config.all_kwargs()})
    return config


def see_launches(handler):
    """`handler(launch, original)` is called in place of each launch; `original()` makes it."""
    run = JITFunction.run

    def run_seen(self, *args, grid, warmup, **kwargs):
        if warmup:
            return run(self, *args, grid=grid, warmup=True, **kwargs)
        launch = bind(self, args, grid, dict(kwargs))
        return handler(launch, lambda warm=False: run(self, *args, grid=launch.grid, warmup=warm, **dict(kwargs)))

    def run_config(self, *args, **kwargs):
        config = fixed_config(self, args, kwargs)
        self.best_config = config
        return self.fn.run(*args, **{**kwargs, **config.all_kwargs()})

    JITFunction.run = run_seen
    Autotuner.run = run_config
