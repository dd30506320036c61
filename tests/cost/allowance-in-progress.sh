# An allowance also counts the trials that other commands of the group or the person have in progress.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
first=
trap 'was=$?; [ -z "$first" ] || kill -KILL $first 2>/dev/null; cleanup $was' EXIT
recipe() { printf 'format: 1\nrecipe: a\nallowance: %s\nexperiments:\n  nap: { plugin: sleep, sweep: { seconds: [%s] } }\n' "$1" "$2" >a.recipe; }
recipe '{ hours: 0.0001 }' 300 # 360 ms
ok orch cost a.recipe --json
same "$(json allowance.running) $(json allowance.reserved_h)" '0 0.0'
orch run a.recipe --over-allowance -q >/dev/null 2>&1 &
first=$!
for _ in $(seq 3000); do
    [ -n "$(ls .orch/results.db.d/trials/*/journal 2>/dev/null)" ] && break
    sleep 0.02
done
# nothing tells how long the trial will take, so its time so far counts
for _ in $(seq 3000); do
    ok orch cost a.recipe --json
    python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)["allowance"]["reserved_h"] <= 0.0001)' <<<"$out" && break
done
same "$(json allowance.running)" 1 'trials in progress'
python3 -c 'import json, sys; a = json.load(sys.stdin)["allowance"]; assert a["left_h"] < 0 and a["used_h"] == 0, a' <<<"$out" || _fail 'the reserve is wrong'
# a second command sees the trial of the first, and starts nothing
recipe '{ hours: 0.0001 }' 0.01
fails 6 orch run a.recipe
says 'for 1 trial in progress'
says 'stopped by the allowance'
# somebody else's trials do not count against one's own allowance
recipe '{ hours: 0.0001, per: person }' 0.01
fails 6 orch run a.recipe
ORCH_USER=bob ok orch run a.recipe --oversubscribe
says 'for each person'
says_not 'in progress'
kill -KILL $first
wait $first 2>/dev/null
first=
# the trial of a killed command is closed once its processes have ended: it becomes a run, and reserves nothing more
for _ in $(seq 600); do
    ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -qF "$PWD/.orch/results.db.d/trials" || break
    sleep 0.1
done
ok orch run a.recipe --force --over-allowance
says_not 'in progress'
ok orch cost a.recipe --json
same "$(json allowance.running)" 0 'trials in progress'
