#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs torch_models.py with a python3 that has torchvision. Skipped without one.
# Models of half a gigabyte are copied: with huge pages that takes three quarters of the processor time.
export GLIBC_TUNABLES=glibc.malloc.hugetlb=1
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import torch.onnx, torchvision' 2>/dev/null; then
        exec "$python" "$ORCH_SOURCE_DIR/tests/onnx/torch_models.py" "$1"
    fi
done
echo "skipped: no python3 with torchvision"
exit 77
