# SPDX-License-Identifier: GPL-3.0-or-later
"""A data loader: decodes PNG images, crops, flips and normalises them. usage: loader.py --images N --size N --crops N"""
import argparse
import io

import numpy as np
from PIL import Image

p = argparse.ArgumentParser()
for name in ("images", "size", "crops"):
    p.add_argument("--" + name, type=int, required=True)
a = p.parse_args()
rng = np.random.default_rng(0)
file = io.BytesIO()
Image.fromarray(rng.integers(0, 255, (a.size, a.size, 3), dtype=np.uint8)).save(file, "PNG")
for _ in range(a.images):
    image = Image.open(io.BytesIO(file.getvalue())).convert("RGB")
    for _ in range(a.crops):
        left, top = rng.integers(0, a.size // 4, 2)
        crop = image.crop((left, top, left + a.size // 2, top + a.size // 2)).resize((a.size // 2, a.size // 2), Image.BILINEAR)
        x = np.asarray(crop, np.float32)[:, :: rng.choice([-1, 1])]
        x = (x - x.mean((0, 1))) / (x.std((0, 1)) + 1e-3)
print("done", 1)
