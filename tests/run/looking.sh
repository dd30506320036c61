# Commands that read the store: diff, compare, gc and log -f.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir exp
cat >exp/talk.plugin <<'Y'
plugin: talk
command: [sh, talk.sh, "${n}"]
parameters:
  n: { type: int, default: 1 }
metrics:
  value: { better: max }
  time: { better: min, unit: s }
artifacts:
  big: big.bin
Y
cat >exp/talk.sh <<'S'
echo "talking of $1"
echo "noise" >&2
while [ $1 = 8 ] && [ ! -e "$HOME/go" ]; do sleep 0.05; done
i=0
while [ $i -lt $1 ]; do i=$((i + 1)); echo "word $i"; done
head -c 100000 /dev/urandom >big.bin
echo "value $1"; echo "time 0.$1"
S
cat >talk.recipe <<'R'
format: 1
recipe: talk
experiments:
  talk: { plugin: exp/talk.plugin, sweep: { n: [0, 1] }, repeat: 2 }
R
git add -A
git commit -qm first
ok orch run talk.recipe
set -- $(orch ls --where n=0 --json | python3 -c 'import json,sys; print(*[r["key"] for r in json.load(sys.stdin)["runs"]])')
zero=$1
one=$(orch ls --where n=1 --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["runs"][0]["key"])')
# diff: the parameter, then the source
ok orch diff "$zero" "$one"
has n
has_not talk.sh
sed -i 's/talking of/speaking of/' exp/talk.sh
git commit -qam second
ok orch run talk.recipe -x n=0
says '2 ok'
ok orch diff "$zero" @last --source
has '-echo "talking of $1"'
has '+echo "speaking of $1"'
# compare: more than noise; timings only where machines agree
ok orch compare n=0 n=1 -m value
has 'higher and better'
ok orch db info --json
path=$(json path)
cp "$path" other.db
{
    sqlite3 other.db "SELECT 'DROP TRIGGER \"'||name||'\";' FROM sqlite_master WHERE type='trigger'"
    echo "UPDATE run SET device_key='8x Tesla V100' WHERE id IN (SELECT run FROM param WHERE name='n' AND value='1');"
} >sql
sqlite3 other.db <sql
ok orch compare n=0 n=1 --db other.db
has 'other machine'
has 'higher and better'
ok orch compare n=0 n=1 --db other.db --across
has_not 'other machine'
fails 2 orch compare n=0 n=7
says 'n=7'
# a log that is followed: from before the first word to the end
orch run talk.recipe -x n=8 --no-progress >o 2>e &
pid=$!
speaks() { grep -qs speaking .orch/results.db.d/trials/*/*; }
until_true speaks
ok orch ls --json
key=$(printf '%s' "$out" | python3 -c '
import json, sys
print([r["key"] for r in json.load(sys.stdin)["runs"] if r["state"] == "running"][0])')
# @last is that one as long as it is in progress; without -f, the last that ended
orch log -f --stdout @last >followed 2>&1 &
follower=$!
ok orch log @last
has_not 'speaking of 8'
until_true grep -q 'speaking of 8' followed
touch "$HOME/go"
ok orch log -f "$key"
has 'speaking of 8'
has 'word 8'
wait $follower
same $? 0 'the exit status of log -f @last'
ok orch log -f --stdout "$key"
same "$(cat followed)" "$out" 'what log -f @last and log -f KEY print'
wait $pid
same $? 0 'the exit status'
ok orch log -f @last
has 'speaking of 8'
ok orch log @last --stderr
has noise
has_not 'word'
# gc: what no kept run names goes, the rest stays
before=$(find .orch/results.db.d/objects -type f | wc -l)
ok orch gc
same "$(find .orch/results.db.d/objects -type f | wc -l)" "$before"
ok orch rm "$zero" --reason 'not needed'
ok orch purge "$zero"
ok orch gc
has 'removed'
[ "$(find .orch/results.db.d/objects -type f | wc -l)" -lt "$before" ] || _fail 'gc left the objects of a removed run'
ok orch db check
