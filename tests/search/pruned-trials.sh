# A rule stops bad trials of a search: they end before their last epoch, keep their metrics, are no results and are not run
# again, and --continue-pruned runs them to their end.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
# The first and the fourth trial are good. The others are worse than the first, and wait after their second epoch.
cat >train.py <<'P'
import itertools, os, pathlib, sys, time
home = pathlib.Path(os.environ['HOME'])
for n in itertools.count(1):
    try:
        os.close(os.open(home / f'trial-{n}', os.O_CREAT | os.O_EXCL))
        break
    except FileExistsError:
        pass
is_good = n in (1, 4)
for epoch in range(1, 6):
    print(f"epoch {epoch}/5 loss {(0.25 if n == 4 else n) + 1 / epoch:.4f}", flush=True)
    if epoch == 2 and not is_good and not (home / 'free').exists():
        time.sleep(60)
        sys.exit('nobody stopped it')
P
search() {
    "$@" orch try -x 'lr=uniform(0, 1)' --search 'min loss' --sampler sobol --trials 5 --stop 'asha(min=2, factor=3)' -j 1 \
        "${more[@]}" -- python3 train.py --lr {lr}
}
more=()
search ok
says '2 ok, 3 pruned'
says '  2.5 after 2 values; 1 of 2 trials are better, the best 1 go on'
says 'best of 5 settings: '
says 'last loss 0.45'
says '3 trials were pruned'
ok orch ls --json
same "$(json runs.#)" 5
ok orch ls --state pruned --json
same "$(json runs.#)" 3
key=$(json runs.0.key)
ok orch show "$key" --json
same "$(json state)" pruned
has 'trials are better'
ok orch show "$key"
has pruned
# the metrics are there as far as they go: two values of five
python3 - <<'P' || _fail 'points of the runs'
import glob, sqlite3
db = sqlite3.connect(glob.glob('.orch/*.db')[0])
rows = db.execute("select state, count(*) from run r join metric m on m.run = r.id join metric_name n on n.id = m.name_id"
                  " where n.name = 'loss' group by r.id order by 1, 2").fetchall()
assert rows == [('ok', 5)] * 2 + [('pruned', 2)] * 3, rows
P
# no result: neither the best nor one of the ranked
ok orch best loss --min --json
has_not "$key"
same "$(json rankings.0.settings.#)" 2

# the same command tries nothing again
search ok
says 'nothing to run: 2 of 5 trials are done'
says '3 pruned; --continue-pruned runs them to their end'
says '2 done before, 3 pruned before'
[ ! -e "$HOME/trial-6" ] || _fail 'a pruned trial was run again'

# more points: the pruned ones are tried points
touch "$HOME/free"
more=(--trials 6)
search ok
says '2 done before, 3 pruned before'
[ -e "$HOME/trial-6" ] && [ ! -e "$HOME/trial-7" ] || _fail 'one more point is one more trial'

# to their end
more=(--trials 5 --continue-pruned)
search ok
says '3 ok, 2 done before'
ok orch ls --state pruned --json
more=(--trials 5)
search ok
says 'nothing to run: 5 of 5 trials are done'
