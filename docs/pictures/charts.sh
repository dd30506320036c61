#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the pictures of docs/charts.md and docs/search.md from runs of its own, in a scratch folder:
#   docs/pictures/charts.sh [BUILD-FOLDER [OUT-FOLDER]]
# The losses come out the same on every machine; times and forecasts do not. Test docs.pictures compares the texts.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
out=$(cd "${2:-$here}" && pwd)
PATH=$build:$PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$here/charts.recipe" "$scratch"
cd "$scratch"
git init -q -b main . && git add -A
git -c user.name=orch -c user.email=orch@example.org commit -qm runs
orch run charts.recipe --no-progress
orch plot --x epoch --y loss --by lr -w 'experiment = rates' --log-y \
    --title 'Training loss of the plugin pyexample' -o "$out/curves.svg"
orch plot --x batch --y wall_s --log-x --predicted -w 'experiment = batches' \
    --title 'Time of 30 epochs by batch size, measured and predicted' -o "$out/times.svg"
orch report charts.recipe -o report
cp "$(grep -l '<title.*tune: front<' report/charts/*.svg)" "$out/front.svg"
cp "$(grep -l '<title.*by lr and epochs<' report/charts/*.svg)" "$out/contour.svg"
