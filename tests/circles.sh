#!/usr/bin/env bash
# No two files of a folder call each other in a circle, but those of docs/circles.txt; and no two .c files
# have the same name. A new circle and a repeated name are found.
set -u
root=$1 place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/docs" "$place/lib/a" && touch "$place/docs/circles.txt"
printf 'int orch_one(void)\n{\n    return orch_two();\n}\n' >"$place/lib/a/one.c"
printf '/* orch_one() is only named */\nint orch_two(void)\n{\n    struct orch_one *three;\n    return 0;\n}\n' >"$place/lib/a/two.c"
python3 "$root/tests/circles.py" "$place" 2 || { echo "a circle is seen where there is none"; exit 1; }
printf 'static int other(void)\n{\n    return orch_one();\n}\n' >>"$place/lib/a/two.c"
python3 "$root/tests/circles.py" "$place" 2 >"$place/said" 2>&1 && { echo "a circle is not found"; exit 1; }
grep -q 'circle: lib/a/one.c lib/a/two.c' "$place/said" || { cat "$place/said"; exit 1; }
echo 'lib/a/one.c lib/a/two.c: on purpose' >"$place/docs/circles.txt"
python3 "$root/tests/circles.py" "$place" 2 || { echo "a listed circle fails"; exit 1; }
echo 'lib/a/one.c lib/a/three.c: gone' >>"$place/docs/circles.txt"
python3 "$root/tests/circles.py" "$place" 2 >/dev/null 2>&1 && { echo "a line that is out of date is not found"; exit 1; }
printf 'lib/a/one.c lib/a/two.c: on purpose\n' >"$place/docs/circles.txt"
mkdir "$place/lib/c" && printf 'int orch_four(void)\n{\n    return orch_one();\n}\n' >"$place/lib/c/four.c"
printf 'static int more(void)\n{\n    return orch_four();\n}\n' >>"$place/lib/a/two.c"
python3 "$root/tests/circles.py" "$place" 2 >"$place/said" 2>&1 && { echo "a circle of folders is not found"; exit 1; }
grep -q '^circle: lib/a lib/c$' "$place/said" || { cat "$place/said"; exit 1; }
rm -r "$place/lib/c"
mkdir "$place/lib/b" && for i in $(seq 40); do : >"$place/lib/b/file_$i.c"; done
python3 "$root/tests/circles.py" "$place" 2 >"$place/said" 2>&1 && { echo "a wide folder is not found"; exit 1; }
grep -q '^wide: lib/b has 40 .c files' "$place/said" || { cat "$place/said"; exit 1; }
rm -r "$place/lib/b"
mkdir "$place/lib/b" && echo 'int three(void);' >"$place/lib/b/one.c"
python3 "$root/tests/circles.py" "$place" 2 >"$place/said" 2>&1 && { echo "a repeated name is not found"; exit 1; }
grep -q '^repeated file name: lib/a/one.c lib/b/one.c$' "$place/said" || { cat "$place/said"; exit 1; }
rm -r "$place/lib/b" && printf 'int bare(void)\n{\n    return 0;\n}\n' >"$place/lib/a/three.c"
python3 "$root/tests/circles.py" "$place" 2 >"$place/said" 2>&1 && { echo "a name without prefix is not found"; exit 1; }
grep -q '^no prefix: lib/a/three.c: bare$' "$place/said" || { cat "$place/said"; exit 1; }
python3 "$root/tests/circles.py" "$root" 300
