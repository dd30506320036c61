#!/bin/bash
# Secrets stay on the machine: a value of type secret is recorded as HMAC with a local key, words of a command that look
# like secrets are not recorded, and 'orch plugin check' warns of secrets in a command.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
key=$XDG_STATE_HOME/orch/secret-key
holds() { # no byte of the secret in the store, a bundle, or what the commands print
    ok orch export --bundle "$SCRATCH/all.orch"
    for file in .orch/results.db* "$SCRATCH/all.orch"; do
        [ ! -f "$file" ] || ! grep -qa -- "$1" "$file" || _fail "'$1' is in $file"
    done
    for command in 'show @last' 'show @last --json' 'export --format json' 'ls --json' 'log @last'; do
        ok orch $command
        has_not "$1"
    done
}
cat >s.plugin <<'Y'
plugin: s
command: [sh, s.sh]
parameters: { pin: { type: secret } }
metrics: { seen: none }
Y
echo 'echo seen ${#ORCH_PARAM_pin}' >s.sh
printf 'format: 1\nrecipe: s\nexperiments:\n  e: { plugin: ./s.plugin, with: { pin: "${env:PIN}" } }\n' >s.recipe
git add -A
git commit -qm one
PIN=4711 ok orch run s.recipe
[ "$(stat -c %a/%s "$key")" = 600/32 ] || _fail "the key is $(stat -c %a/%s "$key")"
ok orch show @last --json
first=$out
form=$(grep -oE 'hmac-sha256:[0-9a-f-]+:[0-9a-f]{64}' <<<"$out" | head -n 1)
[ -n "$form" ] || _fail 'no HMAC is recorded'
run=$(cut -d: -f2 <<<"$form")
# nobody who lacks the key can try values: neither as before, nor with the run's key as HMAC key
same "$(
    python3 - "$form" <<'P'
import hashlib, hmac, sys
_, run, digest = sys.argv[1].split(":")
texts = ['"%04d"' % pin for pin in range(10000)]
print(sum(hashlib.sha256((run + t).encode()).hexdigest() == digest or hashlib.sha256((run + " " + t).encode()).hexdigest() == digest
          or hmac.new(run.encode(), t.encode(), "sha256").hexdigest() == digest for t in texts))
P
)" 0 'PINs found'
same "$(python3 -c '
import hmac, sys
print(hmac.new(open(sys.argv[1], "rb").read(), (sys.argv[2] + " \"4711\"").encode(), "sha256").hexdigest())' "$key" "$run")" "${form##*:}" 'the HMAC'
holds '"4711"'
# reuse goes on as before: another secret is the same trial, here and in another store
PIN=1234 ok orch run s.recipe
ok orch ls --json
same "$(grep -c '"key"' <<<"$out")" 1 'runs'
(
    mkdir "$SCRATCH/other"
    cd "$SCRATCH/other"
    git init -q .
    ok orch db merge "$SCRATCH/all.orch"
    ok orch show @last --json
    has "$form"
) || exit 1
PIN=1234 ok orch run s.recipe --force
ok orch diff @last "$run"
has_not "pin"
# a key that others can read is not used, and neither is a link; a lost one is made anew
cp "$key" "$SCRATCH/kept"
chmod 644 "$key"
PIN=4711 ok orch run s.recipe --force
ok orch show @last --json
has 'hmac-sha256:'
same "$(stat -c %a "$key")" 644 'the mode'
rm "$key"
PIN=4711 ok orch run s.recipe --force
[ -f "$key" ] || _fail 'no new key'
XDG_STATE_HOME=/proc/none PIN=4711 ok orch run s.recipe --force
ok orch show @last --json
has 'hmac-sha256:'
# ---- words of a command
echo 'echo seen 1; echo "$*" >words; cp words "$SCRATCH_WORDS"' >prog.sh
export SCRATCH_WORDS=$SCRATCH/words
ok orch try -- sh prog.sh --api-key sk-AAAA1 --token=sk-AAAA2 --db-password sk-AAAA3 --clientSecret sk-AAAA4 API_KEY=sk-AAAA5 \
    --key-frames 31 --tokens 128 --tokenizer bert --pad-token PPP --sort-key SSS --token-file FFF --key=KKK{seed} rest
same "$(cat "$SCRATCH/words")" '--api-key sk-AAAA1 --token=sk-AAAA2 --db-password sk-AAAA3 --clientSecret sk-AAAA4 API_KEY=sk-AAAA5 --key-frames 31 --tokens 128 --tokenizer bert --pad-token PPP --sort-key SSS --token-file FFF --key=KKK'"$(grep -oE 'KKK[0-9]+' "$SCRATCH/words" | cut -c4-) rest" 'what the program was given'
for secret in sk-AAAA1 sk-AAAA2 sk-AAAA3 sk-AAAA4 sk-AAAA5; do holds $secret; done
ok orch show @last --json
for open in '--api-key' '(secret)' '31' '128' 'bert' 'PPP' 'SSS' 'FFF' 'rest'; do has "$open"; done
# the same command is done, another secret is another trial, and neither digest betrays it
count() { orch ls -n 0 --json | grep -c '"key"'; }
one=$(count)
again() { ok orch try -- sh prog.sh --pin-token "$1"; }
again 1111
again 1111
same "$(count)" $((one + 1)) 'runs of one command'
again 2222
same "$(count)" $((one + 2)) 'runs of two commands'
# a program that records itself
cat >own.py <<'P'
import orch, sys
with orch.start(a=1) as run:
    run.log(loss=1)
P
PYTHONPATH=$SOURCE/share/python ok python3 own.py --api-key sk-BBBB --tokens 128
holds sk-BBBB
ok orch show @last --json
has '(secret)'
has '128'
# ---- plugin check
cat >w.plugin <<'Y'
plugin: w
command: [sh, s.sh, --pin, "${pin}", --api-key, abcdef, --tokens, "128", --token, "${word}"]
parameters: { pin: { type: secret }, word: { type: string, default: x } }
metrics: { seen: none }
Y
_run orch plugin check ./w.plugin -s pin=1
has "every user of the machine sees the secret in '\${pin}'"
has "the text after '--api-key' looks like a secret"
has_not "'--token'"
has_not "'--tokens'"
_run orch plugin check ./s.plugin -s pin=1
has_not 'sees the secret'
has_not 'changes nothing'
