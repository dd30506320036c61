# 'orch help': each command's line is short, begins in lower case, and has none of the words that only orch's
# authors understand.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ok orch help -a
printf '%s\n' "$out" | sed -n '/^Run:/,/^.orch help/s/^  \([a-z ]\{19\}\) \(.*\)/\2/p' >lines
count=$(wc -l <lines)
[ "$count" -gt 60 ] || _fail "only $count lines were found"
long=$(awk 'length($0) >= 72' lines)
[ -z "$long" ] || _fail "72 columns or more: $long"
odd=$(grep -vE '^[a-z]' lines | grep -v '^the\|^time\|^a ')
[ -z "$odd" ] || _fail "no lower case: $odd"
words=$(grep -wiE 'spares?|asked|told|care|cure|untried|speaks|lies|stands' lines)
[ -z "$words" ] || _fail "of our own: $words"
# one screen: the overview, and the short help of every command
screen() { # screen LINES WORDS COMMAND...
    local lines=$1 words=$2
    shift 2
    ok "$@"
    [ "$(wc -l <<<"$out")" -le "$lines" ] || _fail "'$*' prints $(wc -l <<<"$out") lines, and not at most $lines"
    [ "$(wc -w <<<"$out")" -le "$words" ] || _fail "'$*' prints $(wc -w <<<"$out") words, and not at most $words"
}
screen 60 400 orch help
ok orch help -a
commands=$(printf '%s\n' "$out" | sed -n 's/^  \([a-z]*\( [a-z]*\)\{0,1\}\)  .*/\1/p')
while read -r command; do
    # shellcheck disable=SC2086
    screen 60 350 orch $command -h
    long=$(grep -E '^  (-.,|   ) --' <<<"$out" | cut -c34- | awk 'length($0) > 72')
    [ -z "$long" ] || _fail "orch $command -h: longer than 72 columns: $long"
    # shellcheck disable=SC2086
    ok orch help $command
    has_not 'docs/'
done <<<"$commands"
[ "$(wc -l <<<"$commands")" -gt 70 ] || _fail "only these commands were found: $commands"
# every topic prints its page
ok orch help topics
topics=$(awk '{ print $1 }' <<<"$out")
[ "$(wc -l <<<"$topics")" -gt 20 ] || _fail "only these topics were found: $topics"
for topic in $topics; do
    ok orch help "$topic"
    has '# '
done
for topic in recipes filters search forecasts sharing checkpoints exit-status environment files; do
    grep -qx "$topic" <<<"$topics" || _fail "no topic '$topic'"
done

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
