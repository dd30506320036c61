# One trial that diverges early does not switch the rule 'forecast' off; trials of differing lengths do, and a line says so.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >train.py <<'P'
import os, pathlib, sys, time
home, mode = pathlib.Path(os.environ['HOME']), sys.argv[2]
n = 1 + len(list(home.glob(mode + '-*')))
(home / f'{mode}-{n}').touch()
begin = n if n < 8 else 5.5
for epoch in range(1, 11 if mode == 'long' and n == 3 else 5):
    loss = 'nan' if n == 2 and mode == 'nan' and epoch == 2 else begin if epoch == 1 else 2 * begin + 1 + n % 3 / 10
    print(f"epoch {epoch} loss {loss}", flush=True)
    if loss == 'nan':
        break
    if n == 8 and mode == 'nan' and epoch == 1:
        time.sleep(60)
        sys.exit('nobody stopped it')
P
search() {
    ok orch try -x 'lr=uniform(0, 1)' --search 'min loss' --trials 8 --stop 'forecast(p=0.05, startup=6)' -j 1 \
        -- python3 train.py {lr} "$1"
}
search nan
says '1 pruned'
says 'by 6 trials that ended'
search long
says_not pruned
says "by its values of 'loss': 'forecast' needs trials of about the same length, but these have 4 to 10 values"
