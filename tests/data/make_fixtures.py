#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes tests/data/images: small pictures, and what Pillow makes of them at other sizes.

usage: make_fixtures.py FOLDER      (needs Pillow and NumPy; the files are committed)

For each picture NAME.EXT and size HxW there is NAME-HxW.rgb: the largest centred part of that shape,
scaled by Pillow's BILINEAR filter, as planes of red, green and blue bytes.
"""
import pathlib
import sys

import numpy
from PIL import Image

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def scene(height, width, seed):
    """Slopes, a bright disc and a little noise: smooth parts, edges and detail."""
    random = numpy.random.RandomState(seed)
    y, x = numpy.mgrid[0:height, 0:width].astype(float)
    disc = (y - height / 2) ** 2 + (x - width / 3) ** 2 < (height / 4) ** 2
    planes = [255 * x / width, 255 * y / height, numpy.where(disc, 240, 40)]
    noise = random.randint(-12, 13, (height, width, 3))
    return numpy.clip(numpy.stack(planes, 2) + noise, 0, 255).astype("uint8")


def expected(image, height, width):
    ratio = min(image.width / width, image.height / height)
    left = (image.width - ratio * width) / 2
    top = (image.height - ratio * height) / 2
    box = (left, top, left + ratio * width, top + ratio * height)
    small = image.convert("RGB").resize((width, height), Image.Resampling.BILINEAR, box=box)
    return numpy.asarray(small).transpose(2, 0, 1).tobytes()


for name, height, width, seed in (("wide.jpg", 60, 90, 1), ("tall.png", 47, 31, 2)):
    path = folder / name
    Image.fromarray(scene(height, width, seed)).save(path, quality=85)
    for to_height, to_width in ((16, 16), (24, 12), (100, 80)):
        out = folder / f"{path.stem}-{to_height}x{to_width}.rgb"
        out.write_bytes(expected(Image.open(path), to_height, to_width))
