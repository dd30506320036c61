# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes small ONNX files without Python's onnx: a message is a list of (field number, value)."""
import struct
import sys


def varint(n):
    out = b""
    n &= (1 << 64) - 1
    while True:
        out += bytes([n & 127 | (128 if n > 127 else 0)])
        n >>= 7
        if not n:
            return out


def message(*fields):
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        elif isinstance(value, float):
            out += varint(number << 3 | 5) + struct.pack("<f", value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def tensor(name, dims, values):
    return message(*[(1, d) for d in dims], (2, 1), (8, name), (9, struct.pack("<%df" % len(values), *values)))


def info(name, dims, kind=1):
    shape = message(*[(1, message((2, d) if isinstance(d, str) else (1, d))) for d in dims])
    return message((1, name), (2, message((1, message((1, kind), (2, shape))))))


def ints(name, *values):
    return message((1, name), *[(8, v) for v in values], (20, 7))


def node(op, inputs, outputs, *attributes, domain=""):
    return message(*[(1, i) for i in inputs], *[(2, o) for o in outputs], (4, op), *[(5, a) for a in attributes],
                   *([(7, domain)] if domain else []))


def model(nodes, inputs, outputs, weights=(), opset=13, metadata=()):
    graph = message(*[(1, n) for n in nodes], (2, "g"), *[(5, w) for w in weights], *[(11, i) for i in inputs],
                    *[(12, o) for o in outputs])
    return message((1, 7), (7, graph), (8, message((1, ""), (2, opset))),
                   *[(14, message((1, k), (2, v))) for k, v in metadata])


def small(batch="N", side=4, opset=13, op="Relu", domain="", metadata=(), weight=None):
    """A convolution, an activation, the mean, and a dense layer with 3 outputs."""
    kernel = [((i * 7) % 11 - 5) / 8 for i in range(4 * 9)]
    dense = [((i * 5) % 13 - 6) / 4 for i in range(3 * 4)]
    if weight is not None:
        dense[0] = weight
    nodes = [node("Conv", ["x", "w"], ["c"], ints("kernel_shape", 3, 3), ints("pads", 1, 1, 1, 1)),
             node(op, ["c"], ["r"], domain=domain), node("GlobalAveragePool", ["r"], ["p"]), node("Flatten", ["p"], ["f"]),
             node("Gemm", ["f", "d"], ["y"], message((1, "transB"), (3, 1), (20, 2)))]
    return model(nodes, [info("x", [batch, 1, side, side])], [info("y", [batch, 3])],
                 [tensor("w", [4, 1, 3, 3], kernel), tensor("d", [3, 4], dense)], opset, metadata)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def files():
    """Every file that a test needs, by its name."""
    good = small(metadata=[("classes", "cat\ndog\nelk")])
    cycle = [node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Flatten", ["b"], ["y"])]
    io = [info("x", ["N", 1, 4, 4])], [info("y", ["N", 16])]
    return {"small.onnx": good, "fixed.onnx": small(batch=1), "large.onnx": small(side=28),
            "cut.onnx": good[:len(good) - 40], "cycle.onnx": model(cycle, *io),
            "new.onnx": small(opset=99), "strange.onnx": small(op="Frobnicate"),
            "nan.onnx": small(weight=float("nan")),
            "two.onnx": model([node("Add", ["x", "z"], ["y"])], [io[0][0], info("z", ["N", 1, 4, 4])], [info("y", ["N", 1, 4, 4])]),
            "ints.onnx": model([node("Flatten", ["x"], ["y"])], [info("x", ["N", 1, 4, 4], 7)], [info("y", ["N", 16], 7)]),
            "open.onnx": model([node("Flatten", ["x"], ["y"])], [info("x", ["N", 1, "H", "W"])], [info("y", ["N", "V"])]),
            "nothing.onnx": model([node("Flatten", ["x"], ["z"])], *io), "text.onnx": b"this is no network\n"}


if __name__ == "__main__":
    for name, data in files().items():
        write(sys.argv[1] + "/" + name, data)
