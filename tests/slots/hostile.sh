# Any user may create the folder of slots and write to it. Whatever another user puts there, a run does not hang, wait
# or fail: it continues without sharing, and names the file and its owner once. Files of other users can be tested as
# root only.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
printf 'format: 1\nrecipe: t\nexperiments:\n  e: { plugin: sleep, sweep: { seconds: [0.01, 0.02] }, resources: { exclusive: true } }\n' >t.recipe
me=$(id -u)
mkdir "$SCRATCH/them"
renew() {
    rm -rf "$ORCH_SLOTS"
    mkdir "$ORCH_SLOTS"
    chmod 1777 "$ORCH_SLOTS"
}
quick() { ok timeout 60 orch run t.recipe --force; }
unshared() { # WHAT...: the run goes on, and says once what is wrong
    quick
    says 'may use the same CPUs and GPUs'
    for what; do says "$what"; done
    same "$(grep -c 'may use the same' <<<"$err")" 1 'how often it is said'
}
# a named pipe, a link and a folder called lock, which is no part of the list
for make in 'mkfifo' 'ln -s /etc/passwd' 'mkdir'; do
    renew
    $make "$ORCH_SLOTS/lock"
    quick
    says_not 'may use the same'
    has_not waiting
done
# in place of this user's own file
renew
mkfifo "$ORCH_SLOTS/$me.json"
unshared "'$ORCH_SLOTS/$me.json': it is a named pipe of user"
renew
echo precious >"$SCRATCH/precious"
chmod 600 "$SCRATCH/precious"
ln -s "$SCRATCH/precious" "$ORCH_SLOTS/$me.json"
unshared "'$ORCH_SLOTS/$me.json': it is a symbolic link of user"
same "$(cat "$SCRATCH/precious") $(stat -c %a "$SCRATCH/precious")" 'precious 600' 'the file behind the link'
renew
ln "$SCRATCH/precious" "$ORCH_SLOTS/$me.json"
unshared 'a file with further names'
same "$(cat "$SCRATCH/precious")" precious 'the file behind the name'
renew
echo '{"format": 7}' >"$ORCH_SLOTS/$me.json"
unshared 'not a list of slots (CPUs and GPUs in use) in format 1'
# in place of the folder
rm -rf "$ORCH_SLOTS"
ln -s "$SCRATCH/them" "$ORCH_SLOTS"
unshared "cannot open folder '$ORCH_SLOTS' (a symbolic link of user"
rm -rf "$ORCH_SLOTS"
mkfifo "$ORCH_SLOTS"
unshared "cannot open folder '$ORCH_SLOTS' (a named pipe of user"
ok orch doctor
has 'a named pipe of user'
rm -rf "$ORCH_SLOTS"
# somebody holds the lock
renew
flock "$ORCH_SLOTS" sleep 60 &
holder=$!
for _ in $(seq 200); do
    flock -n "$ORCH_SLOTS" true || break
    sleep 0.05
done
unshared "'$ORCH_SLOTS' was locked for 5 s"
kill $holder $(pgrep -P $holder)
wait $holder 2>/dev/null
# entries: FILE-UID KIND [COUNT]
cat >entries.py <<'P'
import json, os, sys
boot = open("/proc/sys/kernel/random/boot_id").read().strip()
folder, uid, kind, pid, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
start = int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[19])
def entry(**more):
    return dict(dict(boot=boot, pid=pid, start=start, key="f" * 8 + "-ffff-7fff-8fff-" + "f" * 12, trial_dir="/nowhere", what="x", alone=True,
                     waiting=False, lacks_cpus=True, cpus=list(range(64)), gpus=[]), **more)
