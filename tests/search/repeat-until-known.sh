# 'repeat: auto(...)': a setting is repeated until its median is known; in a search the repeats go where they decide.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# noise from the seed, of one setting 20 times that of the other
cat >t.awk <<'P'
BEGIN {
    x = substr(seed, length(seed) - 5) + 54321
    x = x * (1000003 + int(lr * 79190)) % 2147483647
    for (i = 0; i < 24; i++) { x = x * 16807 % 2147483647; if (i > 11) own += x / 2147483647 }
    print "loss", 1 + 4 * (lr - 0.3) * (lr - 0.3) + (mode == "loud" ? 0.04 : 0.002) * (own - 6)
    if (mode == "bad") exit 3
}
P
cat >t.plugin <<'Y'
plugin: t
command: [awk, -v, "seed=${seed}", -v, "lr=${lr}", -v, "mode=${mode}", -f, t.awk]
parameters:
  lr: { type: real, default: 0.3, min: 0, max: 9 }
  mode: { type: string, default: quiet }
metrics:
  loss: { better: min }
Y
recipe() {
    printf 'format: 1\nrecipe: t\nexperiments:\n  e:\n    plugin: ./t.plugin\n%s\n' "$1" >t.recipe
}
count() { # runs of a condition
    ok orch ls -n 0 --json --where "$1"
    json runs.#
}
recipe '    sweep: { mode: [quiet, loud] }
    repeat: "auto(ci=2%, max=30, metric=loss)"'
ok orch run t.recipe
says 'not needed'
says 'e mode=quiet #11 and later repeats are not needed: its median loss is known to 0.'
same "$(count 'mode = quiet')" 10 'a median that is known at once'
loud=$(count 'mode = loud')
[ "$loud" -gt 12 ] && [ "$loud" -le 30 ] || _fail "$loud repeats of the loud one"
# known, and not before: the interval of one repeat less is wider
ok orch export --columns repeat,loss --where 'mode = loud' --format csv
python3 - "$SCRATCH/out" "$loud" <<'P' || _fail 'too many or too few repeats'
import csv, math, statistics, sys
rows = sorted((int(r["repeat"]), float(r["loss"])) for r in csv.DictReader(open(sys.argv[1])))
def beta(a, b):
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
def refused(values, m):  # the e-value of core/stats/anytime.c
    above = [v > m for v in values]
    n, k = len(above), sum(above)
    alike = sum(a == b for a, b in zip(above, above[1:]))
    t = min(max(alike / (n - 1), 0.5), 0.65)
    e = beta(k + 0.35, n - k + 0.35) - beta(0.35, 0.35) - math.log(0.5) - alike * math.log(t) - (n - 1 - alike) * math.log(1 - t)
    return e >= math.log(20)
def half(n):
    values = [v for _, v in rows[:n]]
    ends = []
    for sign in 1, -1:
        line, end = sorted(values, reverse=sign < 0), -sign * math.inf
        for v in line:
            if not refused(values, end if math.isinf(end) else (end + v) / 2):
                break
            end = v
        ends.append(end)
    return (ends[1] - ends[0]) / 2 / statistics.median(values)
n = len(rows)
assert n == int(sys.argv[2]) and [k for k, _ in rows] == list(range(1, n + 1)), rows
assert n == 30 or half(n) <= 0.02, half(n)
assert n == 10 or half(n - 1) > 0.02, half(n - 1)
P
ok orch run t.recipe
says "$((10 + loud)) done before"
same "$(count 'mode = loud')" "$loud" 'the same command makes no more'
printf 'report:\n  - { title: T, table: { rows: mode, value: last loss } }\n' >>t.recipe
ok orch report t.recipe
has_not 'missing'
ok orch run t.recipe -j 2 --force
same "$(count 'mode = quiet')" 20 'two at once: the same number'

# with a search: the repeats go to those that may be the best
rm -rf .orch
recipe '    search:
      lr: "[0.25, 0.3, 0.35, 0.8, 0.9, 1]"
    with: { mode: loud }
    objective: { metric: min loss, trials: 6 }
    repeat: "auto(ci=1.5%, max=12)"'
