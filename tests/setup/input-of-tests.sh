# 'ok' and 'fails' (lib.sh) give a command no input: a text behind << that is meant for it would never be read, and a
# program of checks in it would never run.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
unread() { grep -nE '^ *(ok|fails [0-9]+) [^;|&]*[^<]<<[^<]' "$@"; }
printf "ok python3 - <<'P'\nok orch ls; cat <<P\nok orch db info; grep -c x <<<y\n" >sample
same "$(unread sample)" "1:ok python3 - <<'P'" 'what is found in the sample:'
out=$(unread "$SOURCE"/tests/*/*.sh) && _fail 'a text that no command reads; write: command <<... || _fail'
# one statement a line, so that the line of a failure says which ('shfmt -i 4 -ci -w FILE' does it)
crowded() { grep -nE '^[^#]*; (ok|fails [0-9]+|has|has_not|says|says_not|same) ' "$@"; }
printf 'ok orch ls; %s a\nok orch ls\n# it; has none\n' has >sample
same "$(crowded sample | cut -d: -f1)" 1 'the line that is found in the sample:'
out=$(crowded "$SOURCE"/tests/*/*.sh) && _fail 'several statements on a line'
exit 0
