#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A stranger's runs may claim impossible times and forecasts, or a signature in another name. The owner's store must not
# send the value of a secret on the command line.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
HUB=$SCRATCH/hub.git
git init -q --bare "$HUB"
cat >job.plugin <<'Y'
plugin: job
version: 1.0.0
command: [sh, job.sh, "${key}"]
metrics_from: lines
parameters:
  lr: {type: real, default: 0.1}
  key: {type: secret, optional: true}
metrics:
  final: {better: max}
Y
echo 'sleep 0.05; echo final 0.5; test -z "$1" || echo "$1" | wc -c' >job.sh
cat >r.recipe <<'R'
format: 1
recipe: r
experiments:
  tune: { plugin: ./job.plugin, reuse: any, inputs: [job.sh], sweep: { lr: [0.01, 0.1] }, repeat: 2 }
R
git add -A
git commit -qm one

# a secret: neither the command line nor anything else of the run tells it
ok orch run r.recipe tune -q --set key=SECRET-1
ok orch run r.recipe tune -q --force --set=tune.key=SECRET-2 -skey=SECRET-3
ok orch push "$HUB"
git -C "$HUB" cat-file --batch-all-objects --batch >"$SCRATCH/all"
grep -aq '"key=(secret)' "$SCRATCH/all" || grep -aq 'key=(secret)' "$SCRATCH/all" || _fail 'the command line is not there'
! grep -aq 'SECRET-' "$SCRATCH/all" || _fail 'a secret at the remote'
! grep -aq 'SECRET-' .orch/results.db || _fail 'a secret in the store'

# times: what one measured oneself counts, and what a joined run says counts only where it can be
forecast() {
    ok orch plan r.recipe --force --json
    json forecast.p50_s 2>/dev/null
}
ok orch plan r.recipe --force
before=$err
ok orch predictor score --json
scores=$out
n=0
for time in 1e-300 1e-5 3e12 1e300 1e15; do
    n=$((n + 1))
    cp -r .orch "../times$n"
    python3 "$SOURCE/tests/store/forge.py" "../times$n/results.db" \
        "UPDATE run SET key = printf('0190000%d-0000-7000-8000-%012x', $n, id), who = 'eve', wall_ms = $time" "UPDATE metric SET t_ms = $time" \
        "DELETE FROM forecast" \
        "INSERT INTO forecast SELECT fingerprint, 'm', 'repeats', id, min($time, 3e9), min($time, 3e9), min($time, 3e9), 'measured', key FROM run" || _fail 'no forged store'
    _run orch db merge "../times$n/results.db"
    case $time in 1e300 | 1e15)
        says 'its wall_ms is 1e+'
        says 'beyond 0 to'
        same "$status" 7
        ;;
    *)
        says 'new runs'
        says_not ' 0 new runs'
        ;;
    esac
done
ok orch plan r.recipe --force
same "$err" "$before" 'the forecast'
for words in 'predictor score' 'ls -n 0' cost 'coverage r.recipe --offline' 'report r.recipe' 'predictor rows'; do
    _run orch $words
    [ $status -lt 8 ] || _fail "status $status: $words"
done
ok orch ls -n 0
has '34722 d'
# who has no run of his own asks the others': still a number, an order, an end
mkdir ../other
(cd ../other && git init -q .)
cp job.* r.recipe ../other
cd ../other
git add -A
git commit -qm one
export ORCH_USER=newcomer
for n in 1 3; do ok orch db merge "../times$n/results.db"; done
ok orch plan r.recipe --force
says_not nan
says_not inf
says_not 'e+'
cd ../w
export ORCH_USER=tester

# a signature in her name, of her runs, by nobody: it does not keep hers away
command -v ssh-keygen >/dev/null || skip 'no ssh-keygen (openssh-client)'
ssh-keygen -q -t ed25519 -N '' -C me -f "$HOME/me"
ssh-keygen -q -t ed25519 -N '' -C eve -f "$HOME/eve"
git config gpg.format ssh
git config user.signingKey '~/me.pub'
cp -r .orch ../forged
python3 - ../forged/results.db "$HOME" <<'P'
import json, sqlite3, subprocess, sys
db = sqlite3.connect(sys.argv[1])
lines = [" ".join(row) for row in db.execute("SELECT key, digest FROM run WHERE who = 'tester' ORDER BY key")]
def sign(text): return subprocess.run(["ssh-keygen", "-Y", "sign", "-q", "-n", "orch", "-f", sys.argv[2] + "/eve"], input=text.encode(), capture_output=True, check=True).stdout.decode()
good = sign("orch runs 1\n" + "".join(line + "\n" for line in lines))
for n, signature in enumerate((good, "-----BEGIN SSH SIGNATURE-----\nnone\n", "-----BEGIN PGP SIGNATURE-----\nnone\n", "")):
    text = json.dumps({"format": 1, "runs": lines, "signature": signature})
    db.execute("INSERT INTO note VALUES(?, ?, 'signature', 1, ?, 'tester', ?)", ("01900000-0000-7000-8000-%012d" % n, lines[0][:36], text, n))
db.commit()
P
ok orch db merge ../forged/results.db
says '4 notes'
ok orch run r.recipe -q --sign
ok orch run r.recipe --sign
says_not signed # once
printf 'tester namespaces="orch" %s\n' "$(cat "$HOME/me.pub")" >"$HOME/signers"
git config gpg.ssh.allowedSignersFile '~/signers'
_run orch db check --signatures --json
same "$(json signed_by.tester)" 8 'runs signed'
ok orch run r.recipe --sign
says_not signed
# a thousand of them are not judged one by one for a look at one run
python3 - .orch/results.db >"$SCRATCH/key" <<'P'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
line = " ".join(db.execute("SELECT key, digest FROM run WHERE who = 'tester'").fetchone())
text = json.dumps({"format": 1, "runs": [line], "signature": "none"})
for n in range(1000):
    db.execute("INSERT INTO note VALUES(?, ?, 'signature', 1, ?, 'eve', 1)", ("01900000-0000-7000-8001-%012d" % n, line[:36], text))
db.commit()
print(line[:36])
P
ok orch show "$(<"$SCRATCH/key")"
has 'and maybe more'
same "$(grep -c '^  signed' <<<"$out")" 101