entries = {"alone": lambda i: entry(),
           "waiting": lambda i: entry(waiting=True, key="", trial_dir=None),
           "boot": lambda i: entry(since_boot_ns=1),
           "dead": lambda i: entry(pid=4000000 + i, start=1, key="%08x-ffff-7fff-8fff-ffffffffffff" % i, trial_dir="/nowhere/%d" % i),
           "shown": lambda i: entry(since_boot_ns=start * 10**9 // os.sysconf("SC_CLK_TCK") + 10**9, what="hw4 \u202eevil\u009b31m\nline", gpus=[["\x1b]0;PWN\x07gpu", 1000000]])}[kind]
json.dump({"format": 1, "entries": [entries(i) for i in range(count)]}, open(f"{folder}/{uid}.json", "w"))
os.chown(f"{folder}/{uid}.json", uid, uid)
P
entries() { python3 entries.py "$ORCH_SLOTS" "$@" || _fail "entries $*"; }
# of this user's own living process, but from before it began
sleep 600 &
alive=$!
for kind in alone waiting boot; do
    renew
    entries "$me" $kind $alive 1
    quick
    says_not waiting
done
# thousands of dead ones cost nothing, and are removed
renew
entries "$me" dead $alive 1
t0=$(date +%s%N)
quick
one=$(($(date +%s%N) - t0))
renew
entries "$me" dead $alive 2000
t0=$(date +%s%N)
quick
many=$(($(date +%s%N) - t0))
[ $((many / 1000000)) -lt $((one / 1000000 * 4 + 3000)) ] || _fail "2,000 dead entries: $((many / 1000000)) ms instead of $((one / 1000000)) ms"
same "$(cat "$ORCH_SLOTS/$me.json")" '{"entries":[],"format":1}' 'the list afterwards'
# texts of an entry are shown cleaned
renew
entries "$me" shown $alive 1
ok orch doctor
has '?]0;PWN?gpu'
has_not $'\x1b'
has_not $'\u202e'
has_not $'\u009b'
has 'hw4 ???evil??31m line'
kill $alive
wait $alive 2>/dev/null

[ "$me" = 0 ] || exit 0
own() { chown 65534 "$1"; }
chmod 711 "$SCRATCH"
setpriv --reuid=65534 --clear-groups sleep 600 &
theirs=$!
for _ in $(seq 200); do
    [ "$(stat -c %u /proc/$theirs)" = 65534 ] && break
    sleep 0.05
done
nobody="user '$(getent passwd 65534 | cut -d: -f1)'"
# entries for processes of others, or from before theirs began; thousands of dead ones
renew
entries 65534 alone 1 1
quick
says_not waiting
says_not 'may use the same'
renew
entries 65534 alone $theirs 1
quick
says_not waiting
renew
entries 65534 waiting $theirs 1
quick
says_not waiting
renew
entries 65534 dead 1 4000
t0=$(date +%s%N)
quick
many=$(($(date +%s%N) - t0))
[ $((many / 1000000)) -lt $((one / 1000000 * 4 + 3000)) ] || _fail "4,000 dead entries: $((many / 1000000)) ms instead of $((one / 1000000)) ms"
kill $theirs
# files that are not what they should be: this user goes on without the other one, or unshared
renew
own "$ORCH_SLOTS"
echo nonsense >"$ORCH_SLOTS/65534.json"
own "$ORCH_SLOTS/65534.json"
quick
says "some users' runs may use the same CPUs and GPUs: cannot read '$ORCH_SLOTS/65534.json' of $nobody"
same "$(grep -c 'may use the same' <<<"$err")" 1
renew
mkfifo "$ORCH_SLOTS/65534.json"
own "$ORCH_SLOTS/65534.json"
quick
says "'$ORCH_SLOTS/65534.json': it is a named pipe of $nobody"
renew
head -c 3000000 /dev/zero >"$ORCH_SLOTS/65534.json"
own "$ORCH_SLOTS/65534.json"
quick
says 'larger than'
renew
own "$ORCH_SLOTS"
echo '{"format": 1, "entries": []}' >"$ORCH_SLOTS/$me.json"
own "$ORCH_SLOTS/$me.json"
unshared "'$ORCH_SLOTS/$me.json': it is a file of $nobody"
# a folder that is not ours: as another user, who may not become root
them() { setpriv --reuid=65534 --clear-groups env HOME="$SCRATCH/them" XDG_CACHE_HOME="$SCRATCH/them" XDG_DATA_HOME="$SCRATCH/them" \
    XDG_CONFIG_HOME="$SCRATCH/them" XDG_STATE_HOME="$SCRATCH/them" "$@"; }
cp t.recipe "$SCRATCH/them"
own "$SCRATCH/them"
cd "$SCRATCH/them"
them orch version >/dev/null 2>&1 || exit 0
for mode in 0700 0755; do
    renew
    chmod $mode "$ORCH_SLOTS"
    ok timeout 60 setpriv --reuid=65534 --clear-groups env HOME="$SCRATCH/them" XDG_CACHE_HOME="$SCRATCH/them" XDG_DATA_HOME="$SCRATCH/them" \
        XDG_CONFIG_HOME="$SCRATCH/them" XDG_STATE_HOME="$SCRATCH/them" orch run t.recipe --force
    says 'may use the same CPUs and GPUs'
    says "$ORCH_SLOTS"
    says "a folder of user 'root'"
    same "$(grep -c 'may use the same' <<<"$err")" 1
done
renew
chmod 0777 "$ORCH_SLOTS"
_run them timeout 60 orch run t.recipe --force
same $status 0
says "cannot use '$ORCH_SLOTS' of user 'root': anyone can replace the files in it"
