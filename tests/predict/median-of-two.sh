# Of two runs of one setting the forecast is between them, not the later or the longer one.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >naps.py <<'P'
import os, time
here, began = os.environ["HERE"] + "/was", time.monotonic()
if os.path.exists(here):
    time.sleep(8 * float(open(here).read()))  # much longer than the first, however slow the machine is
else:
    time.sleep(0.2)
    open(here, "w").write(str(time.monotonic() - began))
print("done 1")
P
cat >naps.plugin <<'Y'
plugin: naps
version: 1.0.0
about: sleeps, the second time longer
command: [python3, naps.py]
metrics_from: lines
parameters:
  n: {type: int, default: 1, help: nothing}
metrics:
  done: {unit: "1", better: max, help: ended}
Y
export HERE=$PWD
printf 'format: 1\nrecipe: r\nexperiments:\n  r: { plugin: ./naps.plugin, sweep: { n: [1] }, repeat: 2 }\n' >r.recipe
ok orch run r.recipe --no-progress -j 1
ok orch ls --json
printf '%s' "$out" >runs.json
ok orch plan r.recipe --force --json
python3 - "$out" <<'P' || _fail 'not the middle of two'
import json, sys
runs = [r["wall_s"] for r in json.load(open("runs.json"))["runs"]]
said = json.loads(sys.argv[1])["trials"][0]["forecast"]
assert len(runs) == 2 and max(runs) > 1.2 * min(runs), runs
assert said["tier"] == "measured" and abs(said["total_s"] / (sum(runs) / 2) - 1) < 0.02, (runs, said)
P
