# orch outside of a git repository: recipes, stores and plugins.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
rm -rf .git
sleeps naps 0.01
ok orch run naps.recipe
says 'without a version of the code'
says '1 ok'
ok orch show @last
has unversioned
fails 3 orch --db other.db ls
says other.db
