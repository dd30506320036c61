#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# bench/ddp.py with each PyTorch that is given, or that of the system: bench/ddp.sh BUILD [PYTHON...]. A build of orch is
# compared with the PyTorch that its adapter was built against; others are shown, and the script says so.
set -eu
build=${1:?usage: bench/ddp.sh BUILD [PYTHON...]}; shift
[ $# -gt 0 ] || set -- /usr/bin/python3
for python; do
    if "$python" -c 'import torch.distributed' 2>/dev/null; then
        "$python" "$(dirname "$0")/ddp.py" "$build"
    else
        echo "skipped: $python has no module torch"
    fi
done
