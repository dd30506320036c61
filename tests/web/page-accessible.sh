# The page against the rules of WCAG 2.1, levels A and AA, by axe-core: every page, light and dark. axe-core comes with the
# Python package axe-core-python ('pip install axe-core-python'); without it the test is skipped.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/browser.sh"
AXE=${ORCH_AXE:-$(for p in "$PYTHON" python3 /usr/bin/python3; do "$p" -c 'import axe_core_python, os; print(os.path.join(os.path.dirname(axe_core_python.__file__), "axe.min.js"))' 2>/dev/null && break; done)}
[ -f "$AXE" ] || skip 'axe-core is not installed (pip install axe-core-python, or ORCH_AXE=axe.min.js)'
export AXE
. "$(dirname "$0")/store.sh"
serve
walk accessible.py
unserve
