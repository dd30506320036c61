#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules of torch.nn by orch.export_ops, against PyTorch's FlopCounterMode at two batches.

usage: torch_modules.py ORCH [-v] [NAME...]
       torch_modules.py ORCH --write

Each row exports a module once and asks 'orch net show' for its multiply-adds at the batch of the export and at another one;
both must be those that FlopCounterMode counts while the module runs on such a batch. Where a file says that its batch is
fixed, the batch of the export is compared, as one sample. FlopCounterMode counts nothing for an LSTM in one kernel, so the
reference runs without oneDNN and without fused attention; it counts nothing for Bilinear either, whose row has a formula.
A class of torch.nn that has no row, and no reason in LEFT_OUT, fails the test.

modules.tsv beside this file has the counts, for a PyTorch without FlopCounterMode (before 2.1) and for test_operators.c, which
reads the exported files of CORPUS from corpus/operators; --write makes both. Ends with status 77 without PyTorch 1.13.
"""
import json
import os
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../share/python"))
try:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: F401
except Exception as problem:  # of any kind: there is nothing to test
    print("%s: %s" % (sys.executable, problem))
    sys.exit(77)
try:
    from torch.utils.flop_counter import FlopCounterMode
except ImportError:
    FlopCounterMode = None
import orch  # noqa: E402
from torch import nn  # noqa: E402

warnings.simplefilter("ignore")
BATCHES = 3, 5


def x(*shape):
    return torch.zeros(*shape)


def ids(*shape):
    return torch.zeros(*shape, dtype=torch.long)


def images(make, *shape):
    """A row for a module with one input: batch, then `shape`."""
    return make, lambda n: (x(n, *shape),)


def pair(make, *shape):
    return make, lambda n: (x(n, *shape), x(n, *shape))


class Call(nn.Module):
    """A module whose call is given."""

    def __init__(self, call, **modules):
        super().__init__()
        self.call = call
        for name, module in modules.items():
            self.add_module(name, module)

    def forward(self, *args):
        return self.call(self, *args)


def decoder(**more):
    return nn.TransformerDecoderLayer(8, 2, 16, **more)


def encoder(**more):
    return nn.TransformerEncoderLayer(8, 2, 16, **more)


# Of each class its rows: the module, and its arguments for a batch of n; a third element has what export_ops is told.
ROWS = {
    "Linear": [images(lambda: nn.Linear(4, 6), 4), images(lambda: nn.Linear(4, 6, bias=False), 7, 4),
               images(lambda: nn.Linear(4, 6), 2, 7, 4)],
    "Bilinear": [(lambda: nn.Bilinear(5, 6, 7), lambda n: (x(n, 5), x(n, 6)))],
    "Conv1d": [images(lambda: nn.Conv1d(4, 6, 3, stride=2), 4, 9), images(lambda: nn.Conv1d(4, 6, 3, padding="same"), 4, 9)],
    "Conv2d": [images(lambda: nn.Conv2d(4, 6, (3, 2), padding=1), 4, 9, 8), images(lambda: nn.Conv2d(4, 8, 3, groups=4), 4, 9, 8),
               images(lambda: nn.Conv2d(4, 6, 3, dilation=2, padding_mode="circular", padding=1), 4, 9, 8)],
    "Conv3d": [images(lambda: nn.Conv3d(4, 6, 3, groups=2), 4, 5, 6, 7)],
    "ConvTranspose1d": [images(lambda: nn.ConvTranspose1d(4, 6, 3, groups=2), 4, 7)],
    "ConvTranspose2d": [images(lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, output_padding=1), 4, 5, 6)],
    "ConvTranspose3d": [images(lambda: nn.ConvTranspose3d(4, 6, 3), 4, 3, 4, 5)],
    "Fold": [images(lambda: nn.Fold((4, 5), 2), 12, 12)],
    "Unfold": [images(lambda: nn.Unfold(2), 3, 4, 5)],
    "Embedding": [(lambda: nn.Embedding(10, 4), lambda n: (ids(n, 7),))],
    "EmbeddingBag": [(lambda: nn.EmbeddingBag(10, 4), lambda n: (ids(n, 7),))],
    "RNN": [(lambda: nn.RNN(4, 5), lambda n: (x(7, n, 4),)), (lambda: nn.RNN(4, 5, 2, nonlinearity="relu"), lambda n: (x(7, n, 4),)),
            (lambda: nn.RNN(4, 5, 2, bidirectional=True, batch_first=True), lambda n: (x(n, 7, 4), x(4, n, 5)))],
    "LSTM": [(lambda: nn.LSTM(4, 5), lambda n: (x(7, n, 4),)), (lambda: nn.LSTM(4, 5, bias=False, batch_first=True), lambda n: (x(n, 7, 4),)),
             (lambda: nn.LSTM(4, 5, 3, dropout=0.1, bidirectional=True), lambda n: (x(7, n, 4),)),
             (lambda: nn.LSTM(4, 5, 2, proj_size=3, bidirectional=True, batch_first=True), lambda n: (x(n, 7, 4),)),
             (lambda: nn.LSTM(4, 5, 2), lambda n: (x(7, n, 4), (x(2, n, 5), x(2, n, 5)))),
             (lambda: nn.LSTM(4, 5, 3, batch_first=True), lambda n: (x(n, 7, 4), (x(3, n, 5), x(3, n, 5))))],
    "GRU": [(lambda: nn.GRU(4, 5), lambda n: (x(7, n, 4),)), (lambda: nn.GRU(4, 5, 2, bidirectional=True, batch_first=True), lambda n: (x(n, 7, 4),)),
            (lambda: nn.GRU(4, 5, bias=False, batch_first=True), lambda n: (x(n, 7, 4), x(1, n, 5)))],
    "RNNCell": [(lambda: nn.RNNCell(4, 5), lambda n: (x(n, 4), x(n, 5)))],
    "LSTMCell": [images(lambda: nn.LSTMCell(4, 5), 4)],
    "GRUCell": [images(lambda: nn.GRUCell(4, 5), 4)],
    "MultiheadAttention": [
        (lambda: nn.MultiheadAttention(8, 2), lambda n: (x(7, n, 8),) * 3),
        (lambda: nn.MultiheadAttention(8, 2, batch_first=True), lambda n: (x(n, 7, 8),) * 3),
        (lambda: nn.MultiheadAttention(8, 2, kdim=4, vdim=6, add_bias_kv=True, add_zero_attn=True), lambda n: (x(7, n, 8), x(9, n, 4), x(9, n, 6))),
        (lambda: Call(lambda m, q, k: m.a(q, k, k, need_weights=False)[0], a=nn.MultiheadAttention(8, 2, dropout=0.1)),
         lambda n: (x(7, n, 8), x(9, n, 8))),
        (lambda: Call(lambda m, q, mask: m.a(q, q, q, key_padding_mask=mask)[0], a=nn.MultiheadAttention(8, 2, batch_first=True)),
         lambda n: (x(n, 7, 8), torch.zeros(n, 7, dtype=torch.bool)))],
    "TransformerEncoderLayer": [(encoder, lambda n: (x(7, n, 8),)), (lambda: encoder(batch_first=True, norm_first=True), lambda n: (x(n, 7, 8),)),
                                (lambda: encoder(activation="gelu"), lambda n: (x(7, n, 8), x(7, 7)))],
    "TransformerEncoder": [(lambda: nn.TransformerEncoder(encoder(), 2, enable_nested_tensor=False), lambda n: (x(7, n, 8),)),
                           (lambda: nn.TransformerEncoder(encoder(batch_first=True), 2), lambda n: (x(n, 7, 8),))],
    "TransformerDecoderLayer": [(decoder, lambda n: (x(7, n, 8), x(9, n, 8))), (lambda: decoder(batch_first=True), lambda n: (x(n, 7, 8), x(n, 9, 8)))],
    "TransformerDecoder": [(lambda: nn.TransformerDecoder(decoder(), 2), lambda n: (x(7, n, 8), x(9, n, 8)))],
    "Transformer": [(lambda: nn.Transformer(8, 2, 1, 1, 16), lambda n: (x(7, n, 8), x(9, n, 8))),
                    (lambda: nn.Transformer(8, 2, 1, 1, 16, batch_first=True), lambda n: (x(n, 7, 8), x(n, 9, 8)))],
    # what is no class of torch.nn: functions, layouts that a model makes itself, sizes that grow with the batch twice
    "functional attention": [(lambda: Call(lambda m, q: nn.functional.scaled_dot_product_attention(q, q, q)), lambda n: (x(n, 2, 7, 4),)),
                  (lambda: Call(lambda m, q, k: nn.functional.scaled_dot_product_attention(q, k, k, is_causal=True)), lambda n: (x(n, 2, 7, 4), x(n, 2, 9, 4))),
                  (lambda: Call(lambda m, q: nn.functional.scaled_dot_product_attention(q, q, q)), lambda n: (x(n, 7, 4),)),
                  (lambda: Call(lambda m, q: (lambda a: nn.functional.scaled_dot_product_attention(a, a, a))(q.transpose(0, 1))),
                   lambda n: (x(n, 7, 4),), {"batch_axis": 0})],
    "pairs": [(lambda: Call(lambda m, a: (lambda z: z @ z.t())(m.l(a)), l=nn.Linear(4, 6)), lambda n: (x(n, 4),)),
              (lambda: Call(lambda m, a: (lambda z: z @ z.t() @ z)(m.l(a)), l=nn.Linear(4, 6)), lambda n: (x(n, 4),)),
              (lambda: Call(lambda m, a, b: m.l(a) @ m.l(b).t(), l=nn.Linear(4, 6)), lambda n: (x(n, 4), x(n, 4)))],
    "batch twice": [(lambda: Call(lambda m, a: m.l(a).t() @ a, l=nn.Linear(4, 6)), lambda n: (x(n, 4),))],
    "turned": [(lambda: Call(lambda m, a: m.l(m.r(a.transpose(0, 1))[0].transpose(0, 1)), r=nn.LSTM(4, 5), l=nn.Linear(5, 6)), lambda n: (x(n, 7, 4),)),
               (lambda: Call(lambda m, a: m.l(m.r(a.transpose(0, 1))[0][-1]), r=nn.GRU(4, 5), l=nn.Linear(5, 6)), lambda n: (x(n, 7, 4),)),
               (lambda: Call(lambda m, a: m.e(a.transpose(0, 1)).mean(0), e=encoder()), lambda n: (x(n, 7, 8),))],
    "tokens": [(lambda: Call(lambda m, a: m.e(m.w(a)), w=nn.Embedding(9, 8), e=encoder()), lambda n: (ids(7, n),)),
               (lambda: Call(lambda m, a: m.e(m.w(a)), w=nn.Embedding(9, 8), e=encoder(batch_first=True)), lambda n: (ids(n, 7),)),
               (lambda: Call(lambda m, a: m.e(m.w(a))[0], w=nn.Embedding(9, 8), e=nn.LSTM(8, 5)), lambda n: (ids(7, n),))],
    "one sequence": [(lambda: nn.LSTM(4, 5), lambda n: (x(7, 4),)), (encoder, lambda n: (x(7, 8),)),
                     (lambda: nn.MultiheadAttention(8, 2), lambda n: (x(7, 8),) * 3)],
    "batch_axis": [(lambda: nn.Linear(4, 6), lambda n: (x(7, n, 4),), {"batch_axis": 1}),
                   (lambda: Call(lambda m, a, b: m.l(a) + m.l(b.transpose(0, 1)), l=nn.Linear(4, 6)), lambda n: (x(n, 7, 4), x(7, n, 4)),
                    {"batch_axis": (0, 1)})],
}
for name, make, *shape in (
        ("BatchNorm1d", lambda: nn.BatchNorm1d(4), 4), ("BatchNorm2d", lambda: nn.BatchNorm2d(4), 4, 5, 6),
        ("BatchNorm3d", lambda: nn.BatchNorm3d(4), 4, 3, 5, 6), ("GroupNorm", lambda: nn.GroupNorm(2, 4), 4, 5, 6),
        ("InstanceNorm1d", lambda: nn.InstanceNorm1d(4, affine=True), 4, 5), ("InstanceNorm2d", lambda: nn.InstanceNorm2d(4), 4, 5, 6),
        ("InstanceNorm3d", lambda: nn.InstanceNorm3d(4), 4, 3, 5, 6), ("LayerNorm", lambda: nn.LayerNorm(6), 5, 6),
        ("LocalResponseNorm", lambda: nn.LocalResponseNorm(2), 4, 5, 6), ("RMSNorm", lambda: nn.RMSNorm(6), 5, 6),
        ("AdaptiveAvgPool1d", lambda: nn.AdaptiveAvgPool1d(2), 4, 6), ("AdaptiveAvgPool2d", lambda: nn.AdaptiveAvgPool2d(2), 4, 6, 7),
        ("AdaptiveAvgPool3d", lambda: nn.AdaptiveAvgPool3d(2), 4, 4, 6, 7), ("AdaptiveMaxPool1d", lambda: nn.AdaptiveMaxPool1d(2), 4, 6),
        ("AdaptiveMaxPool2d", lambda: nn.AdaptiveMaxPool2d(2), 4, 6, 7), ("AdaptiveMaxPool3d", lambda: nn.AdaptiveMaxPool3d(2), 4, 4, 6, 7),
        ("AvgPool1d", lambda: nn.AvgPool1d(2), 4, 6), ("AvgPool2d", lambda: nn.AvgPool2d(2), 4, 6, 7), ("AvgPool3d", lambda: nn.AvgPool3d(2), 4, 4, 6, 7),
        ("MaxPool1d", lambda: nn.MaxPool1d(2), 4, 6), ("MaxPool2d", lambda: nn.MaxPool2d(2), 4, 6, 7), ("MaxPool3d", lambda: nn.MaxPool3d(2), 4, 4, 6, 7),
        ("LPPool1d", lambda: nn.LPPool1d(2, 2), 4, 6), ("LPPool2d", lambda: nn.LPPool2d(2, 2), 4, 6, 7), ("LPPool3d", lambda: nn.LPPool3d(2, 2), 4, 4, 6, 7),
        ("FractionalMaxPool2d", lambda: nn.FractionalMaxPool2d(2, 3), 4, 6, 7), ("FractionalMaxPool3d", lambda: nn.FractionalMaxPool3d(2, 2), 4, 4, 6, 7),
        ("ChannelShuffle", lambda: nn.ChannelShuffle(2), 4, 5, 6), ("PixelShuffle", lambda: nn.PixelShuffle(2), 4, 5, 6),
        ("PixelUnshuffle", lambda: nn.PixelUnshuffle(2), 4, 6, 8), ("Upsample", lambda: nn.Upsample(scale_factor=2), 4, 5, 6),
        ("UpsamplingBilinear2d", lambda: nn.UpsamplingBilinear2d(scale_factor=2), 4, 5, 6),
        ("UpsamplingNearest2d", lambda: nn.UpsamplingNearest2d(scale_factor=2), 4, 5, 6), ("Flatten", nn.Flatten, 4, 5),
        ("Unflatten", lambda: nn.Unflatten(1, (2, 2)), 4, 5), ("Identity", nn.Identity, 4), ("Softmax", lambda: nn.Softmax(1), 4),
        ("LogSoftmax", lambda: nn.LogSoftmax(1), 4), ("Softmin", lambda: nn.Softmin(1), 4), ("Softmax2d", nn.Softmax2d, 4, 5, 6),
        ("CrossMapLRN2d", lambda: nn.CrossMapLRN2d(2), 4, 5, 6), ("Threshold", lambda: nn.Threshold(0.1, 0), 4), ("PReLU", nn.PReLU, 4),
        ("GLU", nn.GLU, 4)):
    ROWS[name] = [images(make, *shape)]
for name in ("CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid Mish RReLU ReLU ReLU6 SELU SiLU Sigmoid Softplus "
             "Softshrink Softsign Tanh Tanhshrink AlphaDropout Dropout FeatureAlphaDropout").split():
    ROWS[name] = [images(getattr(nn, name), 4, 5)]
for name, shape in (("Dropout1d", (4, 5)), ("Dropout2d", (4, 5, 6)), ("Dropout3d", (4, 3, 5, 6))):
    ROWS[name] = [images(getattr(nn, name), *shape)]
for kind in ("CircularPad", "ConstantPad", "ReflectionPad", "ReplicationPad", "ZeroPad"):
    for places in (1, 2, 3):
        if hasattr(nn, "%s%dd" % (kind, places)):
            more = (0.5,) if kind == "ConstantPad" else ()
            ROWS["%s%dd" % (kind, places)] = [images(lambda make=getattr(nn, "%s%dd" % (kind, places)), more=more: make(1, *more), 4, *(5, 6, 7)[:places])]
for name in "BCEWithLogitsLoss HuberLoss KLDivLoss L1Loss MSELoss PoissonNLLLoss SmoothL1Loss SoftMarginLoss PairwiseDistance CosineSimilarity".split():
    ROWS[name] = [pair(getattr(nn, name), 4)]
ROWS.update({
    "BCELoss": [pair(nn.BCELoss, 4)], "HingeEmbeddingLoss": [pair(nn.HingeEmbeddingLoss, 4)], "MultiLabelSoftMarginLoss": [pair(nn.MultiLabelSoftMarginLoss, 4)],
    "CrossEntropyLoss": [(nn.CrossEntropyLoss, lambda n: (x(n, 4), ids(n))), (nn.CrossEntropyLoss, lambda n: (x(n, 4, 5, 6), ids(n, 5, 6)))],
    "NLLLoss": [(nn.NLLLoss, lambda n: (x(n, 4), ids(n)))], "MultiMarginLoss": [(nn.MultiMarginLoss, lambda n: (x(n, 4), ids(n)))],
    "MultiLabelMarginLoss": [(nn.MultiLabelMarginLoss, lambda n: (x(n, 4), ids(n, 4)))],
    "CosineEmbeddingLoss": [(nn.CosineEmbeddingLoss, lambda n: (x(n, 4), x(n, 4), torch.ones(n)))],
    "MarginRankingLoss": [(nn.MarginRankingLoss, lambda n: (x(n), x(n), torch.ones(n)))],
    "TripletMarginLoss": [(nn.TripletMarginLoss, lambda n: (x(n, 4),) * 3)],
    "TripletMarginWithDistanceLoss": [(nn.TripletMarginWithDistanceLoss, lambda n: (x(n, 4),) * 3)],
    "MaxUnpool1d": [(lambda: nn.MaxUnpool1d(2), lambda n: (x(n, 4, 5), torch.arange(0, 10, 2).expand(n, 4, 5)))],
    "MaxUnpool2d": [(lambda: nn.MaxUnpool2d(2), lambda n: (x(n, 4, 5, 6), torch.arange(0, 120, 4).view(5, 6).expand(n, 4, 5, 6)))],
    "MaxUnpool3d": [(lambda: nn.MaxUnpool3d(2), lambda n: (x(n, 4, 3, 5, 6), torch.arange(0, 720, 8).view(3, 5, 6).expand(n, 4, 3, 5, 6)))],
})
for name in [n for n in dir(nn) if n.startswith("Lazy")]:  # a lazy module has become its class once it has run
    places = {"1": (9,), "2": (9, 8), "3": (5, 6, 7)}.get(name[-2], ())
    arguments = () if "Norm" in name else (6,) if "Linear" in name else (6, 3)
    ROWS[name] = [images(lambda name=name, arguments=arguments, shape=(3, 4) + places: ran(getattr(nn, name)(*arguments), shape), 4, *places)]

if not hasattr(nn.functional, "scaled_dot_product_attention"):
    del ROWS["functional attention"]

LEFT_OUT = {
    "containers and bases": "Container Module ModuleDict ModuleList ParameterDict ParameterList RNNBase RNNCellBase Sequential",
    "old names": "NLLLoss2d",
    "several devices or processes": "DataParallel SyncBatchNorm",
    "they look at values, which export_ops refuses": "AdaptiveLogSoftmaxWithLoss CTCLoss GaussianNLLLoss",
}
FORMULAS = {"Bilinear": lambda n: n * 7 * 5 * 6}


def ran(module, shape):
    module(x(*shape))
    return module


HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "modules.tsv")
# the rows whose files test_operators.c reads where there is no PyTorch
CORPUS = ["Linear 3", "Bilinear 1", "Conv1d 1", "Conv3d 1", "ConvTranspose2d 1", "RNN 3", "LSTM 4", "LSTM 5", "GRU 2", "GRUCell 1",
          "MultiheadAttention 3", "TransformerEncoderLayer 1", "TransformerEncoderLayer 2", "pairs 1", "one sequence 1"]


def counted_by_torch(name, module, arguments):
    """Multiply-adds of a forward pass."""
    if name in FORMULAS:
        return FORMULAS[name](len(arguments[0]))
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
        written_out = sdpa_kernel(SDPBackend.MATH)
    except ImportError:
        written_out = torch.backends.cuda.sdp_kernel(enable_flash=False, enable_mem_efficient=False)
    with torch.backends.mkldnn.flags(enabled=False), written_out, FlopCounterMode(display=False) as counter:
        module(*arguments)
    return counter.get_total_flops() // 2


def parameters_of(module):
    return sum(value.numel() for value in module.parameters())


def read_table():
    """Title to counts; rows without multiply-adds are not in it."""
    with open(TABLE, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return {line[0]: [int(number) for number in line[1:3]] for line in lines}


def ask(path, batch):
    """Multiply-adds and parameters by orch, and what it warns of."""
    done = subprocess.run([sys.argv[1], "net", "show", path, "--batch", str(batch), "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit("orch net show %s: status %d\n%s" % (path, done.returncode, done.stderr))
    counts = json.loads(done.stdout)
    return counts["multiply_adds"], counts["params"], done.stderr


def check(title, row, path, train, right):
    module, arguments = row[0]().train(train), row[1]
    try:
        orch.export_ops(module, arguments(BATCHES[0]), path, train=train, **(row[2] if len(row) > 2 else {}))
    except orch.Error as problem:
        print("%s: %s: WRONG" % (title, problem))
        return False
    with open(path, encoding="utf-8") as file:
        fixed = json.loads(file.readline())["fixed"].get("batch")
    ok, said = True, ""
    for batch, number in list(zip(BATCHES, right))[:1 if fixed else 2]:
        counted, params, said = ask(path, 1 if fixed else batch)
        if counted != number:
            print("%s: batch %d has %d multiply-adds, right: %d: WRONG" % (title, batch, counted, number))
            ok = False
    if params != parameters_of(module):
        print("%s: %d parameters, right: %d: WRONG" % (title, params, parameters_of(module)))
        ok = False
    unknown = [line for line in said.split("\n") if "is not known" in line or "happen once per batch" in line]
    if unknown:
        print("%s: %s: WRONG" % (title, unknown[0]))
    if "-v" in sys.argv or fixed:
        print("%s: %s%s" % (title, "ok" if ok else "WRONG", ", fixed: " + fixed if fixed else ""))
    return ok and not unknown


def rows_asked():
    """Name, title and row, of the classes that this version has."""
    asked = [word for word in sys.argv[2:] if not word.startswith("-")]
    for name, rows in ROWS.items():
        if name[0].isupper() and not hasattr(nn, name) or asked and name not in asked:
            continue
        for at, row in enumerate(rows):
            yield name, "%s %d" % (name, at + 1), row


def write():
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write("# Multiply-adds of the rows of torch_modules.py at batches of %d and %d, by FlopCounterMode of PyTorch %s; parameters.\n"
                   % (BATCHES + (torch.__version__.split("+")[0],)))
        for name, title, row in rows_asked():
            counts = [counted_by_torch(name, row[0](), row[1](batch)) for batch in BATCHES]
            if any(counts):
                file.write("%s\t%d\t%d\t%d\n" % (title, *counts, parameters_of(row[0]())))
            if title in CORPUS:
                orch.export_ops(row[0](), row[1](BATCHES[0]), os.path.join(HERE, "corpus/operators/%s.jsonl" % title.replace(" ", "-")),
                                **(row[2] if len(row) > 2 else {}))


def main():
    left_out = " ".join(LEFT_OUT.values()).split()
    classes = [n for n in dir(nn) if isinstance(getattr(nn, n), type) and issubclass(getattr(nn, n), nn.Module)]
    missing = [n for n in classes if n not in ROWS and n not in left_out]
    ok, count = not missing, 0
    if missing:
        print("no row for %s: WRONG" % " ".join(missing))
    if "--write" in sys.argv:
        return write()
    table, orch_path = read_table(), os.path.abspath(sys.argv[1])
    sys.argv[1] = orch_path
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, title, row in rows_asked():
            right = table.get(title, [0, 0])
            if FlopCounterMode:
                counts = [counted_by_torch(name, row[0](), row[1](batch)) for batch in BATCHES]
                if counts != right:
                    print("%s: %s by FlopCounterMode, %s in modules.tsv: WRONG" % (title, counts, right))
                    ok = False
            for train in (True, False):
                ok = check("%s %s" % (title, "training" if train else "inference"), row, "m.jsonl", train, right) and ok
                count += 1
    print("%d exports of %d classes" % (count, len([n for n in ROWS if n in classes])))
    sys.exit(not ok)


main()
