#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# sandbox.sh PROGRAM [ARG...]: runs a test with a home and a folder for temporary files of its own, so that no test reads or
# writes those of the user, and another folder in memory ($ORCH_TEST_MEMORY, where there is such a file system). All are
# removed at the end. Fails when the test leaves temporary files.
# The folders are in memory where there are 4 GiB of it: on a disk each commit of a store waits for the disk, which is most of
# the time of many tests. $ORCH_TEST_FOLDER is another place, e.g. one on a disk.
is_roomy() {
    local free block
    read -r free block < <(stat -f -c '%a %S' /dev/shm 2>/dev/null) && [ -w /dev/shm ] && ((free * block >= 4 << 30)) &&
        grep -q '^[^ ]* /dev/shm tmpfs ' /proc/mounts && ! grep -Eq '^[^ ]* /dev/shm tmpfs [^ ]*noexec' /proc/mounts
}
if is_roomy; then place=/dev/shm; else place=${TMPDIR:-/tmp}; fi
scratch=$(mktemp -d "${ORCH_TEST_FOLDER:-$place}/orch-ctest-$$-XXXXXX") || exit 1
memory=$(mktemp -d "/dev/shm/orch-ctest-$$-XXXXXX" 2>/dev/null)
remove() { chmod -R u+rwX "$scratch" ${memory:+"$memory"} 2>/dev/null; rm -rf "$scratch" ${memory:+"$memory"}; }
trap remove EXIT
trap 'exit 143' TERM INT HUP
mkdir "$scratch/home" "$scratch/tmp"
# as /tmp itself, for some tests run programs as another user
chmod 711 "$scratch" && chmod 1777 "$scratch/tmp" ${memory:+"$memory"}
export HOME=$scratch/home TMPDIR=$scratch/tmp PYTHONDONTWRITEBYTECODE=1
# Tests run side by side and shall not wait for one another's processors (docs/slots.md). Those of waiting set a list.
export ORCH_SLOTS=off
# ... nor let threads that wait for one another spin on processors that other tests need
export OMP_WAIT_POLICY=passive
unset ORCH_TEST_FOLDER XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME ORCH_DB ORCH_PLUGIN_PATH ORCH_HARDWARE ORCH_USER
[ -z "$memory" ] || export ORCH_TEST_MEMORY=$memory
"$@"
status=$?
left=$(find "$TMPDIR" ${memory:+"$memory"} -mindepth 1 -maxdepth 1 -printf '  %f\n')
if [ $status = 0 ] && [ -n "$left" ]; then
    printf 'FAILED: the test left temporary files:\n%s\n' "$left"
    exit 1
fi
[ $status -le 128 ] || { remove; trap - EXIT; kill -s $((status - 128)) $$; } # CTest shows which signal it was
exit $status
