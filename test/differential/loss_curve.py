# SPDX-License-Identifier: Apache-2.0
# test/differential/loss_curve.py — PyTorch trains from the weights and data of examples/train_mlp, and the losses are compared.
#
#   mkdir DIR && build/dev/bin/train_mlp DIR; python3 test/differential/loss_curve.py DIR [--device cuda] [--compile]
import argparse
import pathlib
import sys

import numpy
import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--compile", action="store_true", help="torch.compile instead of eager PyTorch")
    options = parser.parse_args()
    load = lambda name: torch.from_numpy(numpy.load(options.folder / f"{name}.npy")).to(options.device)
    torch.backends.cuda.matmul.allow_tf32 = False
    layers = []
    for number in range(3):
        weight, bias = load(f"parameter{2 * number}"), load(f"parameter{2 * number + 1}")
        layer = torch.nn.Linear(weight.shape[1], weight.shape[0], device=options.device)
        with torch.no_grad():
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
        layers += [layer] + ([torch.nn.GELU()] if number < 2 else [])
    network = torch.nn.Sequential(*layers)
    adam = torch.optim.AdamW(network.parameters(), lr=0.002, weight_decay=0.01)
    function = torch.compile(network) if options.compile else network
    x, target, ours = load("x"), load("target"), numpy.load(options.folder / "losses.npy")
    losses = []
    for _ in range(len(ours)):
        adam.zero_grad()
        loss = torch.nn.functional.cross_entropy(function(x), target)
        loss.backward()
        adam.step()
        losses.append(loss.item())
    worst = max(abs(a - b) / b for a, b in zip(ours, losses))
    for step in range(0, len(losses), 10):
        print(f"step {step + 1:2}: ours {ours[step]:.6f}, PyTorch {torch.__version__} {losses[step]:.6f}")
    print("every tenth: " + ", ".join(f"{loss:.6f}" for loss in losses[::10]))
    print(f"{len(losses)} steps, off by {worst:.1e} of the loss at most")
    sys.exit(0 if worst < 2e-4 else 1)


main()
