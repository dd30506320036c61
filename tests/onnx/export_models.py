# SPDX-License-Identifier: GPL-3.0-or-later
"""export_models.py ORCH TORCH_FORWARD [--small] [--markdown] [NET...]: exports networks of 'orch net ls' and checks each file:
the official checker with full shape inference, which compares with the shapes that the file declares; equal counts when it is
read back; and the outputs, which are those of LibTorch with the same weights, or for sequences those of PyTorch's own functions.
Every opset comes in turn, and every second file has its norms folded. --small: without the
larger ones whose operations others have, too. --markdown: prints the table of bench/results."""
import json
import os
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import torch
    import torch.nn.functional as F
except ImportError:
    sys.exit(77)

sys.path.insert(0, os.path.dirname(__file__))
import onnx_interpreter  # noqa: E402

TOLERANCE = 1e-4  # of the largest output
OPSETS = [17, 13, 14, 15, 16, 18, 19, 20, 21]
SMALL = 30_000_000  # parameters
ALWAYS = ["alexnet", "bert-base", "gpt2"]  # pools of uneven windows; sequences
EXAMPLES = {"mlp:SIZES": "mlp:16", "resnet-cifar:N": "resnet-cifar:8", "airbench:WIDTHS": "airbench:4,6,8",
            "airbench-relu:WIDTHS": "airbench-relu:4,6,8", "airbench-small:WIDTHS": "airbench-small:4,6",
            "bert:LAYERS,WIDTH,HEADS": "bert:2,48,4", "bert-mlm:LAYERS,WIDTH,HEADS": "bert-mlm:2,48,4",
            "gpt:LAYERS,WIDTH,HEADS": "gpt:3,48,4", "llama:LAYERS,WIDTH,HEADS": "llama:2,64,4",
            "moe:LAYERS,WIDTH,HEADS": "moe:2,64,4,experts=4,chosen=2", "vit:LAYERS,WIDTH,HEADS": "vit:2,64,4",
            "opt:LAYERS,WIDTH,HEADS": "opt:2,64,4", "mpt:LAYERS,WIDTH,HEADS": "mpt:2,64,4", "t5:LAYERS,WIDTH,HEADS": "t5:2,64,4"}
NOT_WRITTEN = ("llama", "moe", "tinyllama", "vit", "t5", "mistral", "mpt", "convnext")  # counted only


forward = None  # torch_forward, which computes one network after the other