ok orch run t.recipe
says 'not needed'
near=$(count 'lr < 0.5') far=$(count 'lr > 0.7')
[ "$far" -le 6 ] || _fail "$far trials of settings that are far behind"
[ "$near" -gt 12 ] || _fail "$near trials of the settings that may be the best"
ok orch run t.recipe -j 2
says "$((near + far)) done before"

# a setting whose trials fail is not repeated for ever; what refers to a repeat that is not needed is not needed
rm -rf .orch
recipe '    with: { mode: bad }
    repeat: auto(ci=2%, max=12, metric=loss)'
fails 1 orch run t.recipe --keep-going
same "$(count 'state = failed')" 3 'failed repeats'
recipe '    repeat: auto(ci=2%, max=12, metric=loss)
  f: { plugin: ./t.plugin, with: { lr: "${e.loss}" }, repeat: 12 }'
ok orch run t.recipe
says '20 ok, 4 not needed'

# --repeat of a command, and of a profile
ok orch try --repeat 'auto(ci=1%, max=11, metric=loss)' -- awk 'BEGIN { print "loss", 1 }'
says '10 ok, 1 not needed'
ok orch try --repeat 'auto(ci=20%, max=11, metric=loss)' -- sh -c 'echo loss $((8 + {repeat} % 2))'
says '11 ok'
# a cold start is said
ok orch try --repeat 'auto(ci=20%, max=20, metric=loss)' -- sh -c 'echo "loss $((({repeat} == 1) * 900 + 70 + {repeat} * 7 % 10))"'
says ' not needed'
says 'but the first value is far from all others (a warm-up?)'
ok orch try --repeat 4 -- awk 'BEGIN { print "loss", 2 }'
says '4 ok'
recipe '    repeat: 2
profiles: { more: { experiments: { e: { repeat: "auto(max=12, metric=last loss)" } } } }
profile: more'
ok orch plan t.recipe
says '10 trials: 10 done'
recipe '    with: { lr: 0.4 }
    repeat: auto(max=12, metric=loss)'
ok orch plan t.recipe
says '2 missing, 10 stale'
ok orch run t.recipe
ok orch plan t.recipe --exit-code
says '10 done'

# refused, with the column
fails 2 orch run t.recipe --executor slurm
says 'needs a number of repeats'
recipe '    repeat: auto(ci=2%)'
fails 2 orch check t.recipe
says "'repeat: auto' needs 'metric', because this experiment is not a search"
says 't.recipe:6:13'
recipe '    repeat: auto(ci=2%, metric=los)'
fails 2 orch check t.recipe
says "plugin 't' reports no 'los'"
says "did you mean 'loss'"
recipe '    repeat: auto(ci=0%, metric=loss)'
fails 2 orch check t.recipe
says 't.recipe:6:18'
recipe '    repeat: auto(max=2, metric=loss)'
fails 2 orch check t.recipe
says "'max': '2' is not a whole number from 3 to 1000"
recipe '    search: { lr: "uniform(0, 1)" }
    objective: { metric: min loss }
    repeat: auto(metric=loss)'
fails 2 orch check t.recipe
says 'takes no metric in a search: the objective names the metric'
fails 2 orch try --repeat 0 -- true
says '  at: --repeat 0'

# a metric without noise is known after ten equal values; settings that had all repeats and are unknown are named
recipe '    sweep: { mode: [quiet, loud] }
    repeat: "auto(ci=0.01%, max=11, metric=loss)"'
sed -i 's/seed=[$]{seed}/seed=7/' t.plugin
ok orch run t.recipe
says 'loss was the same 10 times, so it has no noise'
says_not 'is not known to'
same "$(count 'mode = loud')" 10 'equal values'
sed -i 's/seed=7/seed=${seed}/; s/default: 0.3,/default: 0.4,/' t.plugin
ok orch run t.recipe
says 'e mode=quiet: its median loss is not known to 0.01 % after 11 repeats (to '
says 'e mode=loud: its median'
