# A report table with labels: one row for each value, one column for each setting.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
recipe() { # LABELS MORE
    cat >r.recipe <<R
format: 1
recipe: r
experiments:
  nap: { plugin: sleep, sweep: { seconds: [0.01, 0.02] } }
report:
  - title: naps
    table: { rows: seconds, value: [wall_s, max slept_s]$1$2 }
R
}
recipe ', labels: ["how long it took", "how long it slept"]' ''
ok orch run r.recipe -q
ok orch report r.recipe
has 'recorded as'
has 'how long it slept  highest slept time (s)'
has '0.01'
has '0.02'
ok orch report r.recipe --out out
head -1 "$(grep -rl 'how long it took' out --include='*.csv' | head -1)" | grep -q '^what,value by seconds,0.01,' || _fail 'the columns of the CSV file'
# what it refuses
recipe ', labels: [one]' ''
fails 2 orch report r.recipe
says 'the table has 1 labels for 2 values'
says 'write one label for each value'
recipe ', labels: [one, two]' ', deviation: true'
fails 2 orch report r.recipe
says "'labels' needs a table without 'deviation'"
