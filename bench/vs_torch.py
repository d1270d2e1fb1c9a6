#!/usr/bin/env python3
"""A training step of Shardscope's CPU device beside PyTorch's, one thread each, in turns: medians and their ratio.

    python3 bench/vs_torch.py build/release/bin/shardscope [--model vit_b_16_1ch10] [--batch 4] [--steps 8] [--rounds 3]

Needs PyTorch (any recent version; the CPU part is all that is used). Forward, backward and AdamW (fused on PyTorch's
side, the fastest it has) in float32, of the same model on batches of the same shape. The first steps of each turn are
left out: there memory is touched first and primitives are made. Target: ratio <= 1.2.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

WARM = 2  # steps of a turn that are left out

# torchvision's vit_b_16 with one channel and ten classes, and the tutorial's model with the lecture's twelve blocks.
MODELS = {
    "vit_tutorial_12": dict(layers=12, hidden=128, heads=2, mlp=128, patch=7, image=28, batch=64),
    "vit_b_16_1ch10": dict(layers=12, hidden=768, heads=12, mlp=3072, patch=16, image=224, batch=4),
}


def torch_model(torch, spec):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1 = nn.LayerNorm(spec["hidden"], eps=1e-6)
            self.attention = nn.MultiheadAttention(spec["hidden"], spec["heads"], batch_first=True)
            self.ln_2 = nn.LayerNorm(spec["hidden"], eps=1e-6)
            self.mlp = nn.Sequential(nn.Linear(spec["hidden"], spec["mlp"]), nn.GELU(),
                                     nn.Linear(spec["mlp"], spec["hidden"]))

        def forward(self, x):
            normed = self.ln_1(x)
            x = x + self.attention(normed, normed, normed, need_weights=False)[0]
            return x + self.mlp(self.ln_2(x))

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            patches = (spec["image"] // spec["patch"]) ** 2
            self.patches = nn.Conv2d(1, spec["hidden"], spec["patch"], spec["patch"])
            self.token = nn.Parameter(torch.zeros(1, 1, spec["hidden"]))
            self.position = nn.Parameter(torch.randn(1, patches + 1, spec["hidden"]) * 0.02)
            self.blocks = nn.Sequential(*[Block() for _ in range(spec["layers"])])
            self.norm = nn.LayerNorm(spec["hidden"], eps=1e-6)
            self.head = nn.Linear(spec["hidden"], 10)

        def forward(self, images):
            x = self.patches(images).flatten(2).transpose(1, 2)
            x = torch.cat([self.token.expand(len(x), -1, -1), x], dim=1) + self.position
            return self.head(self.norm(self.blocks(x))[:, 0])

    return Transformer()


class Torch:
    def __init__(self, spec, batch):
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(0)
        self.torch = torch
        self.model = torch_model(torch, spec)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, fused=True)
        self.images = torch.rand(batch, 1, spec["image"], spec["image"])
        self.labels = torch.randint(10, (batch,))

    def turn(self, steps):
        times = []
        for _ in range(steps + WARM):
            begin = time.perf_counter()
            self.optimizer.zero_grad()
            self.torch.nn.functional.cross_entropy(self.model(self.images), self.labels).backward()
            self.optimizer.step()
            times.append(time.perf_counter() - begin)
        return times[WARM:]


def shardscope_turn(program, model, batch, steps):
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "steps.json"
        command = [program, "run", model, "--strategy", "single", "--ranks", "1", "--steps", str(steps + WARM), "--set",
                   f"training.local_batch_size={batch}", "--log-json", str(log)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
        rows = [json.loads(line) for line in log.read_text().splitlines()]
    return [row["step_ns"] / 1e9 for row in rows if "step_ns" in row][WARM:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--model", choices=MODELS, default="vit_tutorial_12")
    parser.add_argument("--batch", type=int, help="images of a step; left out: 64, or 4 of vit_b_16_1ch10")
    parser.add_argument("--steps", type=int, default=8, help="steps of a turn that count")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each")
    arguments = parser.parse_args()
    spec = MODELS[arguments.model]
    batch = arguments.batch or spec["batch"]
    theirs = Torch(spec, batch)
    ours, others = [], []
    for _ in range(arguments.rounds):
        ours += shardscope_turn(arguments.program, arguments.model, batch, arguments.steps)
        others += theirs.turn(arguments.steps)
    mine, other = statistics.median(ours), statistics.median(others)
    print(f"{arguments.model}, batch {batch}, {len(ours)} steps each in {arguments.rounds} turns, one thread")
    print(f"  shardscope            {mine * 1e3:8.1f} ms (least {min(ours) * 1e3:.1f})")
    print(f"  PyTorch {theirs.torch.__version__:<13} {other * 1e3:8.1f} ms (least {min(others) * 1e3:.1f}), fused AdamW")
    print(f"  ratio                 {mine / other:8.3f} (of the least {min(ours) / min(others):.3f}; target <= 1.2)")


if __name__ == "__main__":
    main()
