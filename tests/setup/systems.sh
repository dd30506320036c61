#!/usr/bin/env bash
# tests/systems.sh names its requirements. When it is interrupted while it makes a system or runs a command in one, it
# leaves no mount and no folder, and removes nothing through a mount. A command runs in the clone of a kept system,
# whose files a second call leaves unchanged.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
git -C "$SOURCE" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip 'the source is no git repository'
ORCH_BUILD_DIR=$SCRATCH/logs/build
mkdir "$SCRATCH/logs" "$SCRATCH/precious" "$SCRATCH/tmp"
echo kept >"$SCRATCH/precious/file"

fails 2 "$SOURCE/tests/systems.sh" sarge
says "unknown system 'sarge' (bookworm trixie arm64)"
if [ "$(id -u)" != 0 ]; then
    fails 2 "$SOURCE/tests/systems.sh" trixie
    says 'needs root'
    skip 'the rest needs root'
fi
unshare --mount --pid --fork --kill-child --mount-proc true 2>/dev/null || skip 'the rest needs to mount'

# A debootstrap that mounts what must not be lost into the system, and then takes long
cat >"$SCRATCH/bin/debootstrap" <<S
#!/bin/sh
root=\$4
mkdir -p "\$root/etc/apt/apt.conf.d" "\$root/tmp" "\$root/precious" || exit 1
mount --bind "$SCRATCH/precious" "\$root/precious" || exit 1
echo \$\$ >"$SCRATCH/making"
exec sleep 300
S
chmod +x "$SCRATCH/bin/debootstrap"
if ! grep -qs enabled /proc/sys/fs/binfmt_misc/qemu-aarch64; then
    fails 2 "$SOURCE/tests/systems.sh" arm64
    says 'arm64 needs qemu-user-static in binfmt_misc'
fi
TMPDIR=$SCRATCH/tmp "$SOURCE/tests/systems.sh" trixie >"$SCRATCH/said" 2>&1 &
script=$!
await -s "$SCRATCH/making" "$SCRATCH/said"
kill -TERM $script
wait $script
same $? 143 'status of an interrupted script'
same "$(cat "$SCRATCH/precious/file")" kept 'what was mounted'
same "$(ls -A "$SCRATCH/tmp")" '' 'what is left'
grep -qF "$SCRATCH" /proc/self/mounts && _fail "a mount is left: $(grep -F "$SCRATCH" /proc/self/mounts)"

# The wheel: what goes wrong in its Debian 11 is shown, and nothing is left
printf '#!/bin/sh\necho "no mirror answers"\nexit 1\n' >"$SCRATCH/bin/debootstrap"
TMPDIR=$SCRATCH/tmp fails 1 "$SOURCE/tests/systems.sh" --wheel
has 'status 1  the wheel, made and tried'
says 'debootstrap failed'
same "$(ls -A "$SCRATCH/tmp")" '' 'what is left'

# A system that is there already: a shell and its libraries
root=$SCRATCH/keep/chroot-trixie
mkdir -p "$root"/{etc,tmp,proc,sys,dev,bin}
echo 13.99 >"$root/etc/debian_version"
cp -L /bin/bash "$root/bin/"
for library in $(ldd /bin/bash | grep -o '/[^ ]*'); do cp -L --parents "$library" "$root"; done
fails 1 "$SOURCE/tests/systems.sh" trixie --keep "$SCRATCH/keep" -- bash -c 'pwd; echo "$(</proc/1/comm) $HOME"; : >/dev/null </dev/fd/0 || exit; exit 3'
has 'status 3'
says 'trixie: Debian 13.99'
same "$(cat "$ORCH_BUILD_DIR-systems/trixie.1.log")" $'/tmp/orch\nbash /root' 'what the command saw'
before=$(cd "$root/tmp/orch" && stat -c '%y %n' build.sh lib/base/*.h)
ok "$SOURCE/tests/systems.sh" trixie --keep "$SCRATCH/keep" -- bash -c ':'
same "$(cd "$root/tmp/orch" && stat -c '%y %n' build.sh lib/base/*.h)" "$before" 'times of the sources'
grep -qF "$SCRATCH" /proc/self/mounts && _fail "a mount is left: $(grep -F "$SCRATCH" /proc/self/mounts)"
exit 0
