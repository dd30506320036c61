# A metric whose last value is NaN is still a metric of the run: plot draws its finite points, and best names the runs
# that it cannot rank.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import sys
lr = float(sys.argv[1])
for epoch in range(4):
    print("epoch", epoch, "loss", "nan" if lr > 0.5 and epoch > 1 else 1 / (epoch + 1) / lr)
P
git add -A
git commit -qm first
ok orch try -x lr=0.1,0.2,1 -- python3 train.py '{lr}'
ok orch best loss --min --by lr
has 'best: lr=0.2'
has_not 'lr=1'
says "1 run is left out, as its loss is not a number: $(orch ls --where 'lr = 1' --format tsv | sed -n 2p | cut -f1)"
ok orch best loss --min --by lr --json
printf '%s' "$out" | python3 -c 'import json, sys; assert json.load(sys.stdin)["not_a_number"] == 1' || _fail 'JSON of best'
ok orch plot --x epoch --y loss --by lr -o curve.csv
[ "$(grep -c 'lr=1,' curve.csv)" = 2 ] || {
    cat curve.csv
    _fail 'the finite points of the curve that ends in NaN'
}
# no setting has a number at its end
fails 2 orch best loss --min --where 'lr = 1'
says "'loss' is NaN in the 1 run that has this metric"
says_not "did you mean 'loss'"
ok orch best loss --min --value first --where 'lr = 1'
says_not 'not a number'
# an infinite value is named, and how to leave it out; it is no lack of repeats
cat >inf.py <<'P'
import sys
lr, n = sys.argv[1:]
print("score", "inf" if (lr, n) == ("1", "3") else float(lr) + 0.01 * int(n))
P
ok orch try -q -x lr=1,2 -x n=1,2,3 -- python3 inf.py '{lr}' '{n}'
ok orch best score --max --by lr
has 'ahead of lr=2 by inf; an infinite value cannot be tested'
says "hint: -w 'score < inf' leaves out the setting with the infinite value"
ok orch best score --max --by lr -w 'score < inf'
has 'best: lr=2, score '
