# A curve that does not fall has no fit: that is the answer, not parameters and an error of many thousand per cent. Straight lines and exponentials have forms of
# their own, not power laws with parameters at their bounds.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >rises.py <<'P'
import math, sys
for i in range(1, 61):
    noise = 1 + 0.01 * ((i * 7919 % 61) / 30 - 1)
    loss = {"rises": i * i * 1e-9, "waves": 1e-6 + (1 + math.sin(i)) ** 6, "explodes": math.exp(0.9 * i) * 1e-9, "falls": 1 / i + 0.1,
            "climbs": 0.5 + 0.02 * i, "u": 0.3 + 0.25 * (i / 30 - 1) ** 2, "late_u": 0.3 + (i - 45) ** 2 * (1e-4 if i < 45 else 9e-4),
            "noise": 0.7 * noise, "line": (2 - i / 60) * noise, "exponential": (0.2 + 2 * math.exp(-i / 12)) * noise}[sys.argv[1]]
    print(f"step {i} loss {loss:.6g}")
P
for kind in rises waves explodes climbs u late_u noise; do
    ok orch try -- python3 rises.py $kind
    fails 2 orch curve @last
    says "no curve fits 'loss', because it does not fall"
    fails 2 orch curve @last --net resnet-cifar:20 --target-loss 0.35
    # a target below all losses is not forecast, and one that was reached is found
    case $kind in climbs | noise) want='not reached, no fit null' ;; u) want='yes 17.0' ;; waves) want='yes 4.0' ;; late_u) want='yes 23.0' ;; *) want='yes 1.0' ;; esac
    ok orch curve @last --target-loss 0.35 --epochs 100 --json
    same "$(json curves) $(json targets.0.reached) $(json targets.0.step) $(json targets.1.reached)" "[] $want not reached, no fit"
done
ok orch try -- python3 rises.py falls
ok orch curve @last
# of several runs these are left out
ok orch curve --where 'state = ok'
says 'left out: '
for kind in line exponential; do
    ok orch try -- python3 rises.py $kind
    ok orch curve @last --target-loss 0.5
    has "$kind: loss = "
    ok orch curve @last --target-loss 0.5 --json
    python3 - "$kind" "$out" <<'P' || _fail "the $kind has another form"
import json, sys
kind, answer = sys.argv[1], json.loads(sys.argv[2])
curve, target = answer["curves"][0], answer["targets"][0]
assert curve["form"].split(",")[0] == kind and all(curve[name] is None or curve[name] < 10 for name in "abcd"), curve
assert curve["tends_to"] is None if kind == "line" else abs(curve["tends_to"] - 0.2) < 0.01, curve
assert abs(target["step"] - (90 if kind == "line" else 22.8)) < 3, target
P
done
# an accuracy that no run reached is forecast from a curve of its own, which is no loss; where it does not rise there is none
cat >accuracies.py <<'P'
import sys
for i in range(1, 61):
    accuracy = 0.95 - 2 / (i + 9) if sys.argv[1] == "rises" else 0.6 + 0.01 * (i * 37 % 61) / 61
    print(f"step {i} loss {0.1 + 1 / i:.6g} val_acc {accuracy:.6g}")
P
for kind in rises stands; do
    ok orch try -- python3 accuracies.py $kind
    ok orch curve @last --target-accuracy 93% --json
    same "$(json targets.0.loss)" null
    same "$(json targets.0.reached)" "$([ $kind = rises ] && echo yes || echo 'not reached, no fit')"
done
