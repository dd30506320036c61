# Malicious recipes are refused at once, with the place of the error, bounded output and no store.
# (tests/unit/test_recipe.c and test_yaml.c test every message.)
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
python3 - <<'P'
import random
head = "format: 1\nrecipe: t\n"
files = {
    "big": head + "x: " + "y" * (10 << 20) + "\n",
    "duplicates": head + "experiments: {}\n" * 20000,
    "aliases": head + "a: &a [" + "x," * 9 + "x]\n" +
               "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)),
    "depth": head + "with: " + "[" * 100000,
    "nul": head + "about: \0\n",
    "empty": "",
}
random.seed(1)
for name, text in files.items():
    open(name + ".recipe", "w").write(text)
open("junk.recipe", "wb").write(bytes(random.randrange(256) for _ in range(100000)))
P
mkdir folder.recipe
mkfifo pipe.recipe
for verb in check plan run config; do
    while IFS='|' read -r name what; do
        fails 2 timeout 300 orch $verb "$name.recipe"
        says "$what"
        says "at: $name.recipe"
        [ ${#err} -lt 40000 ] || _fail "${#err} bytes of findings"
    done <<'CASES'
big|larger than 1048576 bytes
duplicates|duplicate key 'experiments' (first at line 3, column 1)
duplicates|more findings)
aliases|anchors ('&name') are not allowed
depth|nested deeper than 64 levels
junk|is not UTF-8 text
nul|holds a NUL byte
empty|'empty.recipe' is empty
folder|not a regular file
pipe|not a regular file
CASES
done
[ ! -e .orch ] || _fail 'a hostile recipe left a store behind'
