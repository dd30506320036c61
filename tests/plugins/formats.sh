# 'orch plugin': ls, show, check and new.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
ok orch plugin ls
has sleep
has 'null'
ok orch plugin show sleep
has seconds
has duration
has 'timings'
ok orch plugin show sleep --json
same "$(json name)" sleep
fails 4 orch plugin show slep
says slep
says sleep
for language in python shell c; do
    ok orch plugin new "my$language" --language $language
    what=plugins/my$language/my$language.plugin
    if [ $language = c ]; then
        what=$(printf '%s\n' $out | sed -n 's/\.c$/.so/p' | head -n 1)
        cc -shared -fPIC -O1 -I"$SOURCE/include" -o "$what" "${what%.so}.c" || _fail 'the C skeleton does not compile'
        trust "$what"
    fi
    ok orch plugin check "$what"
    has_not failed
    ok orch plugin show "$what"
    fails 2 orch plugin new "my$language" --language $language
done
fails 2 orch plugin new 'My Plugin'
says 'My Plugin'
fails 2 orch plugin new x --language cobol
says cobol
for name in sleep 'null'; do ok orch plugin check $name; done
