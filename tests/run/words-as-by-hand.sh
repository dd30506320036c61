# A program gets the words of its command, and the values of its settings, byte by byte as by hand: also letters outside of
# ASCII, which came as an empty word, bytes of other encodings, newlines and what a shell or a recipe could mean something by.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >args.py <<'P'
import os, sys
print([os.fsencode(word) for word in sys.argv[1:]])
P
echo .orch >.gitignore
git add -A
git commit -qm one
words=('ünï cøde' 'a€b' '日本 語' '🙂' $'e\xcc\x81' $'\x80b\xc3' $'ü\xffü' $'\xc3' $'a\nb' $'\ttab' $'cr\r' '' ' ' 'a"b' "a'b" 'a\b' '$HOME' 'x${HOME}ü'
    '$$' '{}' '{"a": 1}' 'über{{k}}' '-' '--' '#no' '!x' '%s' '*' '[a, b]' 'null' '~')
by_hand=$(python3 args.py 1 "${words[@]//'{{k}}'/'{k}'}")
ok orch try -x k=1 -- python3 args.py {k} "${words[@]}"
ok orch log @last
same "$out" "$by_hand" 'the words'
ok orch try -x k=1 -- python3 args.py 'ä{k}ö' $'\xff{k}é'
ok orch log @last
same "$out" "$(python3 args.py 'ä1ö' $'\xff1é')" 'words with a value'
ok orch show @last
has "args.py 'ä{k}ö'"
# values, also in the plan of a search and in an artifact's path
ok orch try -x name=ü,'日本' -s note='größe €' --artifact out='{name}.txt' -- sh -c 'python3 args.py "$1" "$2" && echo x >"$1.txt"' sh '{name}' '{note}'
for name in ü 日本; do
    key=$(orch ls --json --where "name = '$name'" | "$BUILD/json_get" runs.0.key)
    ok orch log "$key"
    same "$out" "$(python3 args.py "$name" 'größe €')" 'values'
    ok orch show "$key" --artifact out
    same "$out" x 'the artifact'
done
mkdir 'Ordner ü'
echo 5 >'Ordner ü/Daten ä.txt'
ok orch try -- cat 'Ordner ü/Daten ä.txt'
ok orch log @last
same "$out" 5
