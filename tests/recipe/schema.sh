#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test: quick
# 'orch config --schema' prints JSON Schemas that the reference implementation accepts. All recipes and plugins of the tree
# fit, and broken ones, which orch refuses, do not.
. "$(dirname "$0")/../cli/lib.sh"
judge_by jsonschema ruamel.yaml
orch config --schema >"$SCRATCH/recipe.json"
orch config --schema plugin >"$SCRATCH/plugin.json"
ok "$judge" "$SOURCE/tests/recipe/schema.py" "$SCRATCH/recipe.json" "$SCRATCH/plugin.json" "$SOURCE"
fails 2 orch config --schema nosuch
says "there is no JSON Schema for the output of 'nosuch'"
fails 2 orch config --schema log
says 'it prints the output of a trial'
fails 2 orch config
says 'usage: orch config'
