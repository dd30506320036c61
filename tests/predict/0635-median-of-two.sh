# Of two runs of one setting the forecast is between them, not the later or the longer one.
. "$(dirname "$0")/../cli/lib.sh"
cat >naps.plugin <<'Y'
plugin: naps
version: 1.0.0
about: sleeps, the second time longer
command: [sh, "-c", "if [ -e \"$$HERE/was\" ]; then sleep 0.9; else sleep 0.2; touch \"$$HERE/was\"; fi; echo done 1"]
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
assert len(runs) == 2 and max(runs) > 1.8 * min(runs), runs
assert said["tier"] == "measured" and abs(said["total_s"] / (sum(runs) / 2) - 1) < 0.02, (runs, said)
P
