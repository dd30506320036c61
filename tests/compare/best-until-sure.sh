# 'orch best --until-sure' runs settings in turns until each pair has a sure verdict.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
cat >score.awk <<'P'
BEGIN {
    x = substr(seed, length(seed) - 5) * 7 + 54321 + index("abc", kind) * 1000003
    for (i = 0; i < 24; i++) { x = x * 16807 % 2147483647; if (i > 11) own += x / 2147483647 }
    print "loss", (kind == "b" ? 0.9 : kind == "c" ? 1.2 : 1) * (1 + 0.01 * (own - 6))
}
P
cat >score.plugin <<'Y'
plugin: score
command: [awk, -v, "seed=${seed}", -v, "kind=${kind}", -f, score.awk]
parameters:
  kind: { type: string, default: a }
metrics:
  loss: { better: min }
Y
printf 'format: 1\nrecipe: s\nexperiments:\n  e: { plugin: ./score.plugin, reuse: any, sweep: { kind: [a, b, c] } }\n' >s.recipe
git add -A
git commit -qm one
ok orch run s.recipe
fails 2 orch best loss --until-sure
says '--run RECIPE'
fails 2 orch best loss --run s.recipe
says "need '--until-sure'"
ok orch best loss --run s.recipe --until-sure
has 'best: kind=b by loss; pairs that differ: 2, alike: 0, open: 0'
says 'A: kind=b, B: kind=a'
# the same runs, the same verdicts; few runs decide nothing
ok orch ls -n 0 --json
runs=$(json 'runs.#')
ok orch best loss --run s.recipe --until-sure --json
same "$(json best) $(json pairs.0.verdict) $(json pairs.1.better)" 'kind=b different kind=b'
ok orch ls -n 0 --json
same "$(json 'runs.#')" "$runs" 'no run is new'
ok orch best loss --run s.recipe --until-sure --max-runs 2 -n 2
has 'open: 1'
# a recipe's search: each setting is an experiment without one, and its earlier runs count
printf 'format: 1\nrecipe: k\nexperiments:\n  q:\n    plugin: ./score.plugin\n    reuse: any\n    search: { kind: [a, b] }\n    objective: { metric: min loss, trials: 2 }\n' >k.recipe
git add -A
git commit -qm search
ok orch run k.recipe
ok orch best loss --recipe k --run k.recipe --until-sure -n 2
has 'best: kind=b by loss; pairs that differ: 1, alike: 0, open: 0'
