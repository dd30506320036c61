#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A random walk as an environment program (docs/plugins/replay.md): go right (action 1) from 0 or -1 to 3 before step 20."""
import json, random, sys


def say(message):
    print(json.dumps(message), flush=True)


say({"name": "walk", "shape": [2], "type": "float", "actions": 2, "step_limit": 20})
place = steps = 0
for line in sys.stdin:
    command = json.loads(line)
    if "reset" in command:
        place, steps = random.Random(command["reset"]).choice([-1, 0]), 0
        say({"observation": [place, steps]})
    else:
        place += 1 if command["action"] == 1 else -1
        steps += 1
        say({"observation": [place, steps], "reward": 1 if place == 3 else -0.1, "terminated": place == 3})
