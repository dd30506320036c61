# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced after lib.sh: ends a program by SIGKILL at a call of the system that is given by its number, so that
# the instants are the same on every machine (tests/fault/preload.c).
FAULT_LIBRARY=$BUILD/liborch_fault.so
[ -e "$FAULT_LIBRARY" ] || skip 'liborch_fault.so is not built'
case $(ldd "$BUILD/orch") in *libasan* | *libtsan*) skip 'a sanitizer wants to be preloaded first itself' ;; esac

# killed_at N PROGRAM CMD...: PROGRAM, which CMD is or starts, is killed at its call N; $SCRATCH/hit says which it was
killed_at() {
    local n=$1 program=$2
    shift 2
    rm -f "$SCRATCH/hit"
    LD_PRELOAD=$FAULT_LIBRARY ORCH_FAULT_PROGRAM=$program ORCH_FAULT_UNDER=$PWD ORCH_FAULT_AT=$n ORCH_FAULT_ERRNO=kill \
        ORCH_FAULT_LOG=$SCRATCH/hit "$@"
}
