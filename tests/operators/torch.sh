#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs torch_models.py, or the script beside this one that is named, with a python3 that has what it needs. Skipped without one.
for python in python3 /usr/bin/python3; do
    "$python" "$ORCH_SOURCE_DIR/tests/operators/${2:-torch_models.py}" "$1"
    status=$?
    [ $status = 77 ] || [ $status = 127 ] || exit $status
done
echo "skipped: no python3 with PyTorch and torchvision (python3-torchvision)"
exit 77
