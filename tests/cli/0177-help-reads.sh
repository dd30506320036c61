# 'orch help': each command's line is short, begins in lower case, and has none of the words that only orch's
# authors understand.
. "$(dirname "$0")/lib.sh"
ok orch help
printf '%s\n' "$out" | sed -n '/^Running:/,/^.orch COMMAND/s/^  \([a-z ]\{19\}\) \(.*\)/\2/p' >lines
count=$(wc -l <lines); [ "$count" -gt 60 ] || _fail "only $count lines were found"
long=$(awk 'length($0) >= 72' lines); [ -z "$long" ] || _fail "72 columns or more: $long"
odd=$(grep -vE '^[a-z]' lines | grep -v '^the\|^time\|^a '); [ -z "$odd" ] || _fail "no lower case: $odd"
words=$(grep -wiE 'spares?|asked|told|care|cure|untried|speaks|lies|stands' lines); [ -z "$words" ] || _fail "of our own: $words"
has_not 'Care:'; has 'Maintenance:'
