#!/usr/bin/env bash
# A trial in a real container: its project, parameters, and output are those of one outside, and it ends with its
# trial. Needs podman, and a static busybox for its image.
# test: slow timeout=300
. "$ORCH_SOURCE_DIR/tests/cli/lib.sh"
podman=$(type -P podman) || skip "podman is not installed"
PATH=$PATH:/usr/sbin:/sbin
[ -n "${ORCH_TEST_MEMORY:-}" ] || skip "there is no /dev/shm"
busybox=$(type -P busybox) || skip "busybox is not installed"
mkdir -p image/bin image/tmp image/etc
cp "$busybox" image/bin/busybox
for name in sh cat sleep awk; do ln -s busybox "image/bin/$name"; done
# A store of images of its own. Podman takes no longer path than 50 characters for the folder of what runs: with one its
# clean-up fails, and a container stays. Limits above those of this process cannot be set everywhere, nor does each runtime take
# each layout of control groups.
running=${ORCH_TEST_MEMORY:?}/podman
[ ${#running} -le 50 ] || skip "'$running' is too long for podman"
export CONTAINERS_CONF="$SCRATCH/containers.conf" CONTAINERS_STORAGE_CONF="$SCRATCH/storage.conf"
: >"$CONTAINERS_CONF"
cat >"$CONTAINERS_STORAGE_CONF" <<C
[storage]
driver = "vfs"
graphroot = "$SCRATCH/images"
runroot = "$running"
C
containers_are() { [ "$("$podman" ps -aq | wc -l)" = "$1" ]; }
works() { # works RUNTIME
    printf '[containers]\ndefault_ulimits = ["nofile=%s:%s", "nproc=1000:1000"]\nnetns = "host"\n[engine]\nruntime = "%s"\ncgroup_manager = "cgroupfs"\n' \
        "$(ulimit -n)" "$(ulimit -n)" "$1" >"$CONTAINERS_CONF"
    "$podman" run --rm --init local/tools:1 cat /etc/passwd >/dev/null 2>"$SCRATCH/why"
}
echo 'root:x:0:0::/:/bin/sh' >image/etc/passwd
tar -C image -cf image.tar . && "$podman" import -q image.tar local/tools:1 >/dev/null 2>"$SCRATCH/why" ||
    skip "podman cannot make an image: $(tail -1 "$SCRATCH/why")"
works crun || works runc || skip "podman cannot run a container: $(tail -1 "$SCRATCH/why")"
rm -r image image.tar
digest=$("$podman" images --format '{{.Digest}}' local/tools)

mkdir -p data
echo 7 >data/x.csv
cat >work.sh <<'P'
test -e /etc/debian_version && exit 3 # the machine's own
awk -v a="$1" '{print "score", a * $1}' data/x.csv
echo made >out.txt
sleep "$2"
P
cat >r.recipe <<R
format: 1
recipe: r
experiments:
  mine:
    program: "sh work.sh \${a} \${s}"
    sweep: { a: [1, 2], s: [1] }
    environment: { container: "local/tools@$digest" }
R
ok orch run r.recipe
says "2 ok"
ok orch show --json @last
same "$(of_json 'it["metrics"][0]["last"]')" 14.0
same "$(cat out.txt)" made
ok orch show @last
has "what it read and wrote is known in part: started 'podman' unobserved"
ok orch run r.recipe
says "nothing to run"

# stopped at once: the container goes with its trial
sed -i 's/s: \[1\]/s: [300]/' r.recipe
orch run r.recipe 2>stop.log &
runner=$!
until_true containers_are 1
interrupt $runner
wait $runner || true
until_true containers_are 0
rm -r "$running"
