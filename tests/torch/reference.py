# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes torchvision's resnet18 with random weights, an input and its output: DIR/{weights.pth,x.bin,y.bin}."""
import sys

import torch
import torchvision

torch.manual_seed(3)
model = torchvision.models.resnet18(weights=None)
for name, buffer in model.named_buffers():  # running statistics that are not the identity
    if name.endswith("running_mean"):
        buffer.normal_(0, 0.1)
    elif name.endswith("running_var"):
        buffer.uniform_(0.5, 1.5)
model.eval()
x = torch.randn(2, 3, 96, 96)
with torch.no_grad():
    y = model(x)
torch.save(model.state_dict(), sys.argv[1] + "/weights.pth")
x.numpy().tofile(sys.argv[1] + "/x.bin")
y.numpy().tofile(sys.argv[1] + "/y.bin")
