# Every profile of every recipe: its values are right, and it runs, two steps on synthetic data.
# A trial of a later profile or recipe that would repeat an earlier one (same plugin, device and parameters) is not run again.
. "$(dirname "$0")/lib.sh"
cat >new.py <<'P'
# Prints the experiments of a plan (stdin) with a trial that is not in the file of works yet, and adds the works of all its trials.
import json, os, sys
UNUSED = {"epochs", "per_class"} # a smoke run trains one epoch of two steps, of whichever classes
def work(trial):
    params = {name: value for name, value in trial["params"].items() if name not in UNUSED}
    return json.dumps([trial["plugin"], trial["device_key"], params], sort_keys=True)
path, trials = sys.argv[1], [t for t in json.load(sys.stdin)["trials"] if t["state"] != "skipped"]
found = set(open(path).read().splitlines()) if os.path.exists(path) else set()
print(*dict.fromkeys(t["experiment"] for t in trials if work(t) not in found))
with open(path, "a") as file:
    file.writelines(work(t) + "\n" for t in trials)
P
count=0 left_out=
cp -r "$SOURCE/recipes" . # the store beside a recipe is its own: not that of the clone
for recipe in recipes/*.recipe; do
    missing=
    for plugin in $(sed -n 's/^ *\(.*[{ ]\)\{0,1\}plugin: *"\{0,1\}\([a-z][a-z0-9_-]*\).*/\2/p' "$recipe" | sort -u); do
        orch plugin show "$plugin" >/dev/null 2>&1 || missing="$missing $plugin"
        if grep -qs '^torch$' "$SOURCE/plugins/$plugin/needs" && [ ! -e "$BUILD/plugins/common/orch-torch.so" ]; then
            missing="$missing $plugin(LibTorch)"
        fi
    done
    if [ -n "$missing" ]; then
        left_out="$left_out $(basename "$recipe"):$missing;"
        continue
    fi
    profiles=$(python3 - "$recipe" <<'P'
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
        set --; [ "$profile" = none ] || set -- --profile "$profile"
        # the values are right; a data set that is not installed is named
        _run orch check "$recipe" "$@"
        [ $status = 0 ] || { same $status 2; says 'was not found in'; says_not 'unknown'; }
        ok orch check "$recipe" --smoke "$@"
        ok orch run "$recipe" --smoke "$@" --dry-run --json
        new=$(python3 new.py works <<<"$out")
        if [ -n "$new" ]; then
            # shellcheck disable=SC2086 # names of experiments
            ok orch run "$recipe" $new --smoke "$@"; says_not failed
            case $err in *'trials: '*' not for this machine or profile;'* | *' skipped '*'no CUDA device'*) ;; *) says 'ok' ;; esac # all want a GPU
        fi
        ok orch report "$recipe" --smoke "$@" # names every part, run or not
        for question in $(sed -n 's/^.*question: *"\{0,1\}\([^",}]*\)"\{0,1\}.*$/\1/p' "$recipe" | sort -u); do
            grep -q "^$question  " "$SCRATCH/out" || _fail "the report lacks part $question"
        done
        count=$((count + 1))
    done
done
# problem 4 of homework 4 has its cells, on both kinds of device
case $left_out in *hw4.recipe*) ;; *)
    ok orch plan recipes/hw4.recipe p4 --smoke; has 'curves net=resnet-cifar:8'; has 'curves2 net=resnet-cifar:32'
    has held2; has 'speed batch=4'; has_not pretrain ;;
esac
[ -z "$left_out" ] || [ $count -gt 0 ] || skip "plugins that are not built here:$left_out"
[ $count -gt 0 ] || _fail 'no recipe was tried'
echo "$count profiles${left_out:+, left out:$left_out}"
