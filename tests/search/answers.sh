# recipes/search.recipe runs, and tests/answers.py recomputes the numbers of item 'search' by SciPy, and finds one that differs.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
/usr/bin/python3 -c 'import scipy, yaml' 2>/dev/null || skip 'SciPy or PyYAML is not installed (python3-scipy, python3-yaml)'
cp "$SOURCE"/recipes/search.recipe "$SOURCE"/recipes/search_script.* .
ok orch check search.recipe
sed -i 's/trials: 40/trials: 12/; s/    objective/    repeat: 2\n    objective/' search.recipe
ok orch run search.recipe -q -j 2
ok orch report search.recipe
has 'Best of 12 settings of tune'
has 'importance'
ok /usr/bin/python3 "$SOURCE/tests/answers.py" search.recipe
has ' 0 differ; sections not recomputed: none'
count=$(sed -n 's/ numbers recomputed.*//p' <<<"$out")
[ "$count" = 8 ] || _fail "$count numbers were recomputed"
# exported values that are not those of the report
mkdir other
cat >other/orch <<'P'
#!/usr/bin/python3
import json, os, subprocess, sys
done = subprocess.run([os.environ["REAL_ORCH"], *sys.argv[1:]], stdout=subprocess.PIPE)
text = done.stdout.decode()
if sys.argv[1] == "export" and "points" in sys.argv:
    rows = json.loads(text)
    for row in rows:
        row["value"] += 0.001
    text = json.dumps(rows)
if sys.argv[1] == "export" and "points" not in sys.argv:
    rows = json.loads(text)
    for row in rows:
        row.pop("result.val_accuracy", None)
    text = json.dumps(rows)
sys.stdout.write(text)
sys.exit(done.returncode)
P
chmod +x other/orch
REAL_ORCH=$(command -v orch) fails 1 /usr/bin/python3 "$SOURCE/tests/answers.py" --orch other/orch search.recipe
has 'tune, best'
has 'what is left'
