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


def tensor(name, dims, values, *more):
    return message(*[(1, d) for d in dims], (2, 1), (8, name), (9, struct.pack("<%df" % len(values), *values)), *more)


def info(name, dims, kind=1):
    shape = message(*[(1, message((2, d) if isinstance(d, str) else (1, d))) for d in dims])
    return message((1, name), (2, message((1, message((1, kind), (2, shape))))))


def ints(name, *values):
    return message((1, name), *[(8, v) for v in values], (20, 7))


def node(op, inputs, outputs, *attributes, domain=""):
    return message(*[(1, i) for i in inputs], *[(2, o) for o in outputs], (4, op), *[(5, a) for a in attributes],
                   *([(7, domain)] if domain else []))


def model(nodes, inputs, outputs, weights=(), opset=13, metadata=(), infos=()):
    graph = message(*[(1, n) for n in nodes], (2, "g"), *[(5, w) for w in weights], *[(11, i) for i in inputs],
                    *[(12, o) for o in outputs], *[(13, i) for i in infos])
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


def small_outputs(x, side=4):
    """What small() computes for one input, in double precision."""
    means = []
    for k in range(4):
        total = 0.0
        for row in range(side):
            for column in range(side):
                value = 0.0
                for i in range(3):
                    for j in range(3):
                        y, z = row + i - 1, column + j - 1
                        if 0 <= y < side and 0 <= z < side:
                            value += x[y * side + z] * (((9 * k + 3 * i + j) * 7) % 11 - 5) / 8
                total += max(value, 0.0)
        means.append(total / side ** 2)
    return [sum(means[k] * (((4 * i + k) * 5) % 13 - 6) / 4 for k in range(4)) for i in range(3)]


