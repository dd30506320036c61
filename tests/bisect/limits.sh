# A bisection stops when the ends do not differ, when its budget is spent and when it is killed, and goes on with the
# runs it has. A culprit among commits that do not run is named as a range, and what git ignores because it was
# built from other files is not used.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/history.sh"
make_history 8 '6 7 8'
first=$(git rev-parse --short=8 HEAD~6)
last=$(git rev-parse --short=8 HEAD~3)
# ends that do not differ: nothing between them runs
fails 7 orch bisect score HEAD~11..HEAD~8 --min --repeat-at-most 8 -- python3 job.py '{seed}'
has "'score' does not differ between the good and the bad commit beyond"
has '(95 %: '
has 'of 2 commits'
fails 7 orch bisect score HEAD~11..HEAD --max --repeat-at-most 8 -- python3 job.py '{seed}'
has "'score' is better at the bad commit than at the good one; if lower values are better, use --min"
# a budget of device time, then the rest
fails 6 orch bisect score HEAD~11..HEAD --min --budget 0.001s --price 1 -- sh -c 'python3 job.py {seed}'
has 'not decided'
says 'run the same command again to continue'
fails 6 orch bisect score HEAD~11..HEAD --min --budget 0.0000001usd --price 1 -- sh -c 'python3 job.py {seed}'
has '$'
# killed in the middle
orch bisect score HEAD~11..HEAD --min -- sh -c 'python3 job.py {seed}' >"$SCRATCH/killed" 2>&1 &
pid=$!
until_true grep -q '^\[4\]' "$SCRATCH/killed"
kill -9 "$pid"
wait "$pid" || true
ok orch bisect score HEAD~11..HEAD --min -- sh -c 'python3 job.py {seed}'
says 'in the store'
has "one of these 4 commits made 'score' worse"
has "git diff $(git rev-parse --short=8 HEAD~7) $last"
for i in 6 7 8 9; do
    has "change $i  ("
done
has_not 'change 10  ('
ok orch ls --json
python3 - "$SCRATCH/out" <<'P'
import json, sys
from collections import Counter
runs = json.load(open(sys.argv[1]))['runs']
# no run was made twice: a repeat of a commit by one command has one run
seen = Counter((r['commit'], r['seed'], r['experiment']) for r in runs if r['state'] == 'ok')
assert max(seen.values()) <= 2, seen
P
# the failed commits are not run again, unless that is asked for
ok orch bisect score HEAD~11..HEAD --min -- sh -c 'python3 job.py {seed}'
says_not 'skipped: failed'
ok orch bisect score HEAD~11..HEAD --min --retry -- sh -c 'python3 job.py {seed}'
says 'skipped: failed'
