#!/usr/bin/env python3
"""A network with one hidden layer learns to tell two interleaved half circles apart. Needs only Python."""
import argparse
import math
import os
import random


def points(count, draw):
    """Points of two noisy half circles, with their class."""
    out = []
    for i in range(count):
        angle, label = math.pi * draw.random(), i % 2
        x, y = (math.cos(angle), math.sin(angle)) if label else (1 - math.cos(angle), 0.5 - math.sin(angle))
        out.append(([x + draw.gauss(0, 0.2), y + draw.gauss(0, 0.2)], label))
    return out


class Network:
    def __init__(self, width, draw):
        self.hidden = [[draw.gauss(0, 1), draw.gauss(0, 1), 0.0] for _ in range(width)]
        self.out = [draw.gauss(0, 1) / math.sqrt(width) for _ in range(width)] + [0.0]
        self.speed = [[0.0] * 4 for _ in range(width)]
        self.speed_bias = 0.0

    def forward(self, x):
        h = [math.tanh(w[0] * x[0] + w[1] * x[1] + w[2]) for w in self.hidden]
        z = self.out[-1] + sum(v * a for v, a in zip(self.out, h))
        return h, 1 / (1 + math.exp(-max(-60.0, min(60.0, z))))

    def learn(self, x, label, lr, momentum):
        h, p = self.forward(x)
        error = p - label
        for j, a in enumerate(h):
            back = error * self.out[j] * (1 - a * a)
            slopes = (back * x[0], back * x[1], back, error * a)
            speed = self.speed[j] = [momentum * s - lr * g for s, g in zip(self.speed[j], slopes)]
            for k in range(3):
                self.hidden[j][k] += speed[k]
            self.out[j] += speed[3]
        self.speed_bias = momentum * self.speed_bias - lr * error
        self.out[-1] += self.speed_bias


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float)
    parser.add_argument("--width", type=int)
    parser.add_argument("--optimizer")
    parser.add_argument("--momentum", type=float)
    parser.add_argument("--epochs", type=int)
    values = vars(parser.parse_args())
    draw = random.Random(int(os.environ.get("ORCH_SEED", "0")))
    train, held = points(80, draw), points(1000, random.Random(1))
    network = Network(values["width"], draw)
    momentum = values["momentum"] if values["optimizer"] == "momentum" else 0.0
    for epoch in range(1, values["epochs"] + 1):
        draw.shuffle(train)
        for x, label in train:
            network.learn(x, label, values["lr"], momentum)
        right = sum((network.forward(x)[1] > 0.5) == bool(label) for x, label in held)
        print(f"epoch {epoch}/{values['epochs']} val_accuracy {right / len(held):.4f}", flush=True)


main()
