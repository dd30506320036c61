# A file that nothing names, but that a run of the experiment has read, in this command or an earlier one, changes in the
# middle of a sweep: what git has is taken from the captured files, of another file the rest uses the new one, and both are
# said.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
mkdir many "$SCRATCH/disk"
ln -s "$SCRATCH/disk" disk
ln -s "$SCRATCH/disk/linked.txt" link.txt
for i in $(seq 60); do echo 0 >many/f$i.txt; done
printf 'ignored.txt\ncache/\n' >.gitignore
cat >a.py <<'P'
import importlib, os, sys, time
way, n = sys.argv[1], sys.argv[2]
if way == "many":
    value = sum(int(open("many/" + name).read()) for name in sorted(os.listdir("ma" + "ny")))
elif way == "module":
    value = importlib.import_module("con" + "f").V
else:
    value = int(open(way + "." + "txt").read())
print("v", value)
if n in os.environ.get("WAIT", "2").split():
    open(os.environ["TRIAL_BEGAN"] + n, "w").close()
    while not os.path.exists(os.environ["TRIAL_GOES_ON"] + n):
        time.sleep(0.02)
P
first() {
    for name in captured ignored disk/linked many/f7; do echo 0 >$name.txt; done
    echo 'V = 0' >conf.py
}
first
git add .
git commit -qm one
export TRIAL_BEGAN=$SCRATCH/began TRIAL_GOES_ON=$SCRATCH/go
change() { # FILE CONTENT
    echo "$2" >"$1"
}
sweep() { # WAY FILE CONTENT BEFORE: values of n before the sweep, or none
    rm -f "$TRIAL_BEGAN"* "$TRIAL_GOES_ON"*
    rm -rf .orch
    [ -z "$4" ] || ok orch try -x "n=$4" -- python3 a.py "$1" '{n}'
    orch try -x n=1,2,3,4 -- python3 a.py "$1" '{n}' >"$SCRATCH/log" 2>&1 &
    await -e "${TRIAL_BEGAN}2" "$SCRATCH/log"
    change "$2" "$3"
    : >"${TRIAL_GOES_ON}2"
    wait $! || _fail "$(cat "$SCRATCH/log")"
    grep -q "$2" "$SCRATCH/log" || _fail "$1: '$2' is not named: $(cat "$SCRATCH/log")"
    ok orch ls -n 0 --where 'state = ok' -m v --format tsv
    first
}
of_tsv() { awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "v") v = i } NR > 1 { printf "%s ", $v }' <<<"$out"; }
for before in '' 0; do
    for way in captured module many; do
        case $way in captured) file=captured.txt new=5 ;; module) file=conf.py new='V = 5' ;; many) file=many/f7.txt new=5 ;; esac
        sweep $way $file "$new" "$before"
        same "$(of_tsv)" "0 0 0 0 ${before:+0 }" "$way: what the runs read"
        grep -q 'use a copy of the old files' "$SCRATCH/log" || _fail "$(cat "$SCRATCH/log")"
    done
    for way in ignored disk/linked link; do
        sweep $way $way.txt 5 "$before"
        case $(of_tsv) in *5*) ;; *) _fail "$way: no run read the new file" ;; esac
        grep -q 'the next command runs the earlier trials again' "$SCRATCH/log" || _fail "$(cat "$SCRATCH/log")"
    done
done
# two at once: while one runs that may have written the file, the next ones use a copy of the old files
rm -f "$TRIAL_BEGAN"* "$TRIAL_GOES_ON"*
rm -rf .orch
WAIT='2 3' orch try -j 2 -x n=1,2,3,4,5 -- python3 a.py captured '{n}' >"$SCRATCH/log" 2>&1 &
await -e "${TRIAL_BEGAN}2" "$SCRATCH/log"
await -e "${TRIAL_BEGAN}3" "$SCRATCH/log"
change captured.txt 5
: >"${TRIAL_GOES_ON}3"
until grep -q 'n=5' "$SCRATCH/log"; do sleep 0.05; done
: >"${TRIAL_GOES_ON}2"
wait $! || _fail "$(cat "$SCRATCH/log")"
ok orch ls -n 0 --where 'state = ok' -m v --format tsv
same "$(of_tsv)" '0 0 0 0 0 ' 'what the runs read'
