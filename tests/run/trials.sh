# 'orch run' runs missing trials only: repeated commands, commits that change nothing, failures and their messages.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
sleeps naps '0.01, 0.2' 2
git add -A
git commit -qm first
ok orch check naps.recipe
has '1 experiment, 4 trials'
ok orch plan naps.recipe
has 'never run'
says '4 missing'
ok orch run naps.recipe
says '4 trials: 4 ok'
ok orch run naps.recipe
says 'nothing to run: 4 of 4 trials are done'
says 'ok'
ok orch plan naps.recipe --json
same "$(json trials.0.state)" done
same "$(json left)" 0
ok orch ls --json
same "$(json runs.#)" 4
same "$(json runs.0.state)" ok
same "$(json runs.0.who)" tester
ok orch show @last
has 'sleep'
has 'slept_s'
has "$(git rev-parse HEAD)"
ok orch show @last --json
same "$(json commit)" "$(git rev-parse HEAD)"
same "$(json tree)" "$(git rev-parse 'HEAD^{tree}')"
same "$(json params.seconds)" 0.2
ok orch db check
has 'all well: 4 runs'
ok orch db info --json
digest=$(json digest)
same ${#digest} 64
# a commit that touches only README.md, and a rebase, leave all done
echo hello >README.md
git add -A
git commit -qm readme
ok orch plan naps.recipe --json
same "$(json left)" 0
git commit -q --amend -m 'readme, again'
ok orch plan naps.recipe --json
same "$(json left)" 0
# another value is another trial; the old one stays done
ok orch run naps.recipe -x seconds=0.2,0.3
says '2 ok, 2 done before'
ok orch run naps.recipe --force -x seconds=0.2
says '2 ok'
ok orch ls --json -n 0
same "$(json runs.#)" 8
ok orch ls --where 'seconds=0.2 and repeat=1' --json
same "$(json runs.#)" 2
fails 2 orch ls --where 'secnods=0.02'
says secnods
ok orch best slept_s --min --by seconds
has 'best: seconds=0.01'
# dry run, smoke: nothing recorded
ok orch run -n naps.recipe -x seconds=0.5
ok orch run naps.recipe --smoke -x seconds=60
says 'ok'
ok orch ls --json -n 0
same "$(json runs.#)" 8
# stdout is data, stderr is talk
ok orch run naps.recipe -q
same "$err" ''
