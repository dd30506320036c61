# report.fits-the-page RECIPE: the report of a recipe whose trials have all run, as programs that make numbers up, fits: no box scrolls in
# a window of 800 pixels, every word of the PDF is on its page, charts are vectors and fonts embedded, and the article of --out is set by
# pdflatex, where it is installed. tests/cli/tests.cmake makes one test for each recipe.
# test: slow timeout=1800 each=hw3,hw4,hw7,lab5,lecture7
. "$(dirname "$0")/../cli/lib.sh"
cp -r "$SOURCE/recipes" .
echo '*.out' >.gitignore
recipe=recipes/$1.recipe
for plugin in $(sed -n 's/^ *\(.*[{ ]\)\{0,1\}plugin: *"\{0,1\}\([a-z][a-z0-9_-]*\).*/\2/p' "$recipe" | sort -u); do
    orch plugin show "$plugin" >/dev/null 2>&1 || skip "plugin '$plugin' is not built here"
done
ok python3 "$SOURCE/tests/report/made_up.py" "$recipe"
ok orch run "$recipe" -q
ok orch report "$recipe" --out out
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$browser" ]; then
    ok python3 "$SOURCE/tests/report/widths.py" out/index.html frame.html 800
    ok timeout 300 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$SCRATCH/chromium" \
        --virtual-time-budget=8000 --dump-dom "file://$PWD/frame.html"
    said=$(printf '%s' "$out" | sed -n 's|.*<p id="said">\([^<]*\)</p>.*|\1|p')
    case $said in
        'beyond 0, 0 of '[1-9]*) ;;
        *) _fail "in a window of 800 pixels: $said" ;;
    esac
fi
if command -v weasyprint >/dev/null && command -v pdftotext >/dev/null; then
    ok orch report "$recipe" --pdf page.pdf
    ok python3 "$SOURCE/tests/report/check_fit.py" page.pdf
    same "$(pdffonts page.pdf | tail -n +3 | awk '{print $(NF-4)}' | sort -u)" yes 'fonts embedded:'
    pictures=$(grep -o '<img ' out/index.html | wc -l)
    [ "$(pdfimages -list page.pdf | tail -n +3 | awk '$3 == "image"' | wc -l)" -le "$pictures" ] || _fail 'a chart is a bitmap'
fi
if command -v pdflatex >/dev/null; then
    cd out || exit 1
    ok pdflatex -interaction=nonstopmode -halt-on-error report.tex
    ! command -v pdftotext >/dev/null || ok python3 "$SOURCE/tests/report/check_fit.py" report.pdf
fi
exit 0
