#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the networks against torchvision: names and shapes of all tensors, and how they
begin (mean and deviation of those with enough elements). The argument is print_tensors."""
import subprocess
import sys

NETS = ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "vgg11", "vgg16_bn", "vgg19", "alexnet",
        "resnext50_32x4d", "wide_resnet50_2", "densenet121", "mobilenet_v2", "squeezenet1_0", "squeezenet1_1",
        "efficientnet_b0", "googlenet-aux", "inception_v3-aux"]
# These draw from a truncated normal whose deviation is set layer by layer: names and shapes only.
NAMES_ONLY = ["googlenet-aux", "inception_v3-aux"]
ENOUGH = 1000      # elements, for a deviation to be estimated
TOLERANCE = 0.12   # relative: over five standard errors of a deviation from ENOUGH elements


def ours(program):
    text = subprocess.run([program, *NETS], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        net, name, shape, mean, deviation = line.split("\t")
        yield net, name, shape, float(mean), float(deviation)


def theirs():
    import warnings
    import torchvision
    warnings.filterwarnings('ignore')
    for net in NETS:
        model = getattr(torchvision.models, net.removesuffix('-aux'))(weights=None)
        for name, tensor in model.state_dict().items():
            if name.endswith("num_batches_tracked"):
                continue
            few = tensor.numel() < 2
            yield (net, name, ",".join(map(str, tensor.shape)), tensor.mean().item(),
                   0.0 if few else tensor.std().item(), tensor.numel())


def main():
    failures = 0
    ours_list, theirs_list = list(ours(sys.argv[1])), list(theirs())
    if len(ours_list) != len(theirs_list):
        sys.exit(f"{len(ours_list)} tensors, torchvision has {len(theirs_list)}")
    for a, b in zip(sorted(ours_list), sorted(theirs_list)):  # auxiliary heads stand elsewhere
        same = a[:3] == b[:3]
        if same and a[0] in NAMES_ONLY:
            continue
        if same and a[4] == 0:
            same = b[4] == 0 and b[3] == a[3]
        elif same and b[5] >= ENOUGH:
            same = abs(b[4] / a[4] - 1) < TOLERANCE and abs(b[3] - a[3]) < TOLERANCE * a[4] * 2
        if not same:
            failures += 1
            print("differs:", a, b)
    print(f"{len(ours_list)} tensors of {len(NETS)} networks, {failures} differ")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
