# The chart of 'orch predict --pareto' puts each label at the point of its GPU.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ok orch predict --gpu all --net resnet50 --pareto chart.svg --json
printf '%s' "$out" >ranking.json
cat >near.py <<'P'
import json, math, re, sys
svg = open("chart.svg").read()
ranking = json.load(open("ranking.json"))["predictions"]
best = sorted((p for p in ranking if p["pareto"]), key=lambda p: p["total_s"])
# the line through the points that nothing beats, in the order of time
start, steps = re.search(r'stroke="#7a7a7a"[^>]*d="M([\d. -]+)l([\d. -]+)"', svg).groups()
numbers = [float(n) for n in re.findall(r"-?[\d.]+", start + " " + steps)]
points = [(numbers[0], numbers[1])]
for dx, dy in zip(numbers[2::2], numbers[3::2]):
    points.append((points[-1][0] + dx, points[-1][1] + dy))
assert len(points) == len(best) >= 3, (points, [p["gpu"] for p in best])
place = dict(zip((p["gpu"] for p in best), points))
shift = int(sys.argv[1])  # names on purpose at wrong points: then this must fail
names = list(place)
place = {name: place[names[(i + shift) % len(names)]] for i, name in enumerate(names)}
seen = 0
texts = re.findall(r'(?:stroke-width="\.6" d="M([\d.]+) ([\d.]+)l[^"]*"/>\n)?<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]+)</text>', svg)
for line_x, line_y, x, y, name in texts:
    if name not in place:
        continue
    x, y, width = float(x), float(y), 7.4 * len(name)
    def away(point):  # from the name's box, or from where its line begins
        if line_x:
            return math.hypot(point[0] - float(line_x), point[1] - float(line_y))
        dx = max(x - point[0], point[0] - x - width, 0)
        dy = max(y - 12 - point[1], point[1] - y - 3, 0)
        return math.hypot(dx, dy)
    nearest = min(points, key=away)
    assert nearest == place[name] and away(nearest) < 16, (name, place[name], nearest, away(nearest))
    seen += 1
assert seen >= len(best) - 1, (seen, texts)
P
ok python3 near.py 0
fails 1 python3 near.py 1
