# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced after tests/cli/lib.sh: finds a headless Chromium, or skips the test. walk SCRIPT: runs a script beside it on the
# page of the server at $base. With ORCH_SHOTS=FOLDER it leaves pictures there.
PYTHON=
for p in python3 /usr/bin/python3; do "$p" -c 'import selenium' 2>/dev/null && PYTHON=$p && break; done
[ -n "$PYTHON" ] || skip 'python3-selenium is not installed (./build.sh browser)'
[ -n "$(command -v chromium)" ] && [ -n "$(command -v chromedriver)" ] || skip 'chromium and chromium-driver are not installed (./build.sh browser)'
walk() {
    PYTHONDONTWRITEBYTECODE=1 ok "$PYTHON" "$(dirname "$0")/$1" "$base" "$(command -v chromium)" "$(command -v chromedriver)" "${ORCH_SHOTS:-}"
}
