# 'orch show --rerun' makes the command that runs a setting again by the tables of options: attached short options, values that look
# like commands, abbreviated options, options that belong to the first start only. The commands do run the setting again.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
mkdir tools
cat >fit.plugin <<'P'
plugin: fit
command: [sh, -c, 'echo loss=${rate}1; echo width=${width}']
metrics_from: lines
parameters: { rate: { type: real, default: 1 }, width: { type: int, default: 2 }, word: { type: string, default: a } }
metrics: { loss: { better: min }, width: { better: none } }
P
cat >fit.recipe <<'R'
format: 1
recipe: fit
profiles: { small: {} }
experiments:
  fit: { plugin: ./fit.plugin, sweep: { rate: [1, 2] } }
  other: { plugin: ./fit.plugin, with: { rate: 5 } }
R
git add -A
git commit -qm first
again() {
    ok orch show --rerun "$1"
    same "$out" "$2" 'the command:'
}
# attached short options, of several letters; values named like the verbs; what only the first start needed
ok orch try -qyslr=0.1 --who try --plugin-path run --color never -j2 --no-progress -s 'word=it'"'"'s' --name try -- echo loss={lr} {word}
again @last "orch try --plugin-path=run -s lr=0.1 -s 'word=it'\''s' --name=try --force -- echo 'loss={lr}' '{word}'"
# a swept value takes the place of the sweep, and what follows '--' is the program's
ok orch try -q -xlr=0.3 --rep 1 --name=swept -- sh -c 'echo loss=$1' -s -slr=7 --repeat {lr}
again @last "orch try --repeat=1 --name=swept -s lr=0.3 --force -- sh -c 'echo loss=\$1' -s -slr=7 --repeat '{lr}'"
# a recipe: the run's experiment among several, with the profile, a set value and the swept one
ok orch run -q -sfit.width=4 --profile small fit.recipe fit other
ok orch ls -e fit --where 'rate = 2' --json
key=$(printf '%s' "$out" | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["key"])')
again "$key" "orch run fit.recipe fit -s fit.width=4 -p small -s fit.rate=2 --force"
before=$(orch ls -e fit --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))')
ok sh -c "$out"
after=$(orch ls -e fit --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))')
same "$after" $((before + 1)) 'runs after the command:'
ok orch show @last
has 'width          4'
# several runs; a run that no command made has none, with the reason
cat >own.py <<'P'
import orch
run = orch.start()
run.log(loss=1, step=1)
run.end()
P
PYTHONPATH=$SOURCE/share/python ok python3 own.py
ok orch show --rerun @last "$key" --json
same "$(printf '%s' "$out" | python3 -c 'import json, sys; r = json.load(sys.stdin)["reruns"]; print(len(r), r[0]["command"], "made" in r[0]["why_none"], r[1]["command"][:8])')" \
    '2 None True orch run' 'two runs:'
fails 2 orch show @last "$key"
# ... and no status of success; the others are written all the same
fails 2 orch show --rerun @last "$key"
has 'orch run'
says "neither 'orch run' nor 'orch try' made run"
# a secret is not recorded, so the command cannot be; nor that of a run from a store whose words are no whole command
ok orch try -- sh -c 'echo loss 1' --api-key=abc
fails 2 orch show --rerun @last
says 'had a secret, which is not recorded'
has_not api-key
python3 - <<'P'
import sqlite3
d = sqlite3.connect('.orch/results.db')
for name, in d.execute("select name from sqlite_master where type = 'trigger'").fetchall(): # runs do not change
    d.execute(f'drop trigger "{name}"')
d.execute("update run set argv = '[\"orch\",\"run\"]' where id = (select max(id) from run)")
d.commit()
P
fails 2 orch show --rerun @last
says 'did not name a recipe'
# the page shows the same
orch serve --help >/dev/null 2>&1 || exit 0
orch serve --read-only --port 0 >served 2>serve.err &
server=$!
trap 'was=$?; kill "$server" 2>/dev/null; cleanup $was' EXIT
await -s served
python3 - "$(head -n 1 served)" "$key" "$(orch show --rerun "$key")" <<'P' || _fail 'the command of the page'
import json, sys, urllib.error, urllib.request
def ask(runs): return json.load(urllib.request.urlopen(f"{sys.argv[1].rstrip('/')}/api/v1/reruns?runs={runs}"))["reruns"]
assert [r["command"] for r in ask(sys.argv[2])] == [sys.argv[3]]
for wrong in ("", "--json", "@last", "lr%3E0", ",".join([sys.argv[2]] * 61)):
    try:
        sys.exit(f"answered: {ask(wrong)}")
    except urllib.error.HTTPError as error:
        assert error.code == 400, error
P
exit 0
