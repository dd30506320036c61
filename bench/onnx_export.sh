#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# onnx_export.sh [NET...]: the table of exported networks in bench/results. Needs './build.sh torch', the tests, and a python3
# with the modules onnx and torch; with the module onnxruntime the files are run by ONNX Runtime.
set -eu
cd "$(dirname "$0")/.."
build=${ORCH_BUILD_DIR:-build}
ORCH_SOURCE_DIR=$PWD ORCH_TORCH=$build/plugins/common/orch-torch.so exec tests/onnx/export.sh "$build/orch" "$build/torch_forward" --markdown "$@"
