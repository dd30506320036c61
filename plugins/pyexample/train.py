# SPDX-License-Identifier: MIT
"""Logistic regression by stochastic gradient descent, in plain Python.

Two Gaussian clouds in eight dimensions; 600 samples to train on, 400 to validate with. It prints a
line an epoch and writes the weights at the end:

    python3 train.py --lr 0.5 --epochs 10 --seed 1 --out weights.json
"""
import argparse
import json
import math
import os
import random

DIMENSIONS = 8
TRAIN, VALIDATE = 600, 400
SHIFT = 0.5  # distance of each cloud's centre from the origin, in standard deviations, a dimension


def make_samples(rng, count):
    """A list of (features, label): labels 0 and 1 in turn."""
    samples = []
    for i in range(count):
        label = i % 2
        centre = SHIFT if label else -SHIFT
        samples.append(([rng.gauss(centre, 1.0) for _ in range(DIMENSIONS)], label))
    return samples


def predict(weights, bias, features):
    """Probability of label 1."""
    score = bias + sum(w * x for w, x in zip(weights, features))
    if score < -500:  # exp would overflow
        return 0.0
    return 1.0 / (1.0 + math.exp(-score))


def train_batch(weights, bias, samples, lr):
    """One step of SGD; changes `weights`, returns the new bias and the summed loss."""
    gradient, gradient_bias, loss = [0.0] * DIMENSIONS, 0.0, 0.0
    for features, label in samples:
        p = predict(weights, bias, features)
        loss -= math.log(max(p if label else 1.0 - p, 1e-300))
        error = p - label
        gradient_bias += error
        for i, x in enumerate(features):
            gradient[i] += error * x
    for i in range(DIMENSIONS):
        weights[i] -= lr * gradient[i] / len(samples)
    return bias - lr * gradient_bias / len(samples), loss


def accuracy_of(weights, bias, samples):
    """Share of the samples that are classified right."""
    right = sum((predict(weights, bias, x) >= 0.5) == (label == 1) for x, label in samples)
    return right / len(samples)


def read_arguments():
    parser = argparse.ArgumentParser(description="logistic regression by SGD")
    parser.add_argument("--lr", type=float, default=0.5)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="weights.json")
    args = parser.parse_args()
    if os.environ.get("ORCH_SMOKE"):  # only to see that it runs
        args.epochs = min(args.epochs, 2)
    return args


def main():
    args = read_arguments()
    rng = random.Random(args.seed)
    train, validate = make_samples(rng, TRAIN), make_samples(rng, VALIDATE)
    weights, bias, accuracy = [0.0] * DIMENSIONS, 0.0, 0.0
    for epoch in range(args.epochs):
        rng.shuffle(train)
        loss = 0.0
        for first in range(0, TRAIN, args.batch):
            batch = train[first : first + args.batch]
            bias, batch_loss = train_batch(weights, bias, batch, args.lr)
            loss += batch_loss
        accuracy = accuracy_of(weights, bias, validate)
        print("step %d loss %.6f accuracy %.4f" % (epoch, loss / TRAIN, accuracy), flush=True)

    print("final_accuracy %.4f" % accuracy)
    with open(args.out, "w") as file:
        json.dump({"weights": weights, "bias": bias}, file)


if __name__ == "__main__":
    main()
