#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the weight files that test_weights reads into the folder given.

Most are made by torch.save; those that today's PyTorch no longer writes, or never should, are put
together by hand. The committed ones in tests/data/weights were made by PyTorch 1.13.1.
"""
import collections
import io
import json
import os
import pickle
import struct
import sys
import warnings
import zipfile

import torch

warnings.simplefilter("ignore")


def ramp(*shape, dtype=torch.float32):
    """Element i (row-major) is i / 2 - 1; for integers i; for bool i odd."""
    count = torch.Size(shape).numel()
    i = torch.arange(count)
    if dtype.is_floating_point:
        return (i.double() / 2 - 1).to(dtype).reshape(shape)
    return (i % 2 == 1 if dtype == torch.bool else i.to(dtype)).reshape(shape)


def state():
    d = collections.OrderedDict()
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64,
                  torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool):
        d[str(dtype).replace("torch.", "")] = ramp(2, 3, dtype=dtype)
    base = ramp(4, 6)
    d["base"] = base
    d["column_slice"] = base[1:3, 2:5]        # shares, strided
    d["transposed"] = base.t()                # shares, strided
    d["row"] = base[2]                        # shares, contiguous
    d["channels_last"] = ramp(2, 3, 2, 4).contiguous(memory_format=torch.channels_last)
    d["expanded"] = torch.tensor([7.0]).expand(3)
    d["scalar"] = torch.tensor(5)
    d["empty"] = torch.zeros(0, 3)
    d["parameter"] = torch.nn.Parameter(ramp(3, 2))
    return d


def write_torch(folder):
    d = state()
    path = lambda name: os.path.join(folder, name)
    torch.save(d, path("zip.pth"))
    torch.save(d, path("legacy.pth"), _use_new_zipfile_serialization=False)
    torch.save(d, path("protocol4.pth"), pickle_protocol=4)
    model = torch.nn.Linear(3, 2)
    step = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(torch.ones(1, 3)).sum().backward()
    step.step()
    torch.save({"epoch": torch.tensor(3), "best": 0.5, "args": ["a", (1, None)],
                "size": torch.Size([2, 3]), "optimizer": step.state_dict(), "state_dict": d},
               path("nested.pth"))
    parallel = collections.OrderedDict(("module." + name, value) for name, value in d.items())
    torch.save({"model": parallel}, path("parallel.pth"), _use_new_zipfile_serialization=False)
    module = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2))
    torch.save(module.state_dict(), path("module.pth"))
    torch.save(module, path("whole.pth"))
    torch.save([1, 2], path("list.pth"))
    torch.save({"epoch": 1, "name": "x"}, path("no-tensors.pth"))
    torch.save({"z": torch.zeros(2, dtype=torch.complex64)}, path("complex.pth"))


def repack(folder, source, target, compression, zip64=False):
    """The same archive by another writer."""
    with zipfile.ZipFile(os.path.join(folder, source)) as old, \
            zipfile.ZipFile(os.path.join(folder, target), "w", compression) as new:
        for name in old.namelist():
            with new.open(zipfile.ZipInfo(name), "w", force_zip64=zip64) if zip64 else \
                    new.open(name, "w") as out:
                out.write(old.read(name))


class Evil:
    def __reduce__(self):
        return os.system, ("touch /tmp/orch-was-here",)


def write_evil(folder):
    with zipfile.ZipFile(os.path.join(folder, "evil.pth"), "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"w": Evil()}, protocol=2))
    with zipfile.ZipFile(os.path.join(folder, "evil4.pth"), "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"w": Evil()}, protocol=4))


def text(word):
    return b"U" + bytes([len(word)]) + word.encode()


def write_python2(folder):
    """As PyTorch 0.1 under Python 2 wrote: byte strings, _rebuild_tensor, Parameter with state,
    OrderedDict from pairs, parts of a storage."""
    magic = b"\x80\x02\x8a\x0a" + bytes.fromhex("6cfc9c46f9206aa85019") + b"."
    protocol = b"\x80\x02M\xe9\x03."
    system = b"\x80\x02}(" + text("little_endian") + b"\x88" + text("protocol_version") + \
        b"M\xe9\x03u."

    def tensor(part, offset):
        storage = b"(" + text("storage") + b"ctorch.cuda\nFloatStorage\n" + text("123") + \
            text("cuda:0") + b"K\x08" + part + b"tQ"
        return b"ctorch._utils\n_rebuild_tensor\n(" + storage + b"K" + bytes([offset]) + \
            b"K\x02K\x02\x86K\x02K\x01\x86tR"

    def parameter(data):
        return b"ctorch.nn.parameter\nParameter\n" + data + b"\x85R(\x88\x89Ntb"

    part = b"(" + text("124") + b"K\x04K\x04t"
    body = b"\x80\x02ccollections\nOrderedDict\n](" + \
        b"](" + text("weight") + parameter(tensor(b"N", 2)) + b"e" + \
        b"](" + text("part") + parameter(tensor(part, 0)) + b"ee\x85R."
    keys = b"\x80\x02](" + text("123") + b"e."
    data = struct.pack("<q8f", 8, *[i / 2 - 1 for i in range(8)])
    with open(os.path.join(folder, "python2.pth"), "wb") as out:
        out.write(magic + protocol + system + body + keys + data)


def write_safetensors(folder):
    """Written by the format's description; one tensor is not aligned."""
    data = b"".join([struct.pack("<6f", *[i / 2 - 1 for i in range(6)]), struct.pack("<B", 3),
                     struct.pack("<3q", 0, 1, 2), b""])
    header = {
        "__metadata__": {"format": "pt", "about": "t\u00e4st"},
        "unaligned": {"dtype": "I64", "shape": [3], "data_offsets": [25, 49]},
        "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "byte": {"dtype": "U8", "shape": [], "data_offsets": [24, 25]},
        "empty": {"dtype": "F16", "shape": [0, 4], "data_offsets": [49, 49]},
    }
    raw = json.dumps(header).encode()
    raw += b" " * (-len(raw) % 8)
    with open(os.path.join(folder, "plain.safetensors"), "wb") as out:
        out.write(struct.pack("<Q", len(raw)) + raw + data)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    write_torch(folder)
    repack(folder, "zip.pth", "deflated.pth", zipfile.ZIP_DEFLATED)
    repack(folder, "zip.pth", "zip64.pth", zipfile.ZIP_STORED, zip64=True)
    write_evil(folder)
    write_python2(folder)
    write_safetensors(folder)


if __name__ == "__main__":
    main()
