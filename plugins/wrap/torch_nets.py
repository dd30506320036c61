# SPDX-License-Identifier: MIT
"""The networks of the adapters for PyTorch, with the layers of orch's networks of the same name."""
import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    """A basic block of a CIFAR ResNet; a shortcut to more channels is padded with zeros."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.stride, self.padding = stride, (outputs - inputs) // 2

    def forward(self, x):
        y = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        if self.stride > 1:
            x = functional.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, self.padding, self.padding))
        return functional.relu(x + y)


def resnet_cifar(depth, channels, classes):
    layers = [nn.Conv2d(channels, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    inputs = 16
    for outputs in (16, 32, 64):
        for i in range((depth - 2) // 6):
            layers.append(Block(inputs, outputs, 2 if i == 0 and outputs > 16 else 1))
            inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, classes))


def mlp(hidden, values, classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(values, hidden), nn.ReLU(), nn.Linear(hidden, classes))


def make(settings):
    """The network that settings.net names: resnet-cifar:N or mlp:N."""
    kind, _, number = settings.net.partition(":")
    torch.manual_seed(1)
    if kind == "resnet-cifar":
        return resnet_cifar(int(number), settings.channels, settings.classes)
    return mlp(int(number), settings.channels * settings.height * settings.width, settings.classes)


def batch(settings, count, device):
    """Random images and labels."""
    generator = torch.Generator().manual_seed(1)
    images = torch.randn(count, settings.channels, settings.height, settings.width, generator=generator)
    labels = torch.randint(settings.classes, (count,), generator=generator)
    return images.to(device), labels.to(device)


def stepper(settings, net, images, labels):
    """A function that makes one training step and waits for it."""
    optimizer = torch.optim.SGD(net.parameters(), lr=settings.lr, momentum=settings.momentum,
                                weight_decay=settings.weight_decay)

    def step():
        loss = functional.cross_entropy(net(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()

    return step


def parameter_bytes(net):
    return 4 * sum(p.numel() for p in net.parameters())
