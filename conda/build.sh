#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# conda calls this in a copy of the tree (conda/recipe.yaml).
set -eu
rm -rf build # of the clone, made with other libraries
export ORCH_PREFIX=$PREFIX
./build.sh build
./build.sh install --prefix "$PREFIX"
mkdir -p "$SP_DIR"
cp -r share/python/orch "$SP_DIR/"
