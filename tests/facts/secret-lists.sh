# A list of secrets is treated like a single secret: a plan neither shows it nor compares it with earlier runs.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >s.plugin <<'P'
plugin: s
command: [sh, -c, "echo loss=1"]
metrics_from: lines
parameters: { keys: { type: list of secret, default: [SECRET-A, SECRET-B] }, n: { type: int, default: 1 } }
metrics: { loss: { better: min } }
P
printf 'format: 1\nrecipe: s\nexperiments:\n  s: { plugin: ./s.plugin, with: { n: 1 } }\n' >s.recipe
git add -A
git commit -qm first
ok orch run s.recipe -q
sed -i 's/loss=1/loss=2/' s.plugin
git commit -qam second
ok orch plan s.recipe --json
has_not SECRET-
same "$(json trials.0.state)" stale
case $(json trials.0.reason) in *keys*) _fail "the reason is about the secret: $(json trials.0.reason)" ;; esac
sed -i 's/n: 1/n: 2/' s.recipe
git commit -qam third
ok orch plan s.recipe --json
has_not SECRET-
