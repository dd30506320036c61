#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs torch_models.py with a python3 that has torchvision and exports networks, which PyTorch 2.5 and later
# do with the module onnx. Skipped without one.
# Models of half a gigabyte are copied: with huge pages that takes three quarters of the processor time.
export GLIBC_TUNABLES=glibc.malloc.hugetlb=1
for python in python3 /usr/bin/python3; do
    "$python" "$ORCH_SOURCE_DIR/tests/onnx/torch_models.py" "$1"
    status=$?
    [ $status = 77 ] || [ $status = 127 ] || exit $status
done
echo "skipped: no python3 with torchvision that exports networks (python3-torchvision, python3-onnx)"
exit 77
