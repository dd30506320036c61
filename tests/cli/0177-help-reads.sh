# 'orch help': each command's line is short, begins in lower case, and has none of the words that only orch's
# authors understand.
. "$(dirname "$0")/lib.sh"
ok orch help
printf '%s\n' "$out" | sed -n '/^Running:/,/^.orch COMMAND/s/^  \([a-z ]\{19\}\) \(.*\)/\2/p' >lines
count=$(wc -l <lines)
[ "$count" -gt 60 ] || _fail "only $count lines were found"
long=$(awk 'length($0) >= 72' lines)
[ -z "$long" ] || _fail "72 columns or more: $long"
odd=$(grep -vE '^[a-z]' lines | grep -v '^the\|^time\|^a ')
[ -z "$odd" ] || _fail "no lower case: $odd"
words=$(grep -wiE 'spares?|asked|told|care|cure|untried|speaks|lies|stands' lines)
[ -z "$words" ] || _fail "of our own: $words"
has_not 'Care:'
has 'Maintenance:'

# the help of each parameter, metric and artifact of a plugin can be understood alone: it says what the thing is, and
# refers to no other line
for plugin in "$BUILD"/plugins/*.so "$SOURCE"/plugins/wrap/*.plugin; do
    name=${plugin##*/}
    ok orch plugin show "${name%.*}" --json
    printf '%s\n' "$out" >>plugins.json
done
python3 - plugins.json >helps <<'P' || _fail 'no help texts were found'
import json, sys
decoder, text, at, count = json.JSONDecoder(), open(sys.argv[1]).read().strip(), 0, 0
while at < len(text):
    plugin, at = decoder.raw_decode(text, at)
    while at < len(text) and text[at].isspace():
        at += 1
    for rows in plugin.values():
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, dict) and row.get("help"):
                count += 1
                print(plugin.get("name"), row.get("name"), row["help"], sep="\t")
sys.exit(count < 400)
P
odd=$(awk -F'\t' '$3 ~ /^(of|that|those|their|its|the same|the others|likewise)( |$)/ || $3 ~ /so (long|many|much)/' helps)
[ -z "$odd" ] || _fail "not to be understood alone: $odd"
