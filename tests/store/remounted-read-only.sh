# A file system that becomes read-only during a run, as ext4 does after a disk error: the run ends with a message, the
# store can be read, and when it is writable again no ended trial is lost or repeated.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
if [ -z "${ORCH_TEST_IN_NAMESPACE:-}" ]; then
    [ "$(id -u)" = 0 ] || skip 'only root can mount an ext4 file system'
    PATH=$PATH:/usr/sbin:/sbin
    command -v mkfs.ext4 >/dev/null || skip 'mkfs.ext4 is not installed (e2fsprogs)'
    truncate -s 32M "$SCRATCH/disk.img"
    mkfs.ext4 -q -F "$SCRATCH/disk.img" || _fail 'mkfs.ext4'
    mkdir "$SCRATCH/disk"
    unshare -m mount -o loop "$SCRATCH/disk.img" "$SCRATCH/disk" 2>/dev/null || skip 'mount namespaces or loop devices are not allowed here'
    ORCH_TEST_IN_NAMESPACE=$SCRATCH/disk.img unshare -m bash "$0"
    exit $?
fi
image=$ORCH_TEST_IN_NAMESPACE disk=$SCRATCH/disk
mkdir "$disk"
cat >gate.sh <<'S'
[ "$1" != 2 ] || [ -e "$2/go" ] || { : >"$2/waits"; until [ -e "$2/go" ]; do sleep 0.05; done; }
echo "value: $1"
S
cat >gate.plugin <<'P'
plugin: gate
command: [sh, gate.sh, "${n}", "${at}"]
metrics_from: lines
parameters:
  n: { type: int }
  at: { type: string }
metrics:
  value: { better: max }
P
cat >r.recipe <<R
format: 1
recipe: r
experiments:
  g: { plugin: ./gate.plugin, with: { at: "$SCRATCH" }, sweep: { n: [1, 2, 3] } }
R
# all writes are synchronous, so that the abort loses nothing that was written before
mount -o loop,sync "$image" "$disk" || _fail 'mount'
runner=
trap 'was=$?; [ -z "$runner" ] || kill -9 $runner 2>/dev/null; umount -l "$disk" 2>/dev/null; cleanup $was' EXIT
export ORCH_DB=$disk/store/results.db
orch run r.recipe -j 1 >"$SCRATCH/run.out" 2>"$SCRATCH/run.err" &
runner=$!
until [ -e "$SCRATCH/waits" ]; do
    kill -0 $runner || _fail "the run ended: $(cat "$SCRATCH/run.err")"
    sleep 0.05
done
until
    ok orch ls --json
    [ "$(json runs.0.state)/$(json runs.1.state)" = running/ok ]
do sleep 0.1; done
first=$(json runs.1.key)
mount -o remount,abort "$disk" || _fail 'remount'
! : 2>/dev/null >"$disk/probe" || _fail 'the file system can still be written'
: >"$SCRATCH/go"
wait $runner
status=$? runner= err=$(cat "$SCRATCH/run.err")
same $status 3 "status of the run ($err)"
says "$disk"
says 'hint: '
# ---- reading works, writing says why it does not
ok orch ls --json
has "$first"
ok orch show "$first"
fails 3 orch run r.recipe
says 'read-only'
# ---- written again: the first trial is not repeated, the others run
umount "$disk" && mount -o loop "$image" "$disk" || _fail 'the second mount'
ok orch db check
ok orch run r.recipe -j 1
ok orch ls -n 0 --json --state ok
same "$(grep -c '"key"' <<<"$out")" 3 'runs that ended ok'
has "$first"
[ -z "$(ls "$disk/store/results.db.d/trials")" ] || _fail "a trial's folder is left"
ok orch db check
umount "$disk"
