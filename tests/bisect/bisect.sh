# The commit that made a metric worse is found among 12, although its values are noisy and one commit is broken. The
# search goes on with the runs that the store has, and never touches the user's files.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/history.sh"
make_history 8
same "$(git rev-list --count HEAD)" 12
culprit=$(git rev-parse HEAD~4)
good=$(git rev-parse HEAD~11)
# uncommitted changes and files that git ignores stay as they are, and count nowhere
echo 'print("score 1")' >>job.py
echo mine >notes.txt
before=$(git status --porcelain; cat job.py notes.txt)
ok orch bisect score "$good..HEAD" --min -- python3 job.py '{seed}'
says 'your uncommitted changes are not tested, and stay as they are'
says "11 commits after ${good:0:8}"
says 'skipped: failed: exit status 1: broken'
has "${culprit:0:8} made 'score' worse"
has 'change 8  (t, '
has "git show ${culprit:0:8}"
has '1 commit was skipped'
same "$before" "$(git status --porcelain; cat job.py notes.txt)"
compare=$(sed -n 's/^both sides: //p' "$SCRATCH/out")
ok $compare
has 'score'
says_not 'no run'
# the same command again runs nothing, and answers the same
ok orch bisect score "$good..HEAD" --min --json -- python3 job.py '{seed}'
says_not '[1]'
python3 - "$culprit" "$SCRATCH/out" <<'P'
import json, sys
d = json.load(open(sys.argv[2]))
assert d['outcome'] == 'found' and d['culprit']['commit'] == sys.argv[1], d['outcome']
assert d['culprit']['subject'] == 'change 8' and d['culprit']['author'] == 't'
assert d['probability'] >= 0.95 and d['range'] == [sys.argv[1]]
assert d['made'] == 0 and d['runs'] == sum(len(c['runs']) for c in d['commits']) > 6
assert abs(sum(c['probability'] for c in d['commits']) + d['no_change'] - 1) < 1e-9
assert len(d['commits']) == 12 and d['commits'][5]['skipped'].startswith('failed')
assert d['misfit_p'] > 0.01
assert d['before']['mean'] < 10.6 < d['after']['mean'] and d['change']['low'] > 0
# a commit's runs are of the commit: those that the culprit's neighbours made are good and bad
by = {c['subject']: [r['value'] for r in c['runs']] for c in d['commits']}
assert max(sum((v for k, v in by.items() if int(k.split()[1]) < 8), [])) < 12
P
# the same words in another folder are another command
git stash -q
cd copy
ok orch bisect score "$good..HEAD" --min -- python3 job.py '{seed}'
says '[1]'
says_not 'in the store'
has "${culprit:0:8} made 'score' worse"
cd ..
# a run is that of the commit's tree, and a colleague's counts: here those of a store that is pulled in
key=$(orch ls --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["key"])')
ok orch show "$key"
mv .orch ../theirs
ok orch db merge ../theirs/results.db
ok orch bisect score "$good..HEAD" --min -- python3 job.py '{seed}'
says_not '[1]'
has "${culprit:0:8} made 'score' worse"
