#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exports torchvision's networks to ONNX and compares what features/onnx counts with the zoo's counts.

usage: torch_models.py PRINT_ONNX [NAME...]

Twice: as exported for training, batch norms in place (parameters and multiply-adds must be the zoo's),
and folded for inference (multiply-adds the same; parameters those of torchvision without what batch
norms had beyond a bias). Each tensor has a value of its own: the exporter merges tensors of equal content.
Networks that the zoo does not have are held to torchvision's parameters and published multiply-adds.
Ends with status 77 where Python has no torchvision, or a PyTorch that cannot export.
"""
import io
import subprocess
import sys
import tempfile
import warnings

try:
    import torch.onnx
    import torchvision
    torch.onnx.export(torch.nn.ReLU(), torch.zeros(1), io.BytesIO())
except Exception as problem:  # of any kind: a PyTorch that cannot export tests nothing here
    print("%s: %s" % (sys.executable, problem))
    sys.exit(77)

# Without the VGGs, whose layers are of AlexNet's kinds, and whose half gigabyte of weights takes the exporter long.
ZOO = ["resnet18", "mobilenet_v2", "densenet121", "squeezenet1_1", "googlenet", "alexnet",
       "efficientnet_b0", "inception_v3", "resnext50_32x4d"]
# The whole network's counts, by PyTorch's modules, must be the zoo's; what is exported lacks blocks of which others of the same
# kind stay, and its counts must be those of its modules.
SHORT = {"densenet121", "inception_v3", "resnext50_32x4d"}
# Billions of multiply-adds that torchvision's documentation gives ("GFLOPS"), to 0.01, less those of left-out blocks: the
# exporter's time grows with the square of the nodes, and more blocks of the same kind show nothing more. vit_b_16 has 2 of its
# 12 blocks, convnext_tiny 1 in each stage (of 3, 3, 9 and 3), swin_t 1 and 2 in its first two stages (of 2, 2, 6 and 2), and one
# of its three merges of patches (57.8 million each).
OTHERS = {"vit_b_16": 17.56 - 10 * 1.454, "swin_t": 4.49 - 0.376 - 6 * 0.354 - 2 * 0.351 - 2 * 0.0578,
          "convnext_tiny": 4.456 - 2 * 0.246 - 2 * 0.2386 - 8 * 0.2349 - 2 * 0.233, "mobilenet_v3_large": 0.22,
          "shufflenet_v2_x1_0": 0.14, "regnet_y_400mf": 0.40, "mnasnet1_0": 0.31}
# Not each of its batch norms stands behind a convolution of its own.
NORMS_STAY = {"densenet121"}


# Drawing a hundred million random weights, which are replaced below, takes longer than the exports.
for _name in [n for n in dir(torch.nn.init) if n.endswith("_") and not n.startswith("_")]:
    setattr(torch.nn.init, _name, lambda tensor, *args, **kwargs: tensor)


def fill(model):
    """Gives each tensor a value of its own."""
    with torch.no_grad():
        for i, value in enumerate(list(model.parameters()) + [
                b for n, b in model.named_buffers() if "running" in n]):
            value.fill_(0.5 + i / 4096)
    return model


def make(name):
    options = {}
    if name in ("googlenet", "inception_v3"):
        options = {"aux_logits": False, "init_weights": False, "transform_input": False}
    if name == "swin_t":
        model = torchvision.models.SwinTransformer(
            patch_size=[4, 4], embed_dim=96, depths=[1, 2], num_heads=[3, 6], window_size=[7, 7]).eval()
    elif name == "vit_b_16":
        model = torchvision.models.VisionTransformer(
            image_size=224, patch_size=16, num_layers=2, num_heads=12, hidden_dim=768, mlp_dim=3072).eval()
    elif name == "convnext_tiny":
        stage = torchvision.models.convnext.CNBlockConfig
        model = torchvision.models.ConvNeXt(
            [stage(96, 192, 1), stage(192, 384, 1), stage(384, 768, 1), stage(768, None, 1)]).eval()
    else:
        model = getattr(torchvision.models, name)(weights=None, **options).eval()
    return fill(model)


def shorten(name):
    """The network without repeated blocks."""
    if name == "densenet121":
        return torchvision.models.DenseNet(32, (2, 2, 2, 2), 64)
    if name == "resnext50_32x4d":
        block = torchvision.models.resnet.Bottleneck
        return torchvision.models.ResNet(block, [2, 1, 1, 1], groups=32, width_per_group=4)
    model = make(name)
    for repeated in ("Mixed_5d", "Mixed_6c", "Mixed_6d", "Mixed_6e", "Mixed_7c"):
        setattr(model, repeated, torch.nn.Identity())
    return model


def multiply_adds(model, side):
    """Those of the convolutions and dense layers of one image, counted while the model computes it."""
    sums = []

    def add(module, inputs, output):
        sums.append(output.numel() * module.weight[0].numel())

    hooks = [m.register_forward_hook(add) for m in model.modules() if isinstance(m, (torch.nn.Conv2d, torch.nn.Linear))]
    with torch.no_grad():
        model.eval()(torch.zeros(1, 3, side, side))
    for hook in hooks:
        hook.remove()
    return sum(sums)


# the newest attention of PyTorch 2 wants 14
OPSET = 14 if int(torch.__version__.split(".")[0]) >= 2 else 13


def export(model, side, fold, path):
    mode = torch.onnx.TrainingMode.EVAL if fold else torch.onnx.TrainingMode.PRESERVE
    torch.onnx.export(model, torch.zeros(1, 3, side, side), path, training=mode,
                      do_constant_folding=fold, opset_version=OPSET)


def read(*command):
    """The counts that print_onnx prints, and its notes."""
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    lines = [line.split(" ") for line in out.splitlines()]
    counts = {words[0]: int(words[1]) for words in lines if len(words) == 2}
    return counts, [" ".join(words) for words in lines if words[0] == "note"]


def check(name, print_onnx, folder):
    model = make(name)
    side = 299 if name == "inception_v3" else 224
    params = sum(p.numel() for p in model.parameters())
    faults = []

    def same(what, found, wanted):
        if found != wanted:
            faults.append("%s: %s %s, wanted %s" % (name, what, found, wanted))

    want = read(print_onnx, "--zoo", name)[0] if name in ZOO else None
    if name in SHORT:
        same("zoo's parameters", want["params"], params)
        same("zoo's multiply-adds", want["macs"], multiply_adds(model, side))
        model = fill(shorten(name).eval())
        params = sum(p.numel() for p in model.parameters())
        want = {"macs": multiply_adds(model, side), "params": params}
    norms = [m for m in model.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    for fold in (False, True):
        path = "%s/%s.onnx" % (folder, name)
        export(model, side, fold, path)
        got, notes = read(print_onnx, path)
        label = "folded " if fold else ""
        same(label + "notes", notes, [])
        same(label + "classes", got["classes"], 1000)
        if want:
            same(label + "multiply-adds", got["macs"], want["macs"])
        else:
            same(label + "multiply-adds", "%.2f" % (got["macs"] / 1e9), "%.2f" % OTHERS[name])
        if not fold:
            same("parameters", got["params"], params)
            if want:
                same("zoo's parameters", want["params"], params)
            if want and "depth" in want:
                same("depth", got["depth"], want["depth"])
        elif norms and name not in NORMS_STAY:
            same(label + "parameters", got["params"], params - sum(m.num_features for m in norms))
        print("%s%s: %d parameters, %d multiply-adds" % (label, name, got["params"], got["macs"]))
    return faults


class Transformer(torch.nn.Module):
    """Tokens in, scores by the embedding's own weights; 2 layers, 4 heads, width 64."""

    def __init__(self):
        super().__init__()
        self.word = torch.nn.Embedding(1000, 64)
        self.place = torch.nn.Embedding(128, 64)
        self.register_buffer("places", torch.arange(128)[None])
        layer = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0, batch_first=True,
                                                 activation="gelu")
        self.encoder = torch.nn.TransformerEncoder(layer, 2)
        self.score = torch.nn.Linear(64, 1000, bias=False)
        self.score.weight = self.word.weight

    def forward(self, tokens):
        x = self.word(tokens) + self.place(self.places[:, :tokens.shape[1]])
        for layer in self.encoder.layers:
            x = layer(x)
        return self.score(x)


def check_transformer(print_onnx, folder):
    """A batch of 2 sequences of 16 tokens: counts are for one."""
    model = Transformer()
    path = folder + "/transformer.onnx"
    torch.onnx.export(model, torch.zeros(2, 16, dtype=torch.long), path, opset_version=OPSET,
                      training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)
    got, notes = read(print_onnx, path)
    layer = 16 * 64 * (3 * 64 + 64 + 2 * 128) + 2 * 16 * 16 * 64
    want = {"params": sum(p.numel() for p in model.parameters()),
            "macs": 2 * layer + 16 * 64 * 1000}
    print("transformer: %d parameters, %d multiply-adds" % (got["params"], got["macs"]))
    faults = ["transformer: %s %d, wanted %d" % (key, got[key], want[key])
              for key in want if got[key] != want[key]]
    return faults + notes


def main():
    warnings.filterwarnings("ignore")
    torch.manual_seed(1)
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[2:] or ZOO + list(OTHERS):
            faults += check(name, sys.argv[1], folder)
        faults += check_transformer(sys.argv[1], folder)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
