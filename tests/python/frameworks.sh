#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Each callback of orch.callbacks with its real framework: every series equals the framework's own history. Those that the Python
# of ORCH_FRAMEWORKS_PYTHON (else python3) lacks are named as skipped.
# test: slow timeout=900
. "$(dirname "$0")/../cli/lib.sh"
python=${ORCH_FRAMEWORKS_PYTHON:-python3}
mkdir "$SCRATCH/tmp" # what the frameworks leave there
export PYTHONPATH=$SOURCE/share/python CUDA_VISIBLE_DEVICES= TMPDIR=$SCRATCH/tmp
# a framework that is not there, and a name that is not
fails 1 env ORCH_RECORD=off python3 -S -c 'from orch.callbacks import Keras'
says 'its framework'
says 'hint: install it into the environment of this Python'
fails 1 python3 -S -c 'from orch.callbacks import Keros'
says "cannot import name 'Keros'"
ran= lacking=
for name in sklearn xgboost xgboost_cv lightgbm lightgbm_cv catboost keras lightning transformers fastai stable_baselines3; do
    _run "$python" "$SOURCE/tests/python/frameworks.py" $name
    case $status in
    0) ran="$ran $name" ;;
    77) lacking="$lacking $name" ;;
    *) _fail "$name: $err" ;;
    esac
done
[ -n "$ran" ] || skip "$python has none of the frameworks$lacking: the rest was tested"
echo "tested with$ran; not here:${lacking:- none}"