def orch(*words):
    done = subprocess.run([sys.argv[1], *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"orch {' '.join(words)}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def read_safetensors(path):
    data = open(path, "rb").read()
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    arrays = {}
    for name, entry in header.items():
        begin, end = (8 + length + at for at in entry.get("data_offsets", (0, 0)))
        if name != "__metadata__":
            arrays[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])
    return arrays


def sequence(name, weights, tokens):
    """The forward passes of BERT and RoBERTa, GPT-2 and OPT, after the papers."""
    w = {k: torch.from_numpy(v.copy()) for k, v in weights.items()}
    bert = "bert" in name
    first = 2 if name.startswith(("roberta", "opt")) else 0  # row of the first position
    heads = 4 if ":" in name else 12
    layers = len({k.split(".")[1 if k.startswith("h.") else 2] for k in w if k.startswith(("h.", "encoder.layer.", "decoder.layers."))})

    def dense(x, module):
        return F.linear(x, w[module + ".weight"], w[module + ".bias"])

    def norm(x, module):
        return F.layer_norm(x, x.shape[-1:], w[module + ".weight"], w[module + ".bias"], 1e-5)

    def attend(x, module):
        batch, length, width = x.shape
        q, k, v = (p.reshape(batch, length, heads, width // heads).transpose(1, 2) for p in dense(x, module).split(width, 2))
        scores = q @ k.transpose(2, 3) / (width // heads) ** 0.5
        if not bert:
            scores = scores.masked_fill(torch.ones(length, length).triu(1).bool(), float("-inf"))
        return (scores.softmax(3) @ v).transpose(1, 2).reshape(batch, length, width)

    tokens = torch.from_numpy(tokens)
    length = tokens.shape[1]
    if bert:
        x = w["embeddings.word_embeddings.weight"][tokens] + w["embeddings.position_embeddings.weight"][first:first + length]
        types = w.get("embeddings.token_type_embeddings.weight")
        x = norm(x if types is None else x + types[0], "embeddings.LayerNorm")
        for i in range(layers):
            at = f"encoder.layer.{i}."
            x = norm(x + dense(attend(x, at + "attention.self"), at + "attention.output.dense"), at + "attention.output.LayerNorm")
            x = norm(x + dense(F.gelu(dense(x, at + "intermediate.dense")), at + "output.dense"), at + "output.LayerNorm")
        if "cls.predictions.bias" in w:
            x = norm(F.gelu(dense(x, "cls.predictions.transform.dense")), "cls.predictions.transform.LayerNorm")
            return (x @ w["embeddings.word_embeddings.weight"].T + w["cls.predictions.bias"]).numpy()
        return dense(x[:, 0], "pooler.dense").tanh().numpy() if "pooler.dense.weight" in w else x.numpy()
    if name.startswith("opt"):
        x = w["decoder.embed_tokens.weight"][tokens] + w["decoder.embed_positions.weight"][first:first + length]
        for i in range(layers):
            at = f"decoder.layers.{i}."
            x = x + dense(attend(norm(x, at + "self_attn_layer_norm"), at + "self_attn"), at + "self_attn.out_proj")
            x = x + dense(F.relu(dense(norm(x, at + "final_layer_norm"), at + "fc1")), at + "fc2")
        return (norm(x, "decoder.final_layer_norm") @ w["decoder.embed_tokens.weight"].T).numpy()
    x = w["wte.weight"][tokens] + w["wpe.weight"][:length]
    for i in range(layers):
        x = x + dense(attend(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn"), f"h.{i}.attn.c_proj")
        x = x + dense(F.gelu(dense(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"), approximate="tanh"), f"h.{i}.mlp.c_proj")
    return (norm(x, "ln_f") @ w["wte.weight"].T).numpy()


def counts(name, *words):
    shown = json.loads(orch("net", "show", name, "--json", *words))
    return shown["params"], shown["multiply_adds"]


def difference(got, expected):
    worst = 0
    if sorted(got) != sorted(expected):
        sys.exit(f"outputs {sorted(got)}, expected {sorted(expected)}")
    for name, value in expected.items():
        if got[name].shape != value.shape or not np.isfinite(got[name]).all():
            sys.exit(f"output {name}: shape {got[name].shape}, expected {value.shape}, or not finite")
        worst = max(worst, float(np.abs(got[name] - value).max() / np.abs(value).max()))
    return worst


def expected_of_torch(name, weights):
    """What LibTorch computes: how to export the network, its input and outputs."""
    global forward
    forward = forward or subprocess.Popen([sys.argv[2]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    forward.stdin.write(f"{name} {weights}\n")
    forward.stdin.flush()
    line = forward.stdout.readline()
    if not line:
        sys.exit(f"torch_forward ended with status {forward.wait()} at {name}")
    printed = line.split()
    if not printed:
        return None
    arrays = read_safetensors(weights)
    outputs = {k[len("random/output/"):]: v for k, v in arrays.items() if k.startswith("random/output/")}
    if len(outputs) == 1:
        outputs = {"output": next(iter(outputs.values()))}
    words = ["--input", printed[0], "--classes", printed[1]]
    return words, ["--weights", weights], arrays["random/input"], outputs


def compare(name, path, weights, extra):
    found = expected_of_torch(name, weights)
    if found:
        words, values, x, expected = found
        orch("net", "export", name, "--onnx", path, *words, *values, *extra)
        return words, difference(onnx_interpreter.run(path, x), expected)
    words = ["--input", "1x16x1", "--classes", "50"]
    orch("net", "export", name, "--onnx", path, *words, "--seed", "3", *extra)
    x = np.arange(32, dtype=np.int64).reshape(2, 16) * 7 % 50
    initializers = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}
    return words, difference(onnx_interpreter.run(path, x), {"output": sequence(name, initializers, x)})


def one(name, index, folder):
    path, weights = os.path.join(folder, "model.onnx"), os.path.join(folder, "weights.safetensors")
    opset = OPSETS[index % len(OPSETS)]
    if onnx.defs.onnx_opset_version() < opset:
        opset = 17
    folds = index % 2 == 1
    words, worst = compare(name, path, weights, ["--opset", str(opset)] + ["--fold-norms"] * folds)
    if not worst <= TOLERANCE:
        sys.exit(f"{name}, opset {opset}, norms folded: {folds}: outputs differ by {worst:g} of the largest")
    onnx.checker.check_model(path, full_check=True)  # an inferred shape that is not the declared one is an error
    back, own = counts(path), counts(name, *words)
    trained_only = name.endswith("-aux")
    # an adaptive pool with windows of different sizes is written as products with constant matrices
    is_uneven = any(n.name.endswith(".over_rows") for n in onnx.load(path, load_external_data=False).graph.node)
    if not is_uneven and (back[1] != own[1] or (back[0] != own[0] and not folds and not trained_only)):
        sys.exit(f"{name}: read back as {back}, the network has {own}")
    return words[1], opset, folds, worst


def refused(name):
    done = subprocess.run([sys.argv[1], "net", "export", name, "--onnx", "refused.onnx"], capture_output=True, text=True)
    if done.returncode != 2 or "cannot be written as ONNX" not in done.stderr or os.path.exists("refused.onnx"):
        sys.exit(f"{name}: status {done.returncode}: {done.stderr}")


def main():
    form = "{}: input {}, opset {}, norms folded: {}, largest difference {:.1e}"
    if "--markdown" in sys.argv:
        form = "| `{}` | {} | {} | {} | {:.1e} |"
        print("| network | input | opset | norms folded | largest difference |\n| --- | --- | --- | --- | --- |")
    names = [a for a in sys.argv[3:] if not a.startswith("--")]
    if not names:
        known = json.loads(orch("net", "ls", "--json"))["networks"]
        names = [n["name"] for n in known
                 if "--small" not in sys.argv or (n["params"] or 0) <= SMALL or n["name"] in ALWAYS]
    for index, name in enumerate(names):
        name = EXAMPLES.get(name, name if any(c.isdigit() for c in name.partition(":")[2]) else name.split(":")[0])
        if name.startswith(NOT_WRITTEN):
            refused(name)
            continue
        with tempfile.TemporaryDirectory() as folder:
            size, opset, folds, worst = one(name, index, folder)
        print(form.format(name, size, opset, "yes" if folds else "no", worst), flush=True)


main()
