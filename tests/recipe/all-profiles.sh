# recipe.all-profiles RECIPE runs a smoke test of every profile of a recipe (tests/cli/tests.cmake makes one test for each
# recipe): the values of the parameters are checked, and trials run for two steps on synthetic data. Not every
# experiment runs, because plugins have no code for one particular learning rate, number of images or depth of a
# network, only for values that are negative, zero, a share, one or more, and for combinations of two parameters. An
# experiment runs when its trials have such a value, or such a pair, that no earlier experiment of the same plugin had.
# Without a CUDA device all trials that require one end in the same way before they read anything else, so one trial of
# each plugin runs.
# test: slow timeout=2700 cost=1000 each=recipes
. "$(dirname "$0")/../cli/lib.sh"
cat >new.py <<'P'
# new.py KNOWN: prints the experiments of a plan (stdin) that show something new, and adds what they show to the file KNOWN.
import itertools, json, os, re, subprocess, sys
UNUSED = {"epochs", "per_class"} # a smoke run trains one epoch of two steps, of whichever classes
def kind(value):
    if isinstance(value, str):
        return re.sub(r":[0-9]+$", ":", value) # resnet-cifar:20
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return json.dumps(value)
    return "negative" if value < 0 else "zero" if value == 0 else "share" if value < 1 else "one" if value == 1 else "more"
def shown(trial):
    if trial["params"].get("device") == "cuda" and not has_cuda:
        return {f"{trial['plugin']} on CUDA"}
    values = sorted(f"{name}={kind(value)}" for name, value in trial["params"].items() if name not in UNUSED)
    return {f"{trial['plugin']} {trial['device_key']} {pair}" for pair in [(), *itertools.combinations(values, 1), *itertools.combinations(values, 2)]}
def finds_gpu():
    try:
        return b"GPU" in subprocess.run(["nvidia-smi", "-L"], capture_output=True).stdout
    except OSError:
        return False
path, has_cuda = sys.argv[1], finds_gpu()
known = set(open(path).read().splitlines()) if os.path.exists(path) else set()
experiments = {}
for trial in json.load(sys.stdin)["trials"]:
    if trial["state"] != "skipped":
        experiments.setdefault(trial["experiment"], set()).update(shown(trial))
for name, facts in experiments.items():
    if facts - known:
        known |= facts
        print(name, end=" ")
with open(path, "w") as file:
    file.writelines(fact + "\n" for fact in known)
P
cp -r "$SOURCE/recipes" . # the store beside a recipe is its own: not that of the clone
recipe=recipes/$1.recipe missing=
for plugin in $(sed -n 's/^ *\(.*[{ ]\)\{0,1\}plugin: *"\{0,1\}\([a-z][a-z0-9_-]*\).*/\2/p' "$recipe" | sort -u); do
    orch plugin show "$plugin" >/dev/null 2>&1 || missing="$missing $plugin"
    if grep -qs '^torch$' "$SOURCE/plugins/$plugin/needs" && [ ! -e "$BUILD/plugins/common/orch-torch.so" ]; then
        missing="$missing $plugin(LibTorch)"
    fi
done
[ -z "$missing" ] || skip "plugins that are not built here:$missing"
profiles=$(
    python3 - "$recipe" <<'P'
import re, sys
inside = False
for line in open(sys.argv[1]):
    if re.match(r"profiles:", line): inside = True
    elif re.match(r"\S", line) and not line.startswith("#"): inside = False
    match = inside and re.match(r"  ([a-z][a-z0-9_-]*):", line)
    if match: print(match.group(1))
P
)
for profile in ${profiles:-none}; do
    set --
    [ "$profile" = none ] || set -- --profile "$profile"
    # the values are right; a data set that is not installed is named
    _run orch check "$recipe" "$@"
    [ $status = 0 ] || {
        same $status 2
        says 'was not found in'
        says_not 'unknown'
    }
    ok orch check "$recipe" --smoke "$@"
    ok orch run "$recipe" --smoke "$@" --dry-run --json
    new=$(python3 new.py known <<<"$out")
    if [ -n "$new" ]; then
        # shellcheck disable=SC2086 # names of experiments
        ok orch run "$recipe" $new --smoke "$@"
        says_not failed
        case $err in *'trials: '*' not for this machine or profile;'* | *' skipped '*'no CUDA device'*) ;; *) says 'ok' ;; esac # all want a GPU
    fi
    ok orch report "$recipe" --smoke "$@" # names every part, run or not
    for question in $(sed -n 's/^.*question: *"\{0,1\}\([^",}]*\)"\{0,1\}.*$/\1/p' "$recipe" | sort -u); do
        grep -q "^$question  " "$SCRATCH/out" || _fail "the report lacks part $question"
    done
done
# problem 4 of homework 4 has its cells, on both kinds of device
if [ "$recipe" = recipes/hw4.recipe ]; then
    ok orch plan recipes/hw4.recipe p4 --smoke
    has 'curves net=resnet-cifar:8'
    has 'curves2 net=resnet-cifar:32'
    has held2
    has 'speed batch=4'
    has_not pretrain
fi
