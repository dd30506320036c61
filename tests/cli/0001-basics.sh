. "$(dirname "$0")/lib.sh"
ok orch --version; has 'orch 0.'
ok orch help; has 'The five most used commands'; has 'db check'
ok orch help run; has 'usage: orch run'
ok orch run --help; has '--force'
fails 2 orch; says 'The five most used commands'
fails 2 orch rnu; says "unknown command 'rnu'"; says "did you mean 'orch run'"
fails 2 orch run; says "usage: orch run"
fails 2 orch ls --sttae ok; says "unknown option '--sttae'"; says "did you mean '--state'"
fails 2 orch db; says "'orch db info'"
fails 3 orch ls; says 'there is no store'; says "hint: run a recipe first"
fails 2 orch run no.recipe; says "no.recipe"
fails 3 orch -C /nowhere ls; says "cannot work in '/nowhere'"
# every command has help, an example of its usage, and a page in docs/commands that is what help says
mkdir pages man
ok orch help --markdown pages --man man
for page in pages/*.md; do
    cmp -s "$page" "$SOURCE/docs/commands/$(basename "$page")" ||
        _fail "docs/commands/$(basename "$page") is not what 'orch help' says: orch help --markdown docs/commands"
done
same "$(ls pages | sort)" "$(ls "$SOURCE/docs/commands" | sort)" 'the lists of pages'
for shell in bash zsh fish; do ok orch completion $shell; has 'plugin'; done
orch completion bash | bash -n || _fail 'the bash completion has a syntax error'
fails 2 orch completion tcsh; says 'bash, zsh or fish'
# a word that begins commands has help: what they are
for group in predictor gpu dataset measurements db net plugin; do
    ok orch $group --help; has "usage: orch $group COMMAND"; has "orch $group "; page=$out
    ok orch $group -h; same "$out" "$page"; ok orch -C . $group --help; same "$out" "$page"; ok orch help $group; same "$out" "$page"
done
ok orch predictor --help; has "orch predictor train   train predictors on the store's runs and measurements"; has_not 'orch predict '
fails 2 orch predictor nonsense --help; says 'unknown command'
fails 2 orch nonsense --help; says 'unknown command'
