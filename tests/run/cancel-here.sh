# 'orch cancel' ends a trial of this machine; it keeps its points, and the other trials of the run go on.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import sys, time
for epoch in range(1, 2 if sys.argv[1] == '1' else 600):
    print(f'epoch {epoch} loss {1 / epoch}', flush=True)
    time.sleep(0.05)
P
fails 2 orch cancel
ok orch try -x n=1 -- python3 train.py {n}
fails 2 orch cancel "$(orch ls --format tsv | tail -n 1 | cut -f1)"
says 'no waiting or running trial'
orch try -x n=2,1 --no-progress -- python3 train.py {n} >run.out 2>&1 &
for i in $(seq 200); do
    key=$(orch ls --json | python3 -c 'import json, sys
print(next((r["key"] for r in json.load(sys.stdin)["runs"] if r["state"] == "running"), ""))')
    [ -z "$key" ] || { orch show "$key" 2>/dev/null | grep -q loss && break; }
    sleep 0.05
done
[ -n "$key" ] || _fail 'no trial runs'
ok orch cancel "$key" "${key:0:13}"
says 'cancelled 1 trial; '
wait $!
ok orch show "$key" --json
same "$(json state)" cancelled
has "'orch cancel' by tester"
ok orch export "$key" --what points --metric loss
[ "$(wc -l <<<"$out")" -ge 2 ] || _fail 'its points are kept'
ok orch ls --json --where 'state = ok and n = 1'
same "$(json runs.#)" 1
