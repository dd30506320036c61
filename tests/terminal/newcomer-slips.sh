# Mistakes that beginners make in a recipe or on the command line: the message says how to correct them.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
recipe() { printf 'format: 1\nrecipe: y\nexperiments:\n  a:\n    plugin: sleep  # waits\n    sweep: { seconds: [0.1, 0.2] }\n' | sed "$1" >y.recipe; }
slip() {
    recipe "$1"
    fails 2 orch check y.recipe
    says "at: y.recipe:$2"
    says "hint: $3"
    same "$(grep -c ^orch: <<<"$err")" 1 "errors of $1"
}

# the parser stumbles over a line without a key one line later
slip 's/plugin: sleep/plugin sleep/' 6:5 'write a colon and a space in the line above'
slip 's/plugin: sleep/plugin:sleep/' 6:5 'write a colon and a space in the line above'
slip 's/plugin: sleep  # waits/plugin sleep  # a: b/' 6:5 'write a colon and a space in the line above'
slip 's/^    plugin/\xc2\xa0\xc2\xa0\xc2\xa0\xc2\xa0plugin/' 5:1 'write a plain space instead'
slip "s/recipe: y/&\nabout: Try: 'it' now/" 3: "put quotes around a text that holds ': '"
slip 's/^    sweep/   sweep/' 6:4 'begin the keys of one map in the same column' # all is well above
# shapes and numbers
slip 's/sweep: .*/sweep: [0.1, 0.2]/' 6:12 "write 'sweep: { NAME: ... }'"
slip 's/\[0.1, 0.2\]/[0,1, 0,25]/' 6: 'write decimal numbers with a point, not a comma'
slip 's/\[0.1, 0.2\]/[0.1, 0.1]/' 6: "for more trials of equal values, use 'repeat'"
orch plugin new mine --language python >"$SCRATCH/new" 2>&1
printf 'format: 1\nrecipe: y\nexperiments:\n  a:\n    plugin: mine\n    sweep: { epochs: "range(1, 100000000)" }\n' >y.recipe
fails 2 orch check y.recipe
says "'range(1, 100000000)' has 99999999 values, at most 100000 are allowed"
says 'hint: sweep fewer values'
sed 's/    sweep: .*/    with: { learning_rate: 0.1 }/' y.recipe >l.recipe
fails 2 orch check l.recipe
says "unknown parameter 'learning_rate'"
says "did you mean 'lr'?"

# one recipe at a time; an option of another command; a bundle; a file that is neither
recipe ''
cp y.recipe z.recipe
fails 2 orch check y.recipe z.recipe
says 'give one recipe at a time'
fails 2 orch try -x n=1 --notify true -- true
says "'orch run' has it; see 'orch try --help'"
says_not quiet
fails 2 orch try --notify true true
says "has it; put '--' before the command"
fails 2 orch run y.recipe --repeat 1
says "'orch try', 'orch compare' have it"
fails 2 orch report y.recipe --ipynb handin
says "--output DIR sets the folder of the notebooks"
ok orch run y.recipe --quiet
ok orch export --bundle m.orch
fails 2 orch import m.orch
says "'orch db merge FILE' merges a bundle"
fails 3 orch db merge y.recipe
says "'y.recipe' is neither a store nor a bundle"
says_not '--with'
# commits where runs are compared
git add y.recipe && git commit -qm one
fails 2 orch diff HEAD @last
says "'HEAD' is a commit, not a run"
says "'orch compare A B' compares the runs of two commits"
fails 2 orch diff @last nosuch
says "'nosuch' is not the key or the name of a run"
# a reference whose braces were forgotten is no path
printf 'format: 1\nrecipe: b\nexperiments:\n  pre: { plugin: train, with: { net: lenet5, dataset: synthetic } }\n  fine: { plugin: finetune, with: { weights: $pre.weights } }\n' >b.recipe
fails 2 orch check b.recipe
says "'\$pre.weights' is a reference without braces"
says "write '\${pre.weights}'"
says 'b.recipe:5:'
