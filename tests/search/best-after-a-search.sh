# 'orch best' takes the direction of a metric that declares none from the search, else from its name, which it says, and
# asks where searches differ or the name tells nothing; "best" of a curve goes by that direction, too.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import sys
x = float(sys.argv[1])
for epoch, add in enumerate([3, 0, 2], 1):
    print(f"epoch {epoch}/3 loss {x + add} height {x}", flush=True)
P
ok orch try -x 'x=choice(1, 2)' --search 'min best loss' --trials 2 --repeat 2 -j 1 -- python3 train.py {x}
says 'best of 2 settings: '
says 'best loss 1'
ok orch best loss --json
same "$(json better) $(json direction_by)" 'min null'
same "$(json rankings.0.settings.0.by.x)" 1
# runs that no search made say nothing of the direction
ok orch try -x x=3 -- python3 train.py {x}
ok orch best loss --across --by x --json
same "$(json better)" min
fails 2 orch best height
says "the name 'height' does not say whether larger values are better"
ok orch try -x 'x=choice(4, 5)' --search 'max height' --trials 2 -j 1 -- python3 train.py {x}
ok orch best height --across --by x --json
same "$(json better)" max
ok orch try -x 'x=choice(6, 7)' --search 'max loss' --trials 2 -j 1 -- python3 train.py {x}
fails 2 orch best loss
says 'minimized by some runs and maximized by others'
says '--min: the lower the better; --max: the higher the better'
ok orch best loss --max
# by the name: of what no search was for, of a search that does not say it, and turned round
ok orch try --name n -x x=1,2 -- sh -c 'echo "val_err $1"; echo "imgs_per_s $1"' sh {x}
ok orch best val_err -e n
has 'best: x=1'
has 'note: val_err: lower is better (by its name; --max reverses this)'
ok orch best val_err -e n --max
has 'best: x=2'
has_not 'by its name'
ok orch best imgs_per_s -e n --json
same "$(json better) $(json direction_by)" 'max name'
ok orch try --name s -x 'x=choice(1, 2)' --search val_err --trials 2 -- sh -c 'echo "val_err $1"' sh {x}
says 'best of 2 settings: '
says 'last val_err 1'
says 'val_err: lower is better (by its name)'
ok orch try --name b -x 'x=choice(1, 2)' --search 'best val_err' --trials 2 -- sh -c 'echo "val_err $1"' sh {x}
fails 2 orch try --name u -x 'x=choice(1, 2)' --search height --trials 2 -- sh -c 'echo "height $1"' sh {x}
says 'at: --search height'
says "hint: write 'max height' or 'min height'"
