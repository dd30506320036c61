# 'orch best' takes the direction of a metric that declares none from the search, and asks where searches differ;
# "best" of a curve goes by that direction, too.
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import sys
x = float(sys.argv[1])
for epoch, add in enumerate([3, 0, 2], 1):
    print(f"epoch {epoch}/3 loss {x + add} height {x}", flush=True)
P
ok orch try -x 'x=choice(1, 2)' --search 'min best loss' --trials 2 --repeat 2 -j 1 -- python3 train.py {x}
says 'best loss of 2 points: best 1,'
ok orch best loss --json
same "$(json better)" min
same "$(json rankings.0.settings.0.by.x)" 1
# runs that no search made say nothing of the direction
ok orch try -x x=3 -- python3 train.py {x}
ok orch best loss --across --by x --json
same "$(json better)" min
fails 2 orch best height
says "declares neither min nor max"
ok orch try -x 'x=choice(4, 5)' --search 'max height' --trials 2 -j 1 -- python3 train.py {x}
ok orch best height --across --by x --json
same "$(json better)" max
ok orch try -x 'x=choice(6, 7)' --search 'max loss' --trials 2 -j 1 -- python3 train.py {x}
fails 2 orch best loss
says 'minimized by some runs and maximized by others'
says 'add --min or --max'
ok orch best loss --max
