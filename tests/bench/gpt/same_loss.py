#!/usr/bin/env python3
"""Trains the same GPT from the same weights on the same batches in PyTorch and compares the held-out losses with ours.

    same_loss.py GPT TEXT [STEPS]      GPT: corpus/gpt/gpt.mica, built

GPT trains one step and saves a checkpoint; PyTorch goes on from there (weights, AdamW's means, the random stream that draws the batches)
up to STEPS (200). Both print the held-out loss at every hundredth step: two columns and their difference, and at the end the largest one.
"""
import json, math, os, re, struct, subprocess, sys, tempfile
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
program, text = os.path.abspath(sys.argv[1]), sys.argv[2]
steps = int(sys.argv[3]) if len(sys.argv) > 3 else 200
CONTEXT, WIDTH, HEADS, LAYERS, BATCH = 64, 128, 4, 4, 16
RATE, WARM_UP = 1e-3, 100


def philox(key, number):
    """Philox 4x32-10: the two 64-bit numbers of a block."""
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    c = [number & 0xFFFFFFFF, number >> 32, 0, 0]
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k0, q & 0xFFFFFFFF, (p >> 32) ^ c[3] ^ k1, p & 0xFFFFFFFF]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c[0] | c[1] << 32, c[2] | c[3] << 32


class Stream:
    def __init__(self, key, at=0):
        self.key, self.at = key, at

    def below(self, limit):
        rest = (2**64 - limit) % limit
        while True:
            number = philox(self.key, self.at >> 1)[self.at & 1]
            self.at += 1
            if number * limit % 2**64 >= rest:
                return number * limit >> 64


def draw(ids, stream):
    starts = [stream.below(len(ids) - CONTEXT) for _ in range(BATCH)]
    return torch.stack([ids[s : s + CONTEXT] for s in starts]), torch.stack([ids[s + 1 : s + 1 + CONTEXT] for s in starts])


def read_checkpoint(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    notes = header.pop("__metadata__")
    tensors = {}
    for name, t in header.items():
        a, b = t["data_offsets"]
        tensors[name] = torch.frombuffer(bytearray(data[8 + size + a : 8 + size + b]), dtype=torch.float32).reshape(t["shape"]).clone()
    return tensors, notes


def forward(p, ids):
    x = p["token"][ids] + p["position"]
    for i in range(LAYERS):
        b = lambda name: p[f"blocks.{i}.{name}"]
        n = F.layer_norm(x, (WIDTH,), b("gain1"), b("bias1"))
        q, k, v = ((n @ b(w)).view(BATCH, CONTEXT, HEADS, WIDTH // HEADS).transpose(1, 2) for w in ("query", "key", "value"))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + a.transpose(1, 2).reshape(BATCH, CONTEXT, WIDTH) @ b("join")
        n = F.layer_norm(x, (WIDTH,), b("gain2"), b("bias2"))
        x = x + F.gelu(n @ b("up"), approximate="tanh") @ b("down")
    return F.layer_norm(x, (WIDTH,), p["gain"], p["bias"]) @ p["head"]


def loss_of(p, batch):
    inputs, targets = batch
    scores = forward(p, inputs)
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), targets.reshape(-1))


def rate_at(step):
    if step < WARM_UP:
        return RATE * step / WARM_UP
    return RATE * (0.55 + 0.45 * math.cos(math.pi * (step - WARM_UP) / max(steps - WARM_UP, 1)))


def ours():
    out = subprocess.run([program, "--text", text, "--steps", str(steps), "--sample", "0"], capture_output=True, text=True, check=True).stdout
    return {int(s): float(h) for s, h in re.findall(r"step +(\d+) .*held out ([0-9.]+)", out)}


with tempfile.TemporaryDirectory() as folder:
    first = os.path.join(folder, "first.safetensors")
    subprocess.run([program, "--text", text, "--steps", "1", "--sample", "0", "--save", first], capture_output=True, check=True)
    tensors, notes = read_checkpoint(first)
part = lambda which: {n[len(which) + 1 :]: t for n, t in tensors.items() if n.startswith(which + ".")}
p, mean, square = part("model"), part("mean"), part("square")
letters = open(text, encoding="utf-8").read()
code = {c: i for i, c in enumerate(sorted(set(letters)))}
ids = torch.tensor([code[c] for c in letters])
cut = len(ids) * 9 // 10
stream = Stream(int(notes["rng.key"]), int(notes["rng.next"]))
for t in p.values():
    t.requires_grad_()
theirs = {}
for step in range(2, steps + 1):
    loss = loss_of(p, draw(ids[:cut], stream))
    grads = torch.autograd.grad(loss, list(p.values()))
    with torch.no_grad():
        norm = torch.sqrt(sum((g * g).sum() for g in grads))
        scale = 1 / norm if norm > 1 else 1.0
        rate = rate_at(step)
        for (name, w), g in zip(p.items(), grads):
            g = g * scale
            m, v = mean[name], square[name]
            m.mul_(0.9).add_(g, alpha=0.1)
            v.mul_(0.95).add_(g * g, alpha=0.05)
            w.mul_(1 - rate * (0.1 if w.dim() == 2 else 0.0))
            w.sub_(rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.95**step)).sqrt() + 1e-8))
        if step % 100 == 0 or step == steps:
            held = Stream(7)
            theirs[step] = sum(loss_of(p, draw(ids[cut:], held)).item() for _ in range(20)) / 20
mine = ours()
print(" step    mica  pytorch  difference")
worst = 0.0
for step, loss in sorted(theirs.items()):
    print(f"{step:5}  {mine[step]:.4f}   {loss:.4f}     {abs(mine[step] - loss):.4f}")
    worst = max(worst, abs(mine[step] - loss))
print(f"torch {torch.__version__}: the largest difference is {worst:.4f} ({'within' if worst <= 0.01 else 'more than'} 0.01)")
sys.exit(worst > 0.01)
