#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# orch-host starts once a trial: it may need the C library, and where their archives are missing GLib and jansson, nothing else.
# (A sanitizer's build needs its own libraries besides.)
set -eu
host=$1
if command -v readelf >/dev/null 2>&1; then
    needed=$(readelf -d "$host" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p')
else
    needed=$(objdump -p "$host" | sed -n 's/^ *NEEDED *//p')
fi
echo "$needed" | grep -q '^libc.so' || {
    echo "no libraries found in $host"
    exit 1
}
status=0
for library in $needed; do
    case $library in
        libglib-2.0.so.* | libjansson.so.* | libc.so.* | libm.so.* | libdl.so.*) ;;
        libasan.so.* | libubsan.so.* | ld-linux*) ;;
        *)
            echo "orch-host needs $library"
            status=1
            ;;
    esac
done
exit $status
