#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""stack.py N COMMAND...: an environment program (docs/plugins/replay.md) whose observation is the last N observations of another
one: of a list one after the other, of planes (height, width, channels) as N x channels planes, oldest first."""
import json, subprocess, sys

count = int(sys.argv[1])
inner = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def say(message):
    print(json.dumps(message), flush=True)


about = json.loads(inner.stdout.readline())
height, width, channels = (about["shape"] + [1, 1])[:3]
is_list = len(about["shape"]) == 1
say({**about, "shape": [count * height] if is_list else [height, width, count * channels]})
frames = []
for line in sys.stdin:
    inner.stdin.write(line)
    inner.stdin.flush()
    answer = json.loads(inner.stdout.readline())
    seen = answer["observation"]
    frames = [seen] * count if "reset" in json.loads(line) else frames[1:] + [seen]
    if is_list:
        answer["observation"] = sum(frames, [])
    else:
        answer["observation"] = [v for p in range(height * width) for f in frames for v in f[p * channels : (p + 1) * channels]]
    say(answer)
