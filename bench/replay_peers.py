#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rates of other replay buffers, in millions a second of processor time: CartPole's frames of 4 floats, a capacity of 1,000,000,
batches of 256, one core. 'replay_peers.py NAME' prints what bench_replay prints; a missing module prints 'skipped'."""
import sys, time

CAPACITY, BATCH, LEAST = 1000000, 256, 1.0


def rate(name, work):
    rounds, begin = 0, time.process_time()
    while time.process_time() - begin < LEAST:
        for _ in range(20):
            work()
        rounds += 20
    print(name, f"{rounds * BATCH / (time.process_time() - begin) / 1e6:.4g}")


def cpprb():
    import cpprb, numpy as np
    shapes = {"obs": {"shape": 4}, "act": {"dtype": np.int32}, "rew": {}, "next_obs": {"shape": 4}, "done": {}}
    rows = {"obs": np.zeros((BATCH, 4), np.float32), "act": np.zeros(BATCH, np.int32), "rew": np.zeros(BATCH, np.float32),
            "next_obs": np.zeros((BATCH, 4), np.float32), "done": np.zeros(BATCH, np.float32)}
    random = np.random.default_rng(1)
    for kind in cpprb.ReplayBuffer, cpprb.PrioritizedReplayBuffer:
        buffer = kind(CAPACITY, shapes)
        for _ in range(CAPACITY // BATCH + 1):
            buffer.add(**rows)
        if kind is cpprb.ReplayBuffer:
            rate("add", lambda: buffer.add(**rows))
            rate("sample", lambda: buffer.sample(BATCH))
        else:
            def both():
                batch = buffer.sample(BATCH, beta=0.4)
                buffer.update_priorities(batch["indexes"], random.random(BATCH))
            rate("prioritised", both)


def stable_baselines3():
    import numpy as np
    from gymnasium import spaces
    from stable_baselines3.common.buffers import ReplayBuffer
    envs = 64  # it adds a step of each of its environments
    buffer = ReplayBuffer(CAPACITY, spaces.Box(-1, 1, (4,), np.float32), spaces.Discrete(2), n_envs=envs, device="cpu")
    frames, actions, rewards, dones = np.zeros((envs, 4), np.float32), np.zeros((envs, 1)), np.zeros(envs), np.zeros(envs)
    infos = [{} for _ in range(envs)]

    def add():
        for _ in range(BATCH // envs):
            buffer.add(frames, frames, actions, rewards, dones, infos)
    for _ in range(CAPACITY // BATCH + 1):
        add()
    rate("add", add)
    rate("sample", lambda: buffer.sample(BATCH))


def torchrl():
    import logging, torch
    from tensordict import TensorDict
    from torchrl.data import LazyTensorStorage, TensorDictPrioritizedReplayBuffer, TensorDictReplayBuffer
    logging.getLogger("torchrl").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    rows = TensorDict({"obs": torch.zeros(BATCH, 4), "action": torch.zeros(BATCH, dtype=torch.int32), "reward": torch.zeros(BATCH),
                       "next_obs": torch.zeros(BATCH, 4), "done": torch.zeros(BATCH)}, batch_size=[BATCH])
    plain = TensorDictReplayBuffer(storage=LazyTensorStorage(CAPACITY), batch_size=BATCH)
    prioritised = TensorDictPrioritizedReplayBuffer(alpha=0.6, beta=0.4, storage=LazyTensorStorage(CAPACITY), batch_size=BATCH)
    for buffer in plain, prioritised:
        for _ in range(CAPACITY // BATCH + 1):
            buffer.extend(rows)
    rate("add", lambda: plain.extend(rows))
    rate("sample", lambda: plain.sample())

    def both():
        batch = prioritised.sample()
        batch["td_error"] = torch.rand(BATCH)
        prioritised.update_tensordict_priority(batch)
    rate("prioritised", both)


PEERS = {"cpprb": cpprb, "stable_baselines3": stable_baselines3, "torchrl": torchrl}
try:
    PEERS[sys.argv[1]]()
except ImportError as problem:
    print("skipped:", problem)
