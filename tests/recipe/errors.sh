# Errors of recipes, each with file, line, column and a hint.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >bad.recipe <<'R'
format: 1
recipe: bad
experimants: {}
experiments:
  nap:
    plugin: sleep
    with: { secnods: 1, seconds: fast }
  other:
    plugin: slep
R
fails 2 orch check bad.recipe
says "experimants"
says "bad.recipe:3:1"
says "did you mean 'experiments'"
says "unknown parameter 'secnods'"
says "bad.recipe:7:13"
says "did you mean 'seconds'"
says "'fast'"
says "bad.recipe:7:"
says "slep"
fails 2 orch run bad.recipe
[ ! -e .orch ] || _fail 'a broken recipe left a store behind'
sleeps good 0.01
fails 2 orch check good.recipe -s seconds=2d
says maximum
fails 2 orch check good.recipe -s sconds=1
says "did you mean"
fails 2 orch check good.recipe --profile laptop
says laptop
fails 2 orch check good.recipe nip
says nip
fails 2 orch run good.recipe --part 3/2
says 'K/N'
ok orch config good.recipe --origin
has 'good.recipe:6'
ok orch config good.recipe -s seconds=0.5 --origin
has '500 ms'
has '-s'
