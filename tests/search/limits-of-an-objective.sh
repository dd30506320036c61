# 'orch try' with several metrics, a reference point and limits: what breaks a limit is no best setting, what its forecast rules out does not start.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >f.py <<'P'
import sys
x = float(sys.argv[1])
print("loss", abs(x - 0.9))
print("ms", 10 * x)
P
search() { orch try -x 'x=uniform(0, 1, step 0.1)' --trials 11 "$@" -- python3 f.py '{x}'; }
# with one metric the best setting is that which keeps the limit
ok search --search 'min loss' --subject-to 'ms <= 4'
says "break 'ms <= 4'"
says 'best of 8 settings: f x=0.4'
# by then eight settings have told that ms grows with x: those that are left break the limit, and do not start
says "f x=0.9 is left out: its forecast of ms from 8 settings is "
# a limit that nothing keeps
ok search --search 'min loss' --subject-to 'ms < 0'
says 'so no setting can be the best'
# no run keeps this one: once there are forecasts, no further trial starts
rm -rf .orch
ok search --search 'min loss' --subject-to 'wall_s < 1us'
says "which breaks the limit 'wall_s < 1us'"
says_not '[11/11]'
# a price, which the forecast is asked for before a trial starts
rm -rf .orch
fails 2 search --search 'min loss' --subject-to 'price < 0.1'
says 'the search has a limit on the price, but the price per hour of this machine is not known'
ok search --search 'min loss' --subject-to 'price < 1e-9' --price 36
says "is left out: its forecast is \$"
says "which breaks the limit 'price < 1e-9'"
says_not '[11/11]'
ok search --search 'min loss' --subject-to 'price < 100' --price 36
says 'best of 11 settings'
# the memory of a run, which orch measures; and a metric that no run has
cat >m.py <<'P'
import sys
held = b"x" * (int(sys.argv[1]) << 20)
print("loss", -int(sys.argv[1]))
P
ok orch try -x 'm=choice(1, 50, 400)' --search 'min loss' --subject-to 'peak_memory < 200MiB' -- python3 m.py '{m}'
says "1 of 3 settings breaks 'peak_memory < 200MiB'"
says 'best of 3 settings: m m=50'
ok orch try -x 'm=choice(1, 50, 400)' --search 'min loss' --subject-to 'vram < 3' -- python3 m.py '{m}'
says "no trial has the metric 'vram' of the limit 'vram < 3', so no setting can be the best"
says_not break
cat >l.recipe <<'P'
format: 1
recipe: l
experiments:
  a: { plugin: ./m.plugin, search: { m: "int(1, 3)" }, objective: { metric: min loss, subject to: price < 1 and peak_memory < 1GiB, trials: 2 } }
  b: { plugin: ./m.plugin, search: { m: "int(1, 3)" }, objective: { metric: min loss, trials: 2 } }
P
cat >m.plugin <<'P'
plugin: m
version: 1.0.0
command: [python3, m.py, "${m}"]
metrics_from: lines
parameters: { m: { type: int, default: 5 } }
metrics: { loss: { better: min } }
P
git add -A
git commit -qm limits
# the price of a search that does not run need not be known
fails 2 orch run l.recipe
says "objective of 'a': the search has a limit on the price"
ok orch run l.recipe b
ok orch run l.recipe --price 1
says 'best of 2 settings: a m='
# several metrics: all settings up to 0.9 are on the front, and a reference point ends the search
ok search --search 'min loss, min ms'
says '10 settings that no other beats in all'
rm -rf .orch
ok search --search 'min loss, min ms' --until 0.45,5.5
says '9 not needed'
says "ends: it has reached loss 0."
ok search --search 'min loss, min ms' --sampler nsga2
says '10 settings that no other beats in all'
rm -rf .orch
ok orch try -x 'x=uniform(0, 1)' --search 'min loss' --sampler grid --trials 5 -- python3 f.py '{x}'
for x in 0 0.25 0.5 0.75 1; do says "f x=$x "; done
fails 2 search --search 'min loss, min ms' --until 0.75
says "'until' has 1 value, but the objective has 2 metrics"
fails 2 search --search 'min loss, max loss'
says "'loss' is there twice"
fails 2 search --search 'min loss, min ms' --stop median
says "'stop': this rule needs one metric"
fails 2 search --search 'min loss, min ms' --repeat 'auto(ci=2%, max=5)'
says "'repeat: auto' needs one metric"
for wrong in "ms|" "ms = 3|'=' is no limit" "ms < fast|'fast' is no number" "ms < 3 or ms > 5|can be joined only by 'and'"; do
    fails 2 search --search 'min loss' --subject-to "${wrong%%|*}"
    says "${wrong##*|}"
done
ok search --search 'min loss, min ms' --subject-to 'ms < 8 and loss < 0.7' --write f.recipe -n
ok orch check f.recipe
grep -q 'metrics: \["min loss", "min ms"\]' f.recipe || _fail 'the recipe'
# what breaks a limit is no best setting for whoever asks: ${best()}, 'orch best', its front, the report; a price counts at the end
cat >g.sh <<'P'
#!/bin/sh
mkdir -p out
echo "n=$1" >"out/w$1"
echo "loss=0.$((9 - $1)) f2=$1 mem=$(($1 * 100))"
P
chmod +x g.sh
echo out/ >>.gitignore
cat >b.recipe <<'P'
format: 1
recipe: b
experiments:
  tune:
    program: ./g.sh ${n}
    search: { n: "int(1, 8)" }
    objective: { metric: min loss, subject to: mem < 350, trials: 8, sampler: sobol }
    artifacts: { w: "out/w${n}" }
    metrics: { loss: min }
  use: { program: "sh -c 'cat ${init}; echo acc=1'", with: { init: "${best(tune, loss).w}" } }
report:
  - { title: B, best: { value: last loss, experiments: tune } }
P
git add -A
git commit -qm best
ok orch run b.recipe
says 'best of 8 settings: tune n=3'
ok orch log @last
has 'n=3'
ok orch best loss --recipe b -e tune
has 'best: n=3'
says '5 settings are left out, because they break a limit of the search'
ok orch best 'min loss, max f2' --recipe b -e tune
has 'knee: n=3'
has 'Pareto front of 3 settings'
ok orch report b.recipe
has 'n=3'
has '5 settings are left out, because they break a limit of the search'
has_not 'No winner yet'
rm -rf .orch
ok orch try -x 'n=int(0, 2)' --search 'min loss' --subject-to 'price < 0.0005' --price 10 --sampler sobol -- sh -c 'sleep 0.$((3 * {n})); echo "loss=0.$((9 - {n}))"'
says "break 'price < 0.0005'"
says 'sh n=0'
