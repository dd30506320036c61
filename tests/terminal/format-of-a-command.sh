# The help of a command that has a --format of its own does not promise '--format tsv' beside it.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
ok orch ls --help
has '--json, --format tsv, --db FILE'
ok orch export --help
has '--json, --db FILE, -C DIR and others'
has_not '--format tsv'
ok orch table --help
has 'text, tsv, csv'
has '--json, --db FILE'
