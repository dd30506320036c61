# A report calls a difference of a metric without a declared direction "higher" or "lower", never "better" or "worse".
. "$(dirname "$0")/lib.sh"
printf 'format: 1\nrecipe: y\nexperiments:\n  a:\n    plugin: sleep\n    sweep: { seconds: [0.01, 0.1] }\n    repeat: 3\nreport:\n  - { title: Against, compare: { by: seconds, value: slept_s } }\n  - { title: Times, table: { rows: seconds, value: slept_s } }\n' >y.recipe
ok orch report y.recipe
has 'missing: 6 of 6 trials are not run'
has_not 'slept time (s)' # no table of a row of 'missing' for each
has_not 'one run each'
ok orch run y.recipe --quiet
ok orch report y.recipe
has 'higher, more than noise'
has_not 'better, more'
has 'mean (lowest..highest run)'
sed 's/seconds: \[0.01, 0.1\]/seconds: [0.1, 0.01]/' y.recipe >z.recipe
ok orch report z.recipe
has 'lower, more than noise'
has_not 'worse, more'
# the best of several cannot be chosen by it
sed 's/value: slept_s } }$/value: slept_s, best_of: repeat } }/;/Times/d' y.recipe >b.recipe
fails 2 orch check b.recipe
says "metric 'slept_s' does not declare whether high or low is better"
says "under 'better' in 'orch plugin show PLUGIN'"
# nor by 'best'
sed 's/compare: { by: seconds, value: slept_s }/best: { by: seconds, value: slept_s }/' y.recipe >c.recipe
fails 2 orch check c.recipe
says "'table' and 'plot' take any"
