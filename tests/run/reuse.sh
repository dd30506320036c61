# Runs that were made on another machine count in a plan, except their timings.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
# A store made elsewhere: timings do not count here, everything else does.
cat >both.recipe <<'R'
format: 1
recipe: both
experiments:
  timing: { plugin: sleep, with: { seconds: 0.01 }, repeat: 2 }
  plain: { plugin: 'null', repeat: 2 }
R
ok orch run both.recipe
says '4 ok'
ok orch db info --json
path=$(json path)
# the same rows, as if another GPU model had made them
sqlite3 "$path" "PRAGMA writable_schema=0; SELECT name FROM sqlite_master WHERE type='trigger'" >triggers
while read -r name; do printf 'DROP TRIGGER "%s";\n' "$name"; done <triggers >sql
echo "UPDATE run SET device_key='1x Tesla K80';" >>sql
sqlite3 "$path" <sql
ok orch plan both.recipe --json
states=$(printf '%s' "$out" | python3 -c '
import json, sys
print(" ".join(t["experiment"] + ":" + t["state"] for t in json.load(sys.stdin)["trials"]))')
same "$states" 'timing:missing plain:done timing:missing plain:done'
ok orch plan both.recipe
has 'Tesla K80'
