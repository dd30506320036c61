#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the README's pictures of homework 4 from its runs ('orch run recipes/hw4.recipe' first):
#   docs/pictures/report.sh [BUILD-FOLDER [STORE]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
orch=$(cd "${1:-$here/../../build}" && pwd)/orch
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$orch" report "$here/../../recipes/hw4.recipe" ${2:+--db "$2"} --only 1.1b --only 4.2 --out "$scratch" --quiet
cp "$scratch"/charts/1.1b-*-validation-accuracy.png "$here/hw4-accuracy.png"
cp "$scratch"/charts/4.2-*.png "$here/hw4-curve.png"
