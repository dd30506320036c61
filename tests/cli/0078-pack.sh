# A pack and its verification: every number of the report is computed again from the rows; what was
# changed afterwards is found and named.
. "$(dirname "$0")/lib.sh"
. "$SOURCE/tests/cli/paper.sh"
ok orch pack recipes/hw9.recipe hw9.orch
has 'hw9.orch: 6 runs'
