# Notes that more than three sections share stand once, in the section 'Method' at the end, and the sections refer to them.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import sys
print('{"accuracy": %r, "loss": %r}' % (float(sys.argv[1]) + int(sys.argv[2]) % 100 / 1000, 1 / float(sys.argv[1])))
P
cat >train.plugin <<'Y'
command: [python3, train.py, "${lr}", "${seed}"]
parameters: { lr: { type: real, default: 0.1 } }
metrics: { accuracy: { better: max }, loss: { better: min } }
Y
items() { for i in "$@"; do printf '  - { question: "%s", title: T%s, table: { rows: lr, value: [accuracy, loss], experiments: %s } }\n' "$i" "$i" "$exp"; done; }
{
    cat <<'R'
format: 1
recipe: a
experiments:
  tune: { plugin: ./train.plugin, sweep: { lr: [0.1, 0.2] }, repeat: 3 }
  later: { plugin: ./train.plugin, with: { lr: 0.5 } }
report:
R
    exp=tune items 1 2 3 4
    exp=later items 5 6 7 8
} >a.recipe
ok orch run a.recipe tune -q
ok orch report a.recipe
legend='a value like 0.5 (0.4..0.6) is a mean, with the lowest and the highest run'
same "$(printf '%s\n' "$out" | grep -cF "$legend")" 1
has "  method 1: $legend"
same "$(printf '%s\n' "$out" | grep -c '^  how this was computed: method 1 at the end of the report$')" 4
same "$(printf '%s\n' "$out" | grep -c 'missing: 1 of 1 trials is not run')" 1
same "$(printf '%s\n' "$out" | grep -c 'missing: the same as in 5$')" 3
same "$(printf '%s\n' "$out" | grep -c 'to have it: orch run a.recipe later')" 4
same "$(printf '%s\n' "$out" | grep -n '^Method$' | cut -d: -f1)" "$(($(printf '%s\n' "$out" | grep -n 'method 1: a value like' | cut -d: -f1) - 1))"
# other trials that are as many are no reason to refer to these
sed 's/^  later: .*/&\n  last: { plugin: .\/train.plugin, with: { lr: 0.7 } }/' a.recipe >c.recipe
exp=last items 9 >>c.recipe
ok orch report c.recipe
has 'to have it: orch run c.recipe last'
same "$(printf '%s\n' "$out" | grep -c 'missing: 1 of 1 trials is not run')" 2
same "$(printf '%s\n' "$out" | grep -c 'missing: the same as in 5$')" 3
# three of them keep their notes, and so does a part alone
ok orch report a.recipe --only 1
has "$legend"
has_not Method
has_not 'how this was computed'
sed '/question: "[48]"/d' a.recipe >b.recipe
ok orch report b.recipe
has_not Method
ok orch report a.recipe --html a.html
same "$(grep -oF "$legend" a.html | wc -l)" 1 'the legend on the page'
