# A report calls a difference of a metric whose direction is neither declared nor known by its name "higher" or "lower",
# never "better" or "worse".
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >level.plugin <<'P'
plugin: level
version: 1.0.0
command: [sh, -c, 'echo "level_m $$1$$(($$2 % 5))"', sh, "${level}", "${seed}"]
metrics_from: lines
parameters: { level: { type: real, default: 1 } }
metrics: { level_m: { label: water level, unit: m } }
P
printf 'format: 1\nrecipe: y\nexperiments:\n  a:\n    plugin: ./level.plugin\n    sweep: { level: [0.01, 0.1] }\n    repeat: 3\nreport:\n  - { title: Against, compare: { by: level, value: level_m } }\n  - { title: Times, table: { rows: level, value: level_m } }\n' >y.recipe
ok orch report y.recipe
has 'missing: 6 of 6 trials are not run'
has_not 'water level (m)' # no table of a row of 'missing' for each
has_not 'each value is of one run'
ok orch run y.recipe --quiet
ok orch report y.recipe
has 'higher by more than noise'
has_not 'better by more'
has 'a value like 0.5 (0.4..0.6) is a mean, with the lowest and the highest run'
sed 's/level: \[0.01, 0.1\]/level: [0.1, 0.01]/' y.recipe >z.recipe
ok orch report z.recipe
has 'lower by more than noise'
has_not 'worse by more'
# the best of several cannot be chosen by it
sed 's/value: level_m } }$/value: level_m, best_of: repeat } }/;/Times/d' y.recipe >b.recipe
fails 2 orch check b.recipe
says "it is not known whether larger values of metric 'level_m' are better"
says "'table' or 'plot', which accept any"
# nor by 'best'
sed 's/compare: { by: level, value: level_m }/best: { by: level, value: level_m }/' y.recipe >c.recipe
fails 2 orch check c.recipe
says "'table' or 'plot', which accept any"
