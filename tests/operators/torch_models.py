#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Models of the installed PyTorch by orch.export_ops, against the zoo's networks of the same name.

usage: torch_models.py ORCH [NAME...]

Parameters must be equal, operations within 2 %, forecasts (training and inference, a second batch, for sequences a second
length; attention as the model has it, in one kernel or written out, and the other way round) within 5 %; ConvNeXt's file has the
kernels of its stochastic depth, which the zoo's network has not: within 15 %. resnet50, vit_b_16 and convnext_tiny are torchvision's; BERT and
GPT-2 are written below after their papers, as Hugging Face's are. Ends with status 77 where Python has no PyTorch of 1.13 or later.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../share/python"))
try:
    import torch
    import torchvision
    from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: F401
except Exception as problem:  # of any kind: there is nothing to test
    print("%s: %s" % (sys.executable, problem))
    sys.exit(77)
import orch  # noqa: E402
from torch import nn  # noqa: E402

ORCH = sys.argv[1]


class Attention(nn.Module):
    """Written out in plain operations, or in one; GPT-2's has one product for queries, keys and values, BERT's three."""

    def __init__(self, width, heads, is_gpt, is_fused):
        super().__init__()
        self.heads, self.is_gpt, self.is_fused = heads, is_gpt, is_fused
        self.parts = nn.ModuleList([nn.Linear(width, 3 * width)] if is_gpt else [nn.Linear(width, width) for _ in range(3)])
        self.out, self.drop = nn.Linear(width, width), nn.Dropout(0.1)
        self.register_buffer("mask", torch.ones(1024, 1024).tril().bool().view(1, 1, 1024, 1024))

    def forward(self, x):
        q, k, v = self.parts[0](x).split(x.shape[2], 2) if self.is_gpt else (part(x) for part in self.parts)
        q, k, v = (t.view(t.shape[0], t.shape[1], self.heads, -1).transpose(1, 2) for t in (q, k, v))
        if self.is_fused:
            summed = nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=0.1, is_causal=self.is_gpt)
            return self.out(summed.transpose(1, 2).reshape(x.shape))
        scores = q @ k.transpose(2, 3) / (q.shape[3] ** 0.5)
        if self.is_gpt:
            scores = scores.masked_fill(~self.mask[:, :, :x.shape[1], :x.shape[1]], -1e4)
        shares = self.drop(scores.softmax(3))
        return self.out((shares @ v).transpose(1, 2).reshape(x.shape))


def gelu_new(x):
    """GELU's form with tanh in plain operations, as GPT-2 has it."""
    return 0.5 * x * (1.0 + torch.tanh((2 / 3.14159265) ** 0.5 * (x + 0.044715 * torch.pow(x, 3.0))))


class Bert(nn.Module):
    def __init__(self, is_fused, width=768, layers=12, heads=12):
        super().__init__()
        self.words, self.places, self.kinds = nn.Embedding(30522, width), nn.Embedding(512, width), nn.Embedding(2, width)
        self.norm, self.drop = nn.LayerNorm(width), nn.Dropout(0.1)
        self.layers = nn.ModuleList(nn.ModuleDict({
            "attention": Attention(width, heads, False, is_fused), "norm": nn.LayerNorm(width), "in": nn.Linear(width, 4 * width),
            "out": nn.Linear(4 * width, width), "norm2": nn.LayerNorm(width)}) for _ in range(layers))
        self.pooler = nn.Linear(width, width)

    def forward(self, ids):
        places = torch.arange(ids.shape[1]).unsqueeze(0)
        x = self.drop(self.norm(self.words(ids) + self.places(places) + self.kinds(torch.zeros_like(ids))))
        for layer in self.layers:
            x = layer["norm"](x + self.drop(layer["attention"](x)))
            x = layer["norm2"](x + self.drop(layer["out"](nn.functional.gelu(layer["in"](x)))))
        return torch.tanh(self.pooler(x[:, 0]))


class Gpt(nn.Module):
    def __init__(self, is_fused, width=768, layers=12, heads=12):
        super().__init__()
        self.gelu = (lambda x: nn.functional.gelu(x, approximate="tanh")) if is_fused else gelu_new
        self.words, self.places, self.drop = nn.Embedding(50257, width), nn.Embedding(1024, width), nn.Dropout(0.1)
        self.layers = nn.ModuleList(nn.ModuleDict({
            "norm": nn.LayerNorm(width), "attention": Attention(width, heads, True, is_fused), "norm2": nn.LayerNorm(width),
            "in": nn.Linear(width, 4 * width), "out": nn.Linear(4 * width, width)}) for _ in range(layers))
        self.norm, self.scores = nn.LayerNorm(width), nn.Linear(width, 50257, bias=False)
        self.scores.weight = self.words.weight

    def forward(self, ids):
        x = self.drop(self.words(ids) + self.places(torch.arange(ids.shape[1])))
        for layer in self.layers:
            x = x + self.drop(layer["attention"](layer["norm"](x)))
            x = x + self.drop(layer["out"](self.gelu(layer["in"](layer["norm2"](x)))))
        return self.scores(self.norm(x))


