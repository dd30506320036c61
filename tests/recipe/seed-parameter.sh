# A parameter that is the program's seed makes repeats: its values are not settings that compete, and runs with
# different seeds are not averaged into one.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >job.py <<'P'
import argparse, random
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
parser.add_argument("--seed", "--random-seed", type=int)
given = parser.parse_args()
random.seed(given.seed)
print("accuracy %.4f" % ({0.1: 0.7, 0.2: 0.8, 0.3: 0.9}[given.lr] + random.uniform(-0.01, 0.01)))
P
git add -A
git commit -qm first
check() { # NAME
    ok orch best accuracy --max -w "experiment = $1" --json
    same "$(json rankings.0.settings.#)" 3 'settings that are ranked'
    same "$(json rankings.0.settings.0.by.lr)" 0.3
    same "$(json rankings.0.settings.0.n)" 3 'seeds of a setting'
    same "$(json rankings.0.worse)" 2
    ok orch best accuracy --max -w "experiment = $1" --by lr,"$2" --json
    same "$(json rankings.0.settings.#)" 9 'settings where the seed is named'
    ok orch compare lr=0.1 lr=0.3 -w "experiment = $1" -m accuracy
    has '3 pairs'
    ok orch plot --x lr --y accuracy -w "experiment = $1"
    has 'means of 3 repeats'
    has_not 'means include runs that differ in' # seeds are repeats, not settings
}
ok orch try --name plain -x lr=0.1,0.2,0.3 -x seed=1,2,3 -- python3 job.py --lr '{lr}' --seed '{seed}'
check plain seed
ok orch try --name other -x lr=0.1,0.2,0.3 -x random_seed=1,2,3 -- python3 job.py --lr '{lr}' --random-seed '{random_seed}'
check other random_seed
# repeats of one seed are one seed
ok orch try --name same -x lr=0.1,0.2,0.3 -s seed=1 --repeat 2 -- python3 job.py --lr '{lr}' --seed '{seed}'
ok orch best accuracy --max -w 'experiment = same' --json
same "$(json rankings.0.settings.0.n)" 1 'seeds of a setting'
