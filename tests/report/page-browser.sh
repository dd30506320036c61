# The report's page in a real browser: no resource is refused or fetched from elsewhere, it fits the width of a phone,
# and it prints.
# test: slow timeout=900
. "$(dirname "$0")/../cli/lib.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip 'no chromium'
. "$SOURCE/tests/cli/paper.sh"
ok orch report recipes/hw9.recipe --out out
browse() { timeout 300 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --user-data-dir="$SCRATCH/chromium" --virtual-time-budget=4000 "$@"; }
ok browse --enable-logging=stderr --dump-dom "file://$PWD/out/index.html"
has 'Made by orch'
says_not 'Refused to'
says_not 'CONSOLE'
# the width that it takes in a window of 390 pixels, in light and dark alike
python3 - <<'P'
import json
page = open("out/index.html").read().replace("Content-Security-Policy", "x-none").replace("</", "<\\/")
open("phone.html", "w").write("""<!DOCTYPE html><body><iframe style="width:390px;height:800px;border:0"></iframe>
<p id="said"></p><script>
const frame = document.querySelector("iframe");
frame.onload = () => {
    const d = frame.contentDocument, tables = [...d.querySelectorAll("main table")];
    document.getElementById("said").textContent = "beyond " + (d.documentElement.scrollWidth - d.documentElement.clientWidth) +
        " tables " + tables.length + " boxed " + tables.filter(t => t.closest(".scroll")).length;
};
frame.srcdoc = PAGE;
</script>""".replace("PAGE", json.dumps(page).replace("<\\\\/", "<\\/")))
P
ok browse --dump-dom "file://$PWD/phone.html"
same "$(printf '%s' "$out" | sed -n 's|.*<p id="said">\([^<]*\)</p>.*|\1|p')" 'beyond 0 tables 5 boxed 5'
ok browse --print-to-pdf="$PWD/page.pdf" "file://$PWD/out/index.html"
[ "$(head -c 5 page.pdf)" = '%PDF-' ] || _fail 'it does not print'
if command -v pdftotext >/dev/null; then
    # what is folded on the screen is there on paper
    pdftotext page.pdf page.txt
    grep -q 'setting' page.txt || _fail 'the runs are not printed'
fi
exit 0
