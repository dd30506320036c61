# Trials that ran beside others inform forecasts where there are none that ran alone: of a plan, with
# a wider interval that says why, and of a trained predictor, which counts them.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >fit.sh <<'S'
sleep "$(awk "BEGIN { print 0.02 + $1 * $2 / 20000 }")"
echo "took: 1 s"
S
run() {
    ok orch try --oversubscribe "$@" -- sh fit.sh '{n}' '{k}'
}
run -q -j 2 -x n=10,20,30,40 -x k=10,20,40
run -n --json -x n=10,25 -x k=10,20,40
has '"because": "a law fitted to 12 trials here, all '
has 'a wider interval'
has_not 'nothing like these'

ok orch predictor train --name fit --where "experiment = 'fit'"
has '12 rows of 12 settings'
says ' of the runs shared the machine with other trials, so their times may be too long'
ok orch predictor rows --where "experiment = 'fit'"
says 'of the rows are from runs that shared the machine with other trials, because their settings have no other runs'
ok orch predict --experiment fit -x n=25,k=20
has 'tier fitted'

# alone, the settings count by their new runs
run -q --force -x n=10,20,30,40 -x k=10,20,40
run -n --json -x n=10,25 -x k=10,20,40
has_not 'a wider interval'
