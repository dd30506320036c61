# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes small data sets into a folder: CIFAR-10 (binary format), Fashion-MNIST and a folder of PNG images ('aircraft'), all of
random pixels and of all classes. usage: small_sets.py FOLDER IMAGES-OF-A-CIFAR-FILE"""
import gzip
import os
import random
import struct
import sys
import zlib

root, each = sys.argv[1], int(sys.argv[2])
rows = random.Random(1)


def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


for name in [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]:
    put(f"{root}/cifar10/{name}", b"".join(bytes([i % 10]) + rows.randbytes(3072) for i in range(each)))
for name, count in (("train", 5 * each), ("t10k", each)):
    images = struct.pack(">IIII", 2051, count, 28, 28) + rows.randbytes(784 * count)
    put(f"{root}/fashion-mnist/{name}-images-idx3-ubyte.gz", gzip.compress(images, 1))
    labels = struct.pack(">II", 2049, count) + bytes(i % 10 for i in range(count))
    put(f"{root}/fashion-mnist/{name}-labels-idx1-ubyte.gz", gzip.compress(labels, 1))


def png(side):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = b"".join(b"\0" + rows.randbytes(3 * side) for _ in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


for split in ("train", "val"):
    for label in ("a", "b"):
        for i in range(2):
            put(f"{root}/aircraft/{split}/{label}/{i}.png", png(72))
