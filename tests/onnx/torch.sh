#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs torch_models.py with a python3 that has torchvision and exports networks, which PyTorch 2.5 and later
# do with the module onnx. Skipped without one.
# Models of half a gigabyte are copied: with huge pages that takes three quarters of the processor time.
export GLIBC_TUNABLES=glibc.malloc.hugetlb=1
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import io, torch.onnx, torchvision
torch.onnx.export(torch.nn.ReLU(), torch.zeros(1), io.BytesIO())' >/dev/null 2>&1; then
        exec "$python" "$ORCH_SOURCE_DIR/tests/onnx/torch_models.py" "$1"
    fi
done
echo "skipped: no python3 with torchvision that exports networks (python3-torchvision, python3-onnx)"
exit 77
