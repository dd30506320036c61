#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rates of other environments, in millions of steps a second of processor time, one thread, random actions drawn beforehand, resets
included: 'env_peers.py NAME' prints what bench_env prints; a missing module prints 'skipped'."""
import sys, time

LEAST = 1.0
KINDS = {"cartpole": "CartPole-v1", "mountaincar": "MountainCar-v0", "acrobot": "Acrobot-v1", "gridworld": "CliffWalking-v1"}


def rate(name, work, steps):
    count, begin = 0, time.process_time()
    while time.process_time() - begin < LEAST:
        work()
        count += steps
    print(name, f"{count / (time.process_time() - begin) / 1e6:.4g}")


def gymnasium():
    import gymnasium, numpy as np
    for name, kind in KINDS.items():
        env = gymnasium.make(kind)
        actions = np.random.default_rng(1).integers(env.action_space.n, size=4096)
        env.reset(seed=1)

        def work():
            for action in actions:
                _, _, terminated, truncated, _ = env.step(action)
                if terminated or truncated:
                    env.reset()
        rate(name, work, len(actions))


def gymnasium_vector():
    """The vector form that Gymnasium has of CartPole alone, at the number of copies at which it is fastest."""
    import gymnasium, numpy as np
    for copies in 64, 1024, 16384:
        env = gymnasium.make_vec("CartPole-v1", num_envs=copies, vectorization_mode="vector_entry_point")
        actions = np.random.default_rng(1).integers(2, size=(64, copies))
        env.reset(seed=1)

        def work():
            for row in actions:
                env.step(row)
        rate(f"cartpole of {copies} copies", work, 64 * copies)


def minatar():
    import minatar, numpy as np
    env = minatar.Environment("breakout", sticky_action_prob=0)
    actions = np.random.default_rng(1).choice(env.minimal_action_set(), size=4096)
    env.reset()

    def work():
        for action in actions:
            _, terminal = env.act(action)
            if terminal:
                env.reset()
            env.state()
    rate("breakout", work, len(actions))


PEERS = {"gymnasium": gymnasium, "gymnasium_vector": gymnasium_vector, "minatar": minatar}
try:
    PEERS[sys.argv[1]]()
except ImportError as problem:
    print("skipped:", problem)
