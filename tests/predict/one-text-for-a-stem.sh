# What another stem would cost is one sentence, with both ratios, wherever it is said; and the ratio of times is that of two forecasts.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ask() { ok orch predict --gpu V100 --dataset cifar10 --precision fp32 "$@"; }
ask --net resnet50
has_not 'times as long'
said=$(printf '%s\n' "$out" | grep -c 'times the multiply-adds, .* times the time')
same "$said" 1 'said once'
line=$(printf '%s\n' "$out" | sed -n 's/^  stem *//p' | sed 's/ *([^)]*)$//')
ask --net resnet50 --json
python3 - "$out" "$line" <<'P' || _fail 'the words of JSON are other ones'
import json, sys
stem = [a for a in json.loads(sys.argv[1])["assumptions"] if a["what"] == "stem"]
assert len(stem) == 1 and stem[0]["value"] == sys.argv[2], (stem, sys.argv[2])
P
one=$(json predictions.0.step_s)
ask --net resnet50-cifar --json
python3 - "$one" "$(json predictions.0.step_s)" "$line" <<'P' || _fail 'not the ratio of the two forecasts'
import re, sys
one, other, line = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
times = float(re.search(r", ([\d.]+) times the time", line)[1])
assert abs(other / one / times - 1) < 0.06, (other / one, times)
P
