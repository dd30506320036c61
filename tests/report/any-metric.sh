# A report that names a metric of a plugin with 'metrics: any' is told to declare it; the message had no hint.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
plugin() { # METRICS
    cat >p.plugin <<P
plugin: p
command: [sh, -c, 'for e in 1 2 3; do echo "epoch \$\$e reward \$\$1.\$\$e"; done', sh, "\${a}"]
metrics_from: lines
parameters: { a: { type: int, default: 1 } }
metrics: $1
P
}
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  e: { plugin: ./p.plugin, sweep: { a: [1, 2] } }
report:
  - { title: curve, plot: { x: epoch, y: reward } }
  - { title: table, table: { rows: a, value: mean reward } }
R
plugin any
fails 2 orch check r.recipe
says "unknown metric 'reward' in the report"
says "hint: declare it in plugin 'p', for example metrics: { reward: { better: max, step: epoch } }"
plugin '{ reward: { better: max, step: epoch } }'
ok orch check r.recipe
ok orch run r.recipe -q
ok orch report r.recipe
has '1.200'
plugin '{ reward: { better: max, step: epoch }, other: max }'
sed -i 's/mean reward/mean rewrd/' r.recipe
fails 2 orch check r.recipe
says "did you mean 'reward'"
says_not 'declare it in plugin'
# with another plugin of any metric, a name that is nearly one is a misspelling
printf 'plugin: q\ncommand: [sh, -c, "echo reward 1"]\nmetrics: any\n' >q.plugin
sed -i 's/^  e: .*/&\n  f: { plugin: .\/q.plugin }/; s/x: epoch/x: epoh/' r.recipe
fails 2 orch check r.recipe
says "did you mean 'epoch'"
says "did you mean 'reward'"
says_not 'declare it in plugin'
