#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs test_weights (the argument) on files that the installed PyTorch writes. Skipped without one.
set -e
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import torch' 2>/dev/null; then
        folder=$(mktemp -d)
        trap 'rm -rf "$folder"' EXIT
        "$python" "$ORCH_SOURCE_DIR/tests/weights/make_weights.py" "$folder"
        ORCH_WEIGHTS_DIR=$folder "$1"
        exit
    fi
done
echo "skipped: no python3 with torch"
exit 77
