# A parameter that has no effect in a setting, as the plugin's check says, is no part of the trial's identity there: such
# trials run once, and each series of a report has the run.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
mkdir plugins
cat >plugins/par.c <<'C'
#include <orch/plugin.h>
struct params { int64_t workers; const char *how; };
static const char *const HOWS[] = {"strong", "weak", NULL};
static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, workers, ORCH_INT, .def = "1", .min = "1", .max = "8", .help = "workers"),
    ORCH_PARAM(struct params, how, ORCH_ENUM, .def = "strong", .choices = HOWS, .help = "kind of scaling"),
};
static const struct orch_metric RESULTS[] = {{.name = "took", .unit = "s", .better = ORCH_BETTER_MIN, .help = "time"}};
static int check(const void *params, const struct orch_host *host)
{
    if (((const struct params *)params)->workers == 1 && orch_host_has(host, no_effect))
        host->no_effect(host, "how");
    return ORCH_OK;
}
static int run(void *state, const void *params, const struct orch_host *host)
{
    (void)state;
    host->result(host, "took", 8.0 / (double)((const struct params *)params)->workers);
    return ORCH_OK;
}
static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD, .name = "par", .version = "1.0.0", .summary = "a made plugin", .licence = "MIT",
    .params_bytes = sizeof(struct params), ORCH_TABLE(params, PARAMS), ORCH_TABLE(metrics, RESULTS), .check = check, .run = run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
C
sed -i '$d' plugins/par.c
tail -n 3 "$SOURCE/plugins/null/null.c" | grep ORCH_ >>plugins/par.c
ok cc -std=c11 -shared -fPIC -I"$SOURCE/include" -o plugins/par.so plugins/par.c
trust plugins/par.so
cat >t.recipe <<'R'
format: 1
recipe: t
experiments:
  strong: { plugin: ./plugins/par.so, with: { how: strong }, sweep: { workers: [1, 2] }, repeat: 2 }
  weak: { plugin: ./plugins/par.so, with: { how: weak }, sweep: { workers: [1, 2] }, repeat: 2 }
report:
  - { title: Speedup, speedup: { value: result took, by: how } }
  - { title: Weak alone, plot: { x: workers, y: result took, by: how, where: "how = weak" } }
  - { title: Strong alone, plot: { x: workers, y: result took, by: how, where: "how = strong and took > 0" } }
R
ok orch run t.recipe --json
same "$(json ended.ok)" 6 'runs'
ok orch plan t.recipe --json
same "$(json left)" 0
ok orch report t.recipe
has_not missing
ok orch report t.recipe --json
python3 - "$SCRATCH/out" <<'P' || _fail 'both series have the one base'
import json, sys
sections = json.load(open(sys.argv[1]))["sections"]
blocks = sections[0]["blocks"]
rows = next(b["rows"] for b in blocks if b["kind"] == "table")
got = {(r["how"], r["workers"]): r["took_(s)"] for r in rows}
assert got == {("strong", 1): 8, ("strong", 2): 4, ("weak", 1): 8, ("weak", 2): 4}, rows
# a filter is of the setting that is asked for, whichever the run that serves it was recorded with
for section, how in ((sections[1], "weak"), (sections[2], "strong")):
    lines = [s for b in section["blocks"] if b["kind"] == "chart" for s in b["chart"]["series"] if s["role"] == "measured"]
    assert [[p["x"] for p in s["points"]] for s in lines] == [[1, 2]], (how, lines)
P
# the parameter without effect is no reason why the changed plugin's trials are stale
sed -i 's/"1.0.0"/"1.0.1"/' plugins/par.c
ok cc -std=c11 -shared -fPIC -I"$SOURCE/include" -o plugins/par.so plugins/par.c
trust plugins/par.so
ok orch plan t.recipe --all
has stale
has_not 'how was'
has_not '.how='
