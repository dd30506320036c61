#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the traces that tests/unit/test_env_parity.c compares with: python3 tests/data/env/make.py FOLDER

    python3 -m venv V; V/bin/pip install gymnasium minatar; V/bin/pip install --no-deps bsuite dm_env dm-tree immutabledict

Each environment runs STEPS steps from episode starts of SplitMix64 (lib/base/random.h, the formulas of orch's resets, set as the
peer's state) with the actions that the file keeps. The actions are those of a simple controller mixed with random ones, so that
episodes end in every way (goal, fall, step limit, all bricks gone).

The peer runs twice. Once as it is installed: its observation after every EVERY-th step is a checkpoint. And once with the
functions on which bits depend defined: numpy's sin and cos replaced by the C library's (numpy has vector versions that round
otherwise on some processors), and squares as products (numpy's scalar x ** 2 is pow, which rounds otherwise once in a thousand).
Of that run the SHA-256 of all states, observations, rewards and ends is kept, to be equal bit for bit where the C library gives
the same sines; 'libm' is the SHA-256 of 20,000 sines and cosines. 'largest_difference' is that between the states of the two runs."""
import hashlib, json, math, os, platform, struct, sys

import gymnasium, numpy as np
import gymnasium.envs.classic_control.acrobot as acrobot_module

STEPS, EVERY, SEED = 10000, 500, 20261124
MASK = (1 << 64) - 1


class SplitMix:
    def __init__(self, state):
        self.state = state

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def unit(self):
        return (self.next() >> 11) * 2.0**-53

    def below(self, n):
        return (self.next() * n) >> 64

    @staticmethod
    def stream(seed, index):
        return SplitMix(SplitMix(seed ^ ((index * 0xD1342543DE82EF95) & MASK)).next())


class Exact(float):
    """A double whose square is its product with itself."""
    def __add__(self, o): return Exact(float(self) + float(o))
    def __sub__(self, o): return Exact(float(self) - float(o))
    def __mul__(self, o): return Exact(float(self) * float(o))
    def __truediv__(self, o): return Exact(float(self) / float(o))
    def __radd__(self, o): return Exact(float(o) + float(self))
    def __rsub__(self, o): return Exact(float(o) - float(self))
    def __rmul__(self, o): return Exact(float(o) * float(self))
    def __rtruediv__(self, o): return Exact(float(o) / float(self))
    def __neg__(self): return Exact(-float(self))
    def __pow__(self, n):
        assert n == 2
        return self * self


def defined_sin(x): return Exact(math.sin(x))
def defined_cos(x): return Exact(math.cos(x))


class Numpy:
    """numpy for cartpole.py, with other sines."""
    def __getattr__(self, name):
        return {"sin": math.sin, "cos": math.cos}.get(name) or getattr(np, name)


def define_functions():
    import gymnasium.envs.classic_control.cartpole as cartpole_module
    cartpole_module.np = Numpy()
    acrobot_module.sin, acrobot_module.cos = defined_sin, defined_cos
    original = acrobot_module.AcrobotEnv._dsdt
    acrobot_module.AcrobotEnv._dsdt = lambda self, s: original(self, [Exact(x) for x in s])


class Classic:
    """An environment of Gymnasium with a state of doubles."""
    source = f"Gymnasium {gymnasium.__version__}, numpy {np.__version__}"

    def __init__(self, name, start, policy):
        self.env, self.start, self.policy = gymnasium.make(name), start, policy
        self.actions = int(self.env.action_space.n)

    def reset(self, random):
        self.env.reset()
        inner = self.env.unwrapped
        inner.state = self.start(random)
        if hasattr(inner, "steps_beyond_terminated"):
            inner.steps_beyond_terminated = None

    def step(self, action):
        observation, reward, terminated, truncated, _ = self.env.step(action)
        return observation.astype("<f4").tobytes(), reward, terminated, truncated

    def state(self):
        return np.array(self.env.unwrapped.state, dtype="<f8").tobytes()

    def choice(self):
        return self.policy(*[float(x) for x in self.env.unwrapped.state])


class Cliff:
    source = f"Gymnasium {gymnasium.__version__}"
    actions = 4

    def __init__(self):
        self.env = gymnasium.make("CliffWalking-v1")

    def reset(self, random):
        self.env.reset()

    def step(self, action):
        state, reward, terminated, truncated, _ = self.env.step(action)
        return bytes(int(i == state) for i in range(48)), reward, terminated, truncated

    def state(self):
        return b""

    def choice(self):
        row, column = divmod(int(self.env.unwrapped.s), 12)
        return 2 if column == 11 else 0 if row > 1 else 1


class Stream:
    """Gives MinAtar and bsuite starts from our stream."""
    def __init__(self, random): self.random = random
    def randint(self, n): return self.random.below(n)


class Breakout:
    actions = 3

    def __init__(self):
        import importlib.metadata, minatar
        self.source = f"MinAtar {importlib.metadata.version('MinAtar')}"
        self.env = minatar.Environment("breakout", sticky_action_prob=0)
        self.game, self.steps = self.env.env, 0

    def reset(self, random):
        self.game.random = Stream(random)
        self.env.reset()

    def step(self, action):
        reward, terminal = self.env.act(self.env.minimal_action_set()[action])
        return self.env.state().astype(np.uint8).tobytes(), reward, terminal, False

    def state(self):
        return b""

    def choice(self):  # to where the ball will be or, for some time, where it is: so it leaves in either direction
        self.steps += 1
        ahead = self.game.ball_x + (1 if self.game.ball_dir in (1, 2) else -1)
        target = ahead if self.steps // 40 % 2 else self.game.ball_x
        return 0 if target == self.game.pos else 1 if target < self.game.pos else 2


def load_catch_alone():
    """The package bsuite itself imports much that is not needed: its folders become empty packages."""
    import importlib.util, types
    if "bsuite" not in sys.modules:
        root = os.path.dirname(importlib.util.find_spec("bsuite").origin)
        for package in "bsuite", "bsuite.environments", "bsuite.experiments", "bsuite.experiments.catch":
            sys.modules[package] = types.ModuleType(package)
            sys.modules[package].__path__ = [os.path.join(root, *package.split(".")[1:])]


class Catch:
    actions = 3

    def __init__(self):
        import importlib.metadata
        load_catch_alone()
        from bsuite.environments import catch
        self.source = f"bsuite {importlib.metadata.version('bsuite')}"
        self.env = catch.Catch()

    def reset(self, random):
        self.env._rng = Stream(random)
        self.env.reset()

    def step(self, action):
        step = self.env.step(action)
        return step.observation.astype(np.uint8).tobytes(), step.reward, step.last(), False

    def state(self):
        return b""

    def choice(self):
        return 1 + (self.env._ball_x > self.env._paddle_x) - (self.env._ball_x < self.env._paddle_x)


def cartpole():
    return Classic("CartPole-v1", lambda r: np.array([-0.05 + 0.1 * r.unit() for _ in range(4)]),
                   lambda x, v, a, w: int(a + 0.5 * w + 0.1 * x + 0.2 * v > 0))


def mountaincar():
    return Classic("MountainCar-v0", lambda r: np.array([-0.6 + 0.2 * r.unit(), 0.0]), lambda x, v: 2 if v >= 0 else 0)


def acrobot():
    return Classic("Acrobot-v1", lambda r: np.array([-0.1 + 0.2 * r.unit() for _ in range(4)]).astype(np.float32),
                   lambda a, b, v, w: 2 if w > 0 else 0)


ENVIRONMENTS = {"cartpole": cartpole, "mountaincar": mountaincar, "acrobot": acrobot, "gridworld": Cliff, "catch": Catch,
                "breakout": Breakout}


def run(name, actions=None):
    """Yields (action, observation, reward, end, state) of each step. The share of random actions changes every 1,250 steps."""
    env, starts, choices = ENVIRONMENTS[name](), SplitMix.stream(SEED, 0), SplitMix(SEED + 1)
    env.reset(starts)
    for i in range(STEPS):
        share = (0.0, 0.02, 0.1, 1.0)[i // 1250 % 4]
        action = actions[i] if actions else env.choice() if choices.unit() >= share else choices.below(env.actions)
        observation, reward, terminated, truncated = env.step(action)
        end = 1 if terminated else 2 if truncated else 0
        if end:
            env.reset(starts)
        yield action, observation, float(reward), end, env.state()


def best_episode(steps):
    best = total = 0.0
    for _, _, reward, end, _ in steps:
        total += reward
        best = max(best, total)
        if end:
            total = 0.0
    return best


def libm():
    digest, random = hashlib.sha256(), SplitMix(1)
    for _ in range(10000):
        x = 20 * random.unit() - 10
        digest.update(struct.pack("<dd", math.sin(x), math.cos(x)))
    return digest.hexdigest()


def values(name, observation):
    return list(np.frombuffer(observation, "<f4").astype(float)) if name in ("cartpole", "mountaincar", "acrobot") else None


def text(trace):
    """One field a line; the actions and the checkpoints in lines of their own."""
    lines = []
    for key, value in trace.items():
        if key == "actions":
            value = ["".join(map(str, value[i:i + 125])) for i in range(0, STEPS, 125)]
        shown = "[\n  " + ",\n  ".join(json.dumps(x) for x in value) + "\n ]" if isinstance(value, list) else json.dumps(value)
        lines.append(f" {json.dumps(key)}: {shown}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(folder):
    plain = {name: list(run(name)) for name in ENVIRONMENTS}
    define_functions()
    for name, steps in plain.items():
        actions = [s[0] for s in steps]
        defined, digest, largest = list(run(name, actions)), hashlib.sha256(), 0.0
        for a, b in zip(steps, defined):
            assert a[2:4] == b[2:4], f"{name}: the two runs part"
            if values(name, a[1]):
                largest = max(largest, np.abs(np.frombuffer(a[4]) - np.frombuffer(b[4])).max())
            else:
                assert a[1] == b[1]
            digest.update(b[1] + struct.pack("<fB", b[2], b[3]) + b[4])
        ends = [s[3] for s in steps]
        assert name != "breakout" or best_episode(steps) > 30, "breakout: the bricks never came back"
        trace = {"environment": name, "source": ENVIRONMENTS[name]().source, "made_by": "tests/data/env/make.py, Python " +
                 platform.python_version() + ", " + " ".join(platform.libc_ver()), "seed": SEED, "steps": STEPS, "libm": libm(),
                 "sha256": digest.hexdigest(), "largest_difference": float(largest), "terminated": ends.count(1),
                 "truncated": ends.count(2), "reward": sum(s[2] for s in steps)}
        if values(name, steps[0][1]):
            trace["checkpoints"] = [[i] + values(name, steps[i][1]) for i in range(EVERY - 1, STEPS, EVERY)]
        trace["actions"] = actions
        with open(os.path.join(folder, name + ".json"), "w") as file:
            file.write(text(trace))
        print(name, trace["terminated"], trace["truncated"], trace["reward"], largest)


main(sys.argv[1])
