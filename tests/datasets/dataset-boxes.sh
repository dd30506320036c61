# Sets of images with boxes are in the catalogue: size, licence, what is there and what is to be fetched by hand.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
export ORCH_DATA=$SCRATCH/data
row() {
    ok orch dataset ls --json
    out=$(python3 -c 'import json, sys; print(*(f"{k}={v}" for s in json.load(sys.stdin)["data"] if s["name"] == sys.argv[1] for k, v in s.items()), sep="\n")' "$1" <<<"$out")
}
row voc2007
has "download=$((460032000 + 451020800))"
has 'licence='
has '20 classes'
has 'here=None'
row open-images
has "by hand: 'orch help data'"
has 'CC-BY'
[ -f "$SOURCE/docs/data.md" ] || _fail 'the page is not there'
# one half of the set is not the set
mkdir -p "$ORCH_DATA/voc2007/trainval"
row voc2007
has 'here=None'
mkdir -p "$ORCH_DATA/voc2007/test"
row voc2007
has "here=$ORCH_DATA/voc2007"
exit 0
