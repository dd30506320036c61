# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by the tests of wheels, after which lib.sh need not be. Skips where a wheel cannot be made or tried.
#
#   make_wheel             installs the build into $SCRATCH/stage and makes a wheel of it in $SCRATCH/dist
#   new_environment DIR    a virtual environment of the test's Python; sets v
#   pip ARG...             its pip, which asks no network
#   away                   takes the build off the PATH
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
PYTHON=${ORCH_PYTHON:-python3}
command -v patchelf >/dev/null || skip 'no patchelf, which wheels are made with (Debian: patchelf)'
"$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || skip "no virtual environments with '$PYTHON' (Debian: python3-venv)"

make_wheel() {
    ok cmake --install "$BUILD" --prefix "$SCRATCH/stage"
    ok env CMAKE_INSTALL_ALWAYS=1 cmake --install "$BUILD" --prefix "$SCRATCH/stage" --component alone
    ok "$PYTHON" "$SOURCE/packaging/wheel.py" "$SCRATCH/stage" "$SCRATCH/dist"
    rm -rf "$SCRATCH/stage"
}
new_environment() {
    mkdir -p "$1"
    v=$(realpath "$1")
    shift
    ok "$PYTHON" -m venv "$@" "$v"
}
pip() { "$v/bin/python" -m pip --disable-pip-version-check "$@"; }
away() {
    PATH=${PATH//$BUILD:/}
    ! command -v orch >/dev/null || skip "an orch is installed here ($(command -v orch))"
}
