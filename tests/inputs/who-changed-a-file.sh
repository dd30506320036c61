# A file that a run has read and that somebody else wrote, replaced, renamed or removed while it ran is named in the run,
# which is run again; so is one of a folder of which many files were read. A time proves nothing: an older one, the same
# one, or one of tomorrow.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -e "$BUILD/orch-watch.so" ] || skip 'no orch-watch.so'
echo 'ignored*' >.gitignore
mkdir many "$SCRATCH/disk"
for i in $(seq 60); do echo 1 >many/f$i.txt; done
echo 1 >"$SCRATCH/disk/linked.txt"
ln -s "$SCRATCH/disk" disk
cat >a.py <<'P'
import os, sys, time
way = sys.argv[1]
def read(name):
    return int(open(name).read())
if way == "many":
    value = sum(read("many/" + name) for name in sorted(os.listdir("ma" + "ny")))
elif way == "copy":  # of a file of its own
    open("own.txt", "w").write("1")
    value = read("own." + "txt")
    os.chmod("captured.txt", 0o600)
    value = read("captured" + ".txt")
else:
    value = read(way + ".txt")
open(os.environ["TRIAL_BEGAN"], "w").close()
while not os.path.exists(os.environ["TRIAL_GOES_ON"]):
    time.sleep(0.02)
print("v", value)
P
old='2 days ago'
fresh() { # everything as at first, and old
    for name in captured ignored disk/linked many/f7; do
        rm -f $name.txt
        echo 1 >$name.txt
    done
    rm -f many/g.txt own.txt
    find . disk/ many -maxdepth 1 -name '*.txt' -exec touch -d "$old" {} +
}
fresh
git add .
git commit -qm one
export TRIAL_BEGAN=$SCRATCH/began TRIAL_GOES_ON=$SCRATCH/go
number=0
during() { # WAY NAME COMMAND...: runs the command while the trial waits; the run names the file, or "" for none
    local way=$1 name=$2
    shift 2
    number=$((number + 1))
    rm -f "$TRIAL_BEGAN" "$TRIAL_GOES_ON"
    orch try -x "n=$number" -- python3 a.py "$way" '{n}' >"$SCRATCH/log" 2>&1 &
    await -e "$TRIAL_BEGAN" "$SCRATCH/log"
    "$@"
    : >"$TRIAL_GOES_ON"
    wait
    ok orch ls --reverse --where "n = $number" --json
    ok orch show "$(json runs.0.key)" --json
    local told
    told=$(of_json '" ".join(it["facts"].get("rewritten", []) + [it["reason"] or "-"])')
    if [ -z "$name" ]; then
        same "$told" - "$way: $*"
        ok orch try -n -x "n=$number" -- python3 a.py "$way" '{n}'
        says '1 trial: 1 done'
    else
        case $told in *"$name"*) ;; *) _fail "$way: $*: '$name' is not named" ;; esac
        case $(json state) in
        ok) # git does not have it: the next command runs the trial again
            ok orch try -n -x "n=$number" -- python3 a.py "$way" '{n}'
            says_not '1 done'
            ;;
        lost) says_again ;;
        *) _fail "$way: $*" ;;
        esac
    fi
    fresh
}
says_again() { grep -q '1 ok' "$SCRATCH/log" || _fail "the trial did not run again: $(cat "$SCRATCH/log")"; }
put() { # WHEN FILE: another file of that time in its place
    echo 2 >new
    touch -d "$1" new
    mv new "$2"
}
over() { # FILE: other content of the same size and time
    touch -r "$1" "$SCRATCH/time"
    echo 2 >"$1"
    touch -r "$SCRATCH/time" "$1"
}
away() {
    mv "$1" "$SCRATCH/away"
}
linked() {
    echo 2 >"$SCRATCH/second"
    touch -d "$old" "$SCRATCH/second"
    ln -sf "$SCRATCH/second" "$1"
}
for way in captured ignored disk/linked; do
    during $way $way.txt put "$old" $way.txt
    during $way $way.txt put tomorrow $way.txt
    during $way $way.txt over $way.txt
    during $way $way.txt rm $way.txt
    during $way $way.txt away $way.txt
    during $way $way.txt linked $way.txt
    during $way '' true
done
during many f7.txt over many/f7.txt
during many f7.txt put "$old" many/f7.txt
during many f7.txt rm many/f7.txt
during many '' true
during copy '' true # what it does itself
# a time of tomorrow by itself makes nothing stale
for way in captured ignored disk/linked; do
    fresh
    touch -d tomorrow $way.txt
    during $way '' true
done
