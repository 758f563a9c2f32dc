#!/usr/bin/env python3
"""Trains corpus/gpt/gpt.mica's model in PyTorch from a checkpoint of ours, with the same batches, and prints its losses.

    build/mica run corpus/gpt/gpt.mica --text TEXT --steps 0 --sample 0 --save start.safetensors
    build/mica run corpus/gpt/gpt.mica --text TEXT --steps 200 --sample 0
    PY tests/bench/gpt/match.py start.safetensors TEXT 200

The second and the third print the same columns; they differ by what other orders of adding do to float32.
"""
import json, math, struct, sys
import numpy as np, torch, torch.nn.functional as F

path, text_path, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
HEADS, RATE, WARM_UP, EVERY = 4, 1e-3, 100, 100


def load(path):
    data = open(path, "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + n])
    meta = header.pop("__metadata__")
    out = {}
    for name, t in header.items():
        a, b = t["data_offsets"]
        out[name] = torch.from_numpy(np.frombuffer(data[8 + n + a : 8 + n + b], np.float32).reshape(t["shape"]).copy())
    return out, meta


class Philox:
    """Random.mica's generator: 64-bit numbers from Philox 4x32-10, two a block."""

    def __init__(self, key, at=0):
        self.key, self.at = key, at

    def bits(self):
        k0, k1 = self.key & 0xFFFFFFFF, self.key >> 32
        number = self.at >> 1
        c = [number & 0xFFFFFFFF, number >> 32, 0, 0]
        for _ in range(10):
            p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(q >> 32) ^ c[1] ^ k0, q & 0xFFFFFFFF, (p >> 32) ^ c[3] ^ k1, p & 0xFFFFFFFF]
            k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
        odd = self.at & 1
        self.at += 1
        return c[2] | c[3] << 32 if odd else c[0] | c[1] << 32

    def below(self, n):
        rest = (2**64 - n) % n
        while True:
            product = self.bits() * n
            if product & (2**64 - 1) >= rest:
                return product >> 64


weights, meta = load(path)
model = {k[6:]: v.requires_grad_() for k, v in weights.items() if k.startswith("model.")}
context, width = model["position"].shape
layers = 1 + max(int(k.split(".")[1]) for k in model if k.startswith("blocks."))
batch = 16
text = open(text_path, encoding="utf-8").read()
letters = {c: i for i, c in enumerate(sorted(set(text)))}
ids = torch.tensor([letters[c] for c in text])
cut = len(ids) * 9 // 10
seen, held = ids[:cut], ids[cut:]


def draw(ids, rng):
    at = [rng.below(len(ids) - context) for _ in range(batch)]
    rows = torch.stack([ids[i : i + context + 1] for i in at])
    return rows[:, :-1], rows[:, 1:]


def forward(x):
    m = model
    x = m["token"][x] + m["position"]
    for i in range(layers):
        b = lambda n: m[f"blocks.{i}.{n}"]
        n = F.layer_norm(x, (width,), b("gain1"), b("bias1"))
        q, k, v = ((n @ b(w)).view(*n.shape[:2], HEADS, -1).transpose(1, 2) for w in ("query", "key", "value"))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(n.shape)
        x = x + a @ b("join")
        x = x + F.gelu(F.layer_norm(x, (width,), b("gain2"), b("bias2")) @ b("up"), approximate="tanh") @ b("down")
    return F.layer_norm(x, (width,), m["gain"], m["bias"]) @ m["head"]


def loss_of(x, y):
    return F.cross_entropy(forward(x).flatten(0, 1), y.flatten())


def held_out():
    rng = Philox(7)
    with torch.no_grad():
        return sum(loss_of(*draw(held, rng)).item() for _ in range(20)) / 20


rng = Philox(int(meta["rng.key"]), int(meta["rng.next"]))
groups = [{"params": [p for p in model.values() if p.dim() == 2], "weight_decay": 0.1}, {"params": [p for p in model.values() if p.dim() < 2], "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.95), eps=1e-8)
for step in range(1, steps + 1):
    part = (step - WARM_UP) / max(steps - WARM_UP, 1)
    rate = RATE * step / WARM_UP if step < WARM_UP else RATE * (0.55 + 0.45 * math.cos(math.pi * part))
    for g in optimizer.param_groups:
        g["lr"] = rate
    loss = loss_of(*draw(seen, rng))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(list(model.values()), 1.0)
    optimizer.step()
    if step % EVERY == 0 or step == steps:
        print(f"step {step:5}  loss {loss.item():.4f}  held out {held_out():.4f}", flush=True)
