# A curve that does not fall has no fit: that is the answer, not parameters and an error of many thousand per cent.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >rises.py <<'P'
import math, sys
for i in range(1, 61):
    loss = {"rises": i * i * 1e-9, "waves": 1e-6 + (1 + math.sin(i)) ** 6, "explodes": math.exp(0.9 * i) * 1e-9, "falls": 1 / i + 0.1}[sys.argv[1]]
    print(f"step {i} loss {loss:.6g}")
P
for kind in rises waves explodes; do
    ok orch try -- python3 rises.py $kind
    fails 2 orch curve @last
    says "no curve fits 'loss', because it does not fall"
done
ok orch try -- python3 rises.py falls
ok orch curve @last
# of several runs these are left out
ok orch curve --where 'state = ok'
says 'left out: '