def read_safetensors(path):
    """name -> (shape, floats)."""
    import json
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    body = data[8 + size:]
    head = json.loads(data[8:8 + size])
    head.pop("__metadata__", None)
    return {name: (h["shape"], struct.unpack("<%df" % ((h["data_offsets"][1] - h["data_offsets"][0]) // 4),
                                             body[h["data_offsets"][0]:h["data_offsets"][1]])) for name, h in head.items()}


def colours(opset=13):
    """A detector of red and green squares of 8 pixels in images of 32: offsets of 0, so that each box is its prior. The
    confidence of a class is the mean of its colour in a cell, that of the background the same everywhere."""
    priors, classes = 1, 3
    scores = [0.0] * (classes * 3)
    scores[3 * 1 + 0] = scores[3 * 2 + 1] = 8.0
    nodes = [node("AveragePool", ["x"], ["p"], ints("kernel_shape", 8, 8), ints("strides", 8, 8)),
             node("Conv", ["p", "l"], ["boxes.0"], ints("kernel_shape", 1, 1)),
             node("Conv", ["p", "s", "b"], ["scores.0"], ints("kernel_shape", 1, 1))]
    return model(nodes, [info("x", ["N", 3, 32, 32])],
                 [info("boxes.0", ["N", 4 * priors, 4, 4]), info("scores.0", ["N", classes * priors, 4, 4])],
                 [tensor("l", [4, 3, 1, 1], [0.0] * 12), tensor("s", [3, 3, 1, 1], scores), tensor("b", [3], [4.0, 0.0, 0.0])],
                 opset, [("classes", "background\nred\ngreen")])


def safetensors(arrays, metadata):
    """arrays: name -> (shape, floats)."""
    import json
    head, body = {"__metadata__": metadata}, b""
    for name, (shape, values) in arrays.items():
        data = struct.pack("<%df" % len(values), *values)
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def squares(objects):
    """Four images of 3 x 32 x 32 on grey, normalised by 0.5 and 0.25. objects: (image, label, column, row) of cells."""
    pixels = [0.3] * (4 * 3 * 32 * 32)
    for image, label, column, row in objects:
        for y in range(8 * row, 8 * row + 8):
            for x in range(8 * column, 8 * column + 8):
                for c in range(3):
                    pixels[((image * 3 + c) * 32 + y) * 32 + x] = 1.0 if c == label - 1 else 0.0
    return [(p - 0.5) / 0.25 for p in pixels]


OBJECTS = [(0, 1, 0, 0), (0, 2, 2, 2), (1, 2, 3, 1), (2, 1, 1, 3), (2, 1, 3, 3)]


def samples(box_of):
    """Images with objects, whose boxes box_of(column, row) gives; None: without objects."""
    arrays = {"real/input": ([4, 3, 32, 32], squares(OBJECTS))}
    if box_of:
        rows = [[i, label, *box_of(c, r), 0] for i, label, c, r in OBJECTS]
        arrays["real/objects"] = ([len(rows), 7], [float(v) for row in rows for v in row])
    return safetensors(arrays, {"classes": "background\nred\ngreen", "mean": "0.5 0.5 0.5", "std": "0.25 0.25 0.25"})


def prior(column, row):
    """The prior of a cell: a square of 0.15 of the side."""
    x, y = (column + 0.5) / 4, (row + 0.5) / 4
    return x - 0.075, y - 0.075, x + 0.075, y + 0.075


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def decoder():
    """Two transposed convolutions, which each double the side, as those of networks that find text; 4x4 becomes 16x16."""
    nodes = [node("ConvTranspose", ["x", "up.weight", "up.bias"], ["a"], ints("kernel_shape", 3, 3), ints("strides", 2, 2),
                  ints("pads", 1, 1, 1, 1), ints("output_padding", 1, 1)), node("Relu", ["a"], ["b"]),
             node("ConvTranspose", ["b", "out.weight"], ["y"], ints("strides", 2, 2))]
    return model(nodes, [info("x", ["N", 4, 4, 4])], [info("y", ["N", 1, 16, 16])],
                 [tensor("up.weight", [4, 6, 3, 3], [0.1] * 216), tensor("up.bias", [6], [0.1] * 6),
                  tensor("out.weight", [6, 1, 2, 2], [0.1] * 24)])


def files():
    """Every file that a test needs, by its name."""
    good = small(metadata=[("classes", "cat\ndog\nelk")])
    cycle = [node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Flatten", ["b"], ["y"])]
    io = [info("x", ["N", 1, 4, 4])], [info("y", ["N", 16])]
    return {"small.onnx": good, "fixed.onnx": small(batch=1), "large.onnx": small(side=28),
            "cut.onnx": good[:len(good) - 40], "cycle.onnx": model(cycle, *io),
            "new.onnx": small(opset=99), "strange.onnx": small(op="Frobnicate"),
            "tenth.onnx": small(weight=0.1),
            "two.onnx": model([node("Add", ["x", "z"], ["y"])], [io[0][0], info("z", ["N", 1, 4, 4])], [info("y", ["N", 1, 4, 4])]),
            "ints.onnx": model([node("Flatten", ["x"], ["y"])], [info("x", ["N", 1, 4, 4], 7)], [info("y", ["N", 16], 7)]),
            "open.onnx": model([node("Flatten", ["x"], ["y"])], [info("x", ["N", 1, "H", "W"])], [info("y", ["N", "V"])]),
            "colours.onnx": colours(), "squares.safetensors": samples(prior), "bare.safetensors": samples(None),
            "beyond.safetensors": samples(lambda c, r: (0.5, 0.5, 0.5, 0.7)),
            "unnamed.onnx": model([node("Flatten", ["x"], ["y"])], *io, infos=[message((2, b""))]),
            # fields that ONNX does not define, and the reader has for what it leaves out of a tensor
            "field.onnx": model([node("Add", ["x", "w"], ["a"]), node("Flatten", ["a"], ["y"])], *io,
                                [tensor("w", [1], [1.0], (1000, 9), (1001, 4))]),
            "decoder.onnx": decoder(),
            "nothing.onnx": model([node("Flatten", ["x"], ["z"])], *io), "text.onnx": b"this is no network\n"}


if __name__ == "__main__":
    for name, data in files().items():
        write(sys.argv[1] + "/" + name, data)
