# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a MobileNet v1 detector with pytorch-ssd's names of modules and random weights, an input, and its outputs:
DIR/{weights.pth,x.bin,locations.bin,confidences.bin}. Locations are images x priors x 4, confidences images x priors x
21, a row for each prior, by map, row, column and prior of the cell, as that project flattens them."""
import sys

try:
    import torch
    from torch import nn
except ImportError:
    sys.exit(77)

CLASSES, PRIORS = 21, 6


def conv_bn(inp, out, stride):
    return nn.Sequential(nn.Conv2d(inp, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU())


def conv_dw(inp, out, stride):
    return nn.Sequential(nn.Conv2d(inp, inp, 3, stride, 1, groups=inp, bias=False), nn.BatchNorm2d(inp), nn.ReLU(),
                         nn.Conv2d(inp, out, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU())


def extra(inp, narrow, out):
    return nn.Sequential(nn.Conv2d(inp, narrow, 1), nn.ReLU(), nn.Conv2d(narrow, out, 3, 2, 1), nn.ReLU())


def heads(widths, values):
    return nn.ModuleList([nn.Conv2d(width, PRIORS * values, 3, padding=1) for width in widths])


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [(32, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2)]
        layers += [(512, 512, 1)] * 5 + [(512, 1024, 2), (1024, 1024, 1)]
        self.base_net = nn.Sequential(conv_bn(3, 32, 2), *[conv_dw(*layer) for layer in layers])
        self.extras = nn.ModuleList([extra(1024, 256, 512), extra(512, 128, 256), extra(256, 128, 256),
                                     extra(256, 128, 256)])
        widths = [512, 1024, 512, 256, 256, 256]
        self.regression_headers = heads(widths, 4)
        self.classification_headers = heads(widths, CLASSES)

    def forward(self, x):
        maps = []
        for i, layer in enumerate(self.base_net):
            x = layer(x)
            if i in (11, 13):
                maps.append(x)
        for layer in self.extras:
            x = layer(x)
            maps.append(x)
        flat = lambda head, values: torch.cat(
            [conv(m).permute(0, 2, 3, 1).reshape(m.size(0), -1, values) for conv, m in zip(head, maps)], 1)
        return flat(self.regression_headers, 4), flat(self.classification_headers, CLASSES)


torch.manual_seed(5)
model = Detector()
for name, buffer in model.named_buffers():  # running statistics that are not the identity
    if name.endswith("running_mean"):
        buffer.normal_(0, 0.1)
    elif name.endswith("running_var"):
        buffer.uniform_(0.5, 1.5)
model.eval()
x = torch.randn(1, 3, 300, 300)
with torch.no_grad():
    locations, confidences = model(x)
# without this the deeper layers fade to their biases, and a wrong order would hardly show
assert confidences.std() > 1e-3 and locations.shape[1] == 3000
torch.save(model.state_dict(), sys.argv[1] + "/weights.pth")
for name, array in (("x", x), ("locations", locations), ("confidences", confidences)):
    array.contiguous().numpy().tofile(f"{sys.argv[1]}/{name}.bin")