def of_torchvision(name):
    return lambda: (getattr(torchvision.models, name)(weights=None), torch.zeros(4, 3, 224, 224))


MODELS = {
    "resnet50": of_torchvision("resnet50"), "vit_b_16": of_torchvision("vit_b_16"), "convnext_tiny": of_torchvision("convnext_tiny"),
    "bert-base": lambda: (Bert(False), torch.zeros(2, 512, dtype=torch.long)),
    "gpt2": lambda: (Gpt(False), {"ids": torch.zeros(2, 1024, dtype=torch.long)}),
}
if hasattr(nn.functional, "scaled_dot_product_attention"):
    MODELS["bert-base fused"] = lambda: (Bert(True), torch.zeros(2, 512, dtype=torch.long))
    MODELS["gpt2 fused"] = lambda: (Gpt(True), {"ids": torch.zeros(2, 1024, dtype=torch.long)})

# Drawing a hundred million random weights takes longer than the test.
for _name in [n for n in dir(nn.init) if n.endswith("_") and not n.startswith("_")]:
    setattr(nn.init, _name, lambda tensor, *args, **kwargs: tensor)


def ask(*words):
    done = subprocess.run([ORCH, *words, "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit("orch %s: status %d\n%s" % (" ".join(words), done.returncode, done.stderr))
    if done.stderr:
        sys.exit("orch %s: %s" % (" ".join(words), done.stderr))
    return json.loads(done.stdout)


def check(title, path):
    name = title.split()[0]
    own, zoo = ask("net", "show", path), ask("net", "show", name)
    line = "%-16s parameters %d, operations %+.2f %%" % (title, own["params"], 100 * (own["ops"] / zoo["ops"] - 1))
    bad = own["params"] != zoo["params"] or abs(own["ops"] / zoo["ops"] - 1) > 0.02
    questions = [["--batch", "16"], ["--batch", "64"], ["--batch", "16", "--forward-only"]]
    written = [] if title in ("resnet50", "convnext_tiny") or "fused" in title or hasattr(
        nn.functional, "scaled_dot_product_attention") and name == "vit_b_16" else ["--attention", "eager"]
    if name in ("bert-base", "gpt2"):
        questions += [["--batch", "16", "--tokens", "128"]]
    if name in ("bert-base", "vit_b_16"):  # of a causal mask in plain operations a file does not say that it is one
        questions += [["--batch", "16", "--attention", kind] for kind in ("fused", "eager")[:1 + bool(written)]]
    for question in questions:
        words = ["predict", "--gpu", "H100", "--precision", "bf16", *question]
        one = ask(*words, "--net", path)["predictions"][0]
        other = ask(*words, *([] if "--attention" in question else written), "--net", name)["predictions"][0]
        off = one["step_s"] / other["step_s"] - 1
        line += "; %s %+.1f %% (memory %+.1f %%)" % (" ".join(question), 100 * off,
                                                   100 * (one["memory_bytes"] / other["memory_bytes"] - 1))
        bad = bad or abs(off) > (0.15 if name == "convnext_tiny" else 0.05)
    print(line + (": WRONG" if bad else ""), flush=True)
    return not bad


class Looks(nn.Module):
    """Its operators depend on a value, which is not there."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x) if x.sum() > 0 else x


def refuses_values(folder):
    model, path = Looks().eval(), os.path.join(folder, "looks.jsonl")
    weight = model.layer.weight
    try:
        orch.export_ops(model, torch.zeros(4, 4), path)
    except orch.Error as problem:
        left_alone = model.layer.weight is weight and not model.training and not os.path.exists(path)
        return left_alone and "export it to ONNX" in str(problem)
    return False


def main():
    ok = True
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # a folder without a store: forecasts leave nothing in the clone
        for name in sys.argv[2:] or MODELS:
            model, inputs = MODELS[name]()
            path = os.path.join(folder, name.split()[0] + ".jsonl")
            orch.export_ops(model, inputs, path)
            ok = check(name, path) and ok
        if not refuses_values(folder):
            print("a model that looks at values is exported, or changed: WRONG")
            ok = False
    sys.exit(not ok)


main()
