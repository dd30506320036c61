# The PDF of a report fills its pages, its charts are readable, and it lists the runs of a part once.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
command -v weasyprint >/dev/null && command -v pdftoppm >/dev/null || skip 'weasyprint or pdftoppm is missing (./build.sh paper)'
cat >fit.sh <<'P'
for i in 0 1 2 3 4 5 6 7 8 9; do echo "{\"loss\": $((20 - i)), \"step\": $i}"; done
P
cat >fit.plugin <<'P'
plugin: fit
command: [sh, fit.sh]
metrics_from: lines
parameters: { rate: { type: real, default: 1 } }
metrics: { loss: { better: min, step: epoch } }
P
{
    printf 'format: 1\nrecipe: fit\nexperiments:\n  fit: { plugin: ./fit.plugin, sweep: { rate: [1, 2, 3] }, repeat: 2 }\nreport:\n'
    for i in 1 2 3 4 5 6; do
        printf '  - { question: 1.%s, points: 2, title: "Loss, part %s", plot: { x: epoch, y: loss, by: rate } }\n' $i $i
        printf '  - { question: 1.%s, title: "Loss again, part %s", plot: { x: epoch, y: loss, by: rate, log_y: true } }\n' $i $i
        printf '  - { question: 1.%s, title: Final loss, table: { rows: rate, value: last loss } }\n' $i
    done
} >fit.recipe
ok orch run fit.recipe -q
ok orch report fit.recipe --pdf fit.pdf
says 'wrote fit.pdf'
pdftoppm -r 20 -gray fit.pdf page
python3 - page-*.pgm <<'P' || _fail 'a page is half empty'
import re, sys
pages = []
for path in sorted(sys.argv[1:]):
    data = open(path, "rb").read()
    width, height = map(int, re.match(rb"P5\s+(\d+)\s+(\d+)\s+255\s", data).groups())
    rows = [data[len(data) - width * height:][y * width:(y + 1) * width] for y in range(int(height * .93))]  # above the page's number
    pages.append(max(y for y, row in enumerate(rows) if min(row) < 200) / len(rows))
print(" ".join(f"{p:.2f}" for p in pages))
full = pages[:-1]
assert len(full) > 3 and min(full) > .55 and sum(full) / len(full) > .8, pages
P
pdftotext -layout fit.pdf fit.txt
same "$(grep -c 'Made of 6 runs' fit.txt)" 6 'lines with runs, one a part:'
same "$(grep -c 'This alone' fit.txt)" 6 'commands, one a part:'
exit 0
