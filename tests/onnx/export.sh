#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# export.sh ORCH TORCH_FORWARD [--small] [--markdown] [NET...]: runs export_models.py with a python3 that has the modules onnx and torch. Skipped
# without one.
for python in python3 /usr/bin/python3; do
    "$python" "$ORCH_SOURCE_DIR/tests/onnx/export_models.py" "$@"
    status=$?
    [ $status = 77 ] || [ $status = 127 ] || exit $status
done
echo "skipped: no python3 with the modules onnx and torch (python3-onnx, python3-torch)"
exit 77
