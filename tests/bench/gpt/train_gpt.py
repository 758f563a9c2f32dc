#!/usr/bin/env python3
"""Reference: character-level GPT trained in PyTorch on the CPU, float32.

pre-LayerNorm blocks, GELU (tanh form), learned positions, biases on every linear layer, output head tied to the
token embedding, AdamW.  Prints loss, tokens/s (from the median and from the 10th-percentile step), ms/step, peak RSS.

Run:  train_gpt.py --config small  --threads 1 --steps 200
      train_gpt.py --config medium --threads 2 --steps 20
Needs a python3 that has PyTorch (see ../README.md) and a text (--data).
"""
import argparse, os, sys, time, resource

ap = argparse.ArgumentParser()
ap.add_argument("--config", choices=["small", "medium"], default="small")
ap.add_argument("--threads", type=int, default=1)
ap.add_argument("--steps", type=int, default=200)
ap.add_argument("--seed", type=int, default=1)
ap.add_argument("--lr", type=float, default=1e-3)
ap.add_argument("--data", required=True)
ap.add_argument("--foreach", type=int, default=1, help="1: AdamW's multi-tensor path (faster here), 0: one tensor at a time")
ap.add_argument("--untied", action="store_true")
ap.add_argument("--jit", action="store_true", help="torch.jit.trace the model's forward")
ap.add_argument("--phases", action="store_true", help="also time forward, backward and optimizer apart")
ap.add_argument("--fast-loss", action="store_true", help="read the loss only every 10 steps")
ap.add_argument("--device", default="cpu")
args = ap.parse_args()
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(args.threads)
t_start = time.perf_counter()
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
t_import = time.perf_counter() - t_start
torch.set_num_threads(args.threads)
torch.manual_seed(args.seed)

L, H, C, T, B = {"small": (4, 4, 128, 64, 16), "medium": (6, 6, 384, 256, 8)}[args.config]
text = open(args.data, encoding="utf-8").read()
chars = sorted(set(text))
V = len(chars)
index = {c: i for i, c in enumerate(chars)}
data = torch.tensor([index[c] for c in text], dtype=torch.long)
n_train = int(0.9 * len(data))
train, val = data[:n_train], data[n_train:]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1 = nn.LayerNorm(C)
        self.qkv = nn.Linear(C, 3 * C)
        self.proj = nn.Linear(C, C)
        self.ln2 = nn.LayerNorm(C)
        self.up = nn.Linear(C, 4 * C)
        self.down = nn.Linear(4 * C, C)
        self.register_buffer("future", torch.ones(T, T, dtype=torch.bool).triu(1), persistent=False)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, H, C // H).permute(2, 0, 3, 1, 4).unbind(0)
        s = (q * (1.0 / math.sqrt(C // H))) @ k.transpose(-2, -1)
        s = s.masked_fill(self.future[:t, :t], float("-inf")).softmax(-1)
        x = x + self.proj((s @ v).transpose(1, 2).reshape(b, t, C))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(V, C)
        self.pos = nn.Embedding(T, C)
        self.blocks = nn.ModuleList([Block() for _ in range(L)])
        self.ln = nn.LayerNorm(C)
        self.head = nn.Linear(C, V, bias=False)
        if not args.untied:
            self.head.weight = self.tok.weight
        for n, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, 0.0, 0.02 / math.sqrt(2 * L) if n.endswith(("proj.weight", "down.weight")) else 0.02)
            elif n.endswith("bias"):
                nn.init.zeros_(p)

    def forward(self, idx):
        x = self.tok(idx) + self.pos.weight[: idx.shape[1]]
        for blk in self.blocks:
            x = blk(x)
        return self.head(self.ln(x))


model = GPT().to(args.device)
params = list({id(p): p for p in model.parameters()}.values())
n_params = sum(p.numel() for p in params)
opt = torch.optim.AdamW(
    [{"params": [p for p in params if p.dim() >= 2], "weight_decay": 0.1}, {"params": [p for p in params if p.dim() < 2], "weight_decay": 0.0}],
    lr=args.lr, betas=(0.9, 0.95), eps=1e-8, foreach=bool(args.foreach))
gen = torch.Generator().manual_seed(args.seed)


def batch(src):
    at = torch.randint(len(src) - T - 1, (B,), generator=gen)
    rows = torch.stack([src[i : i + T + 1] for i in at])
    return rows[:, :-1].contiguous().to(args.device), rows[:, 1:].contiguous().to(args.device)


run = torch.jit.trace(model, batch(train)[0]) if args.jit else model


@torch.no_grad()
def val_loss(n=10):
    return sum(F.cross_entropy(model(x).view(-1, V), y.view(-1)).item() for x, y in (batch(val) for _ in range(n))) / n


flops = 6 * (L * 12 * C * C + V * C) + 12 * L * C * T  # for each token, forward and backward, attention counted in full
print(f"torch {torch.__version__} threads {torch.get_num_threads()} config {args.config}: L={L} H={H} C={C} T={T} B={B} V={V}, {n_params} parameters, {flops/1e6:.2f} MFLOP a token, import {t_import:.2f} s")
steps, phases, cpu0 = [], [], time.process_time()
loss0 = None
wall0 = time.perf_counter()
for it in range(args.steps):
    t0 = time.perf_counter()
    x, y = batch(train)
    logits = run(x)
    loss = F.cross_entropy(logits.view(-1, V), y.view(-1))
    t1 = time.perf_counter()
    opt.zero_grad(set_to_none=True)
    loss.backward()
    t2 = time.perf_counter()
    opt.step()
    if not args.fast_loss or it % 10 == 9:
        lv = loss.item()
        loss0 = lv if loss0 is None else loss0
    t3 = time.perf_counter()
    steps.append(t3 - t0)
    phases.append((t1 - t0, t2 - t1, t3 - t2))
wall, cpu = time.perf_counter() - wall0, time.process_time() - cpu0
s = sorted(steps[min(3, args.steps - 1):])
med, p10 = s[len(s) // 2], s[len(s) // 10]
print(f"steps {args.steps}  first loss {loss0:.4f}  last loss {lv:.4f}  validation loss {val_loss():.4f}")
print(f"ms/step median {1e3*med:.2f}  p10 {1e3*p10:.2f}  mean {1e3*wall/args.steps:.2f}  cpu {1e3*cpu/args.steps:.2f}")
print(f"tokens/s median {B*T/med:.0f}  p10 {B*T/p10:.0f}   achieved {flops*B*T/med*1e-9:.1f} GFLOP/s   peak RSS {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024:.0f} MiB")
if args.phases:
    for i, n in enumerate(("forward", "backward", "optimizer")):
        q = sorted(p[i] for p in phases[min(3, args.steps - 1):])
        print(f"  {n}: median {1e3*q[len(q)//2]:.2f} ms")
