# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the ONNX models that 'orch net export' writes: by ONNX Runtime where Python has it, else operator by operator on
PyTorch, as onnx.ai/onnx/operators defines them."""
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper


def pool(a, x, mean):
    top, left, bottom, right = a["pads"] if "pads" in a else (0, 0, 0, 0)
    x = F.pad(x, (left, right, top, bottom), value=0 if mean else float("-inf"))
    return (F.avg_pool2d if mean else F.max_pool2d)(x, a["kernel_shape"], a["strides"])


def conv(a, x, w, b=None):
    top, left, bottom, right = a["pads"]
    return F.conv2d(F.pad(x, (left, right, top, bottom)), w, b, a["strides"], 0, a["dilations"], a["group"])


def slice_of(a, x, starts, ends, axes, steps=None):
    for i, axis in enumerate(axes.tolist()):
        index = torch.arange(x.shape[axis])[slice(starts[i], ends[i], 1 if steps is None else steps[i])]
        x = x.index_select(axis, index)
    return x


def pad(a, x, pads):
    half = len(pads) // 2
    return F.pad(x, [int(p) for i in reversed(range(half)) for p in (pads[i], pads[i + half])])


def lrn(a, x):
    n = a["size"]
    squares = F.pad((x * x).unsqueeze(1), (0, 0, 0, 0, (n - 1) // 2, n // 2))
    return x / (a["bias"] + a["alpha"] / n * squares.unfold(2, n, 1).sum(-1).squeeze(1)) ** a["beta"]


def mean(a, x, axes=None):
    return x.mean(a["axes"] if axes is None else axes.tolist(), keepdim=True)


def split(a, x, sizes):
    return x.split(sizes.tolist(), a["axis"])


OPERATORS = {
    "Conv": conv,
    "Gemm": lambda a, x, w, b=0: x @ w.T + b,
    "MatMul": lambda a, x, y: x @ y,
    "BatchNormalization": lambda a, x, g, b, m, v: F.batch_norm(x, m, v, g, b, False, 0, a["epsilon"]),
    "LayerNormalization": lambda a, x, g, b: F.layer_norm(x, x.shape[-1:], g, b, a["epsilon"]),
    "LRN": lrn,
    "MaxPool": lambda a, x: pool(a, x, False),
    "AveragePool": lambda a, x: pool(a, x, True),
    "GlobalAveragePool": lambda a, x: x.mean((2, 3), keepdim=True),
    "ReduceMean": mean,
    "Relu": lambda a, x: x.relu(),
    "Tanh": lambda a, x: x.tanh(),
    "Sigmoid": lambda a, x: x.sigmoid(),
    "Erf": lambda a, x: x.erf(),
    "Sqrt": lambda a, x: x.sqrt(),
    "Gelu": lambda a, x: F.gelu(x),
    "Softmax": lambda a, x: x.softmax(a["axis"]),
    "Clip": lambda a, x, low, high: x.clamp(low, high),
    "Add": lambda a, x, y: x + y,
    "Sub": lambda a, x, y: x - y,
    "Mul": lambda a, x, y: x * y,
    "Div": lambda a, x, y: x / y,
    "Concat": lambda a, *xs: torch.cat(xs, a["axis"]),
    "Flatten": lambda a, x: x.flatten(a["axis"]),
    "Identity": lambda a, x: x,
    "Transpose": lambda a, x: x.permute(a["perm"]),
    "Reshape": lambda a, x, shape: x.reshape([x.shape[i] if s == 0 else s for i, s in enumerate(shape.tolist())]),
    "Slice": slice_of,
    "Pad": pad,
    "Split": split,
    "Gather": lambda a, x, i: x[i] if a.get("axis", 0) == 0 else x.select(a["axis"], int(i)),
    "Constant": lambda a: tensor(a["value"]),
}


def tensor(proto):
    return torch.from_numpy(numpy_helper.to_array(proto).copy())


def interpret(path, x):
    graph = onnx.load(path).graph
    values = {t.name: tensor(t) for t in graph.initializer}
    values[graph.input[0].name] = torch.from_numpy(x.copy())
    with torch.no_grad():
        for node in graph.node:
            attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
            out = OPERATORS[node.op_type](attributes, *[values[i] for i in node.input])
            for name, value in zip(node.output, out if isinstance(out, tuple) else [out]):
                values[name] = value
    return {o.name: values[o.name].numpy() for o in graph.output}


def run(path, x):
    """The outputs by name."""
    try:
        import onnxruntime
    except ImportError:
        return interpret(path, x)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, {session.get_inputs()[0].name: x})))
