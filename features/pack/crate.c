/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The terms of the context of Workflow Run RO-Crate that are used here stand in the crate itself,
 * so that a reader needs one context. */
#include "features/pack/crate.h"

#include "features/pack/sources.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "store/exchange/bundle_items.h"

#include <math.h>
#include <string.h>

#define PROFILE "https://w3id.org/ro/wfrun/"
#define WORKFLOW_CRATE "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
#define PARAMETER "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE"
#define TERM "https://w3id.org/ro/terms/workflow-run#"

static const char *const PROFILES[][2] = {{PROFILE "process/0.5", "Process Run Crate"},
                                          {PROFILE "workflow/0.5", "Workflow Run Crate"},
                                          {PROFILE "provenance/0.5", "Provenance Run Crate"},
                                          {WORKFLOW_CRATE, "Workflow RO-Crate"}};

/* A crate in the making. */
struct crate {
    const struct orch_crate_of *of;
    json_t *graph;
    GHashTable *entities; /* @id -> json_t *, borrowed from graph */
    json_t *parts;        /* references: data entities of the root */
    json_t *actions, *controls, *steps, *tools;
    int64_t first_ns, last_ns;
};

/* ---- entities ---------------------------------------------------------------------------------
 */

static json_t *reference(const char *id)
{
    return json_pack("{s:s}", "@id", id);
}

/* Adds an entity, unless there is one of its id; takes it over. Returns the one that is there,
 * borrowed. */
static json_t *add(struct crate *crate, json_t *entity)
{
    const char *id = orch_json_text(entity, "@id", "");
    json_t *there = g_hash_table_lookup(crate->entities, id);
    if (there) {
        json_decref(entity);
        return there;
    }
    json_array_append_new(crate->graph, entity);
    g_hash_table_insert(crate->entities, g_strdup(id), entity);
    return entity;
}

/* Appends a reference to a list of an entity, once. */
static void refer(json_t *entity, const char *member, const char *id)
{
    json_t *list = json_object_get(entity, member);
    if (!list) {
        list = json_array();
        json_object_set_new(entity, member, list);
    }
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(orch_json_text(json_array_get(list, i), "@id", ""), id) == 0)
            return;
    json_array_append_new(list, reference(id));
}

/* "#KIND-NAME-REST" with the characters of an identifier only. The caller frees. */
static char *id_of(const char *kind, const char *name, const char *rest)
{
    g_autofree char *words =
        g_strdup_printf("%s-%s%s%s", kind, name, rest ? "-" : "", rest ? rest : "");
    g_autofree char *escaped = g_uri_escape_string(words, "@", FALSE);
    return g_strconcat("#", escaped, NULL);
}

/* A path of the pack as the crate's files are named. The caller frees. */
static char *path_id(const char *path)
{
    return g_uri_escape_string(path, "/", TRUE);
}

static char *person(struct crate *crate, const char *who)
{
    char *id = id_of("person", who, NULL);
    add(crate, json_pack("{s:s s:s s:s}", "@id", id, "@type", "Person", "name", who));
    return id;
}

static const char *format_of(const char *path)
{
    static const char *const rows[][2] = {{".json", "application/json"}, {".html", "text/html"},
                                          {".py", "text/x-python"},      {".csv", "text/csv"},
                                          {".recipe", "text/yaml"},      {".md", "text/markdown"},
                                          {".png", "image/png"},         {".txt", "text/plain"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
        if (g_str_has_suffix(path, rows[i][0]))
            return rows[i][1];
    return "application/octet-stream";
}

static void add_file(struct crate *crate, const char *path, const char *name, int64_t bytes,
                     const char *sha256)
{
    g_autofree char *id = path_id(path), *size = g_strdup_printf("%lld", (long long)bytes);
    if (!g_hash_table_contains(crate->entities, id))
        json_array_append_new(crate->parts, reference(id));
    add(crate, json_pack("{s:s s:s s:s s:s s:s s:s}", "@id", id, "@type", "File", "name", name,
                         "contentSize", size, "sha256", sha256, "encodingFormat", format_of(name)));
}

/* ---- files and trees --------------------------------------------------------------------------
 */

static void add_files(struct crate *crate)
{
    for (guint i = 0; i < crate->of->files->len; i++) {
        const struct orch_pack_file *file = crate->of->files->pdata[i];
        char sha256[ORCH_SHA256_CHARS];
        orch_sha256(file->bytes, file->length, sha256);
        g_autofree char *name = g_path_get_basename(file->path);
        add_file(crate, file->path, name, (int64_t)file->length, sha256);
    }
}

/* Git's ids of 40 digits are those of SWHIDs; ids by SHA-256 have none. */
static void identify(json_t *entity, const char *type, const char *id)
{
    json_t *list = json_object_get(entity, "identifier");
    g_autofree char *swhid = g_strdup_printf("swh:1:%s:%s", type, id);
    if (strlen(id) != 40 || strspn(id, "0123456789abcdef") != 40)
        return;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), swhid) == 0)
            return;
    if (!list) {
        list = json_array();
        json_object_set_new(entity, "identifier", list);
    }
    json_array_append_new(list, json_string(swhid));
}

/* The source tree of a run, as far as the pack has it. Returns its id; NULL: none is here. */
static char *add_tree(struct crate *crate, const struct orch_run *run)
{
    if (!run->source_tree || !json_object_get(crate->of->trees, run->source_tree))
        return NULL;
    g_autofree char *path = g_strdup_printf("source/%s/", run->source_tree);
    bool has_files = false;
    for (guint i = 0; i < crate->of->files->len && !has_files; i++)
        has_files = g_str_has_prefix(
            ((const struct orch_pack_file *)crate->of->files->pdata[i])->path, path);
    char *id = has_files ? path_id(path) : id_of("tree", run->source_tree, NULL);
    if (has_files && !g_hash_table_contains(crate->entities, id))
        json_array_append_new(crate->parts, reference(id));
    json_t *tree = add(
        crate, json_pack("{s:s s:s s:s}", "@id", id, "@type", "Dataset", "name", "source tree"));
    identify(tree, "dir", run->source_tree);
    if (run->source_commit && !run->source_dirty)
        identify(tree, "rev", run->source_commit);
    return id;
}

/* ---- steps and their tools --------------------------------------------------------------------
 */

static const char *type_of(const json_t *value)
{
    return json_is_integer(value)   ? "Integer"
           : json_is_real(value)    ? "Float"
           : json_is_boolean(value) ? "Boolean"
                                    : "Text";
}

/* Adds a value of a run that its step takes or gives, and the parameter that it is an example of.
 * Returns the value's id; the caller frees. */
static char *add_value(struct crate *crate, const struct orch_run *run, json_t *tool,
                       const char *direction, const char *name, const json_t *value,
                       const char *unit)
{
    g_autofree char *parameter = id_of(direction, run->experiment, name);
    g_autofree char *rest = g_strconcat(direction, "-", name, NULL);
    char *id = id_of("value", run->key, rest);
    g_autofree char *text =
        json_is_string(value) ? g_strdup(json_string_value(value)) : orch_json_canonical(value);
    json_t *formal = add(crate, json_pack("{s:s s:s s:s s:s s:{s:s}}", "@id", parameter, "@type",
                                          "FormalParameter", "name", name, "additionalType",
                                          type_of(value), "conformsTo", "@id", PARAMETER));
    refer(formal, "workExample", id);
    refer(tool, direction, parameter);
    add(crate, json_pack("{s:s s:s s:s s:s s:s* s:{s:s}}", "@id", id, "@type", "PropertyValue",
                         "name", name, "value", text, "unitText", unit && *unit ? unit : NULL,
                         "exampleOfWork", "@id", parameter));
    return id;
}

static json_t *add_tool(struct crate *crate, const struct orch_run *run)
{
    g_autofree char *tool_id = id_of("tool", run->experiment, NULL);
    g_autofree char *step_id = id_of("step", run->experiment, NULL);
    json_t *tool = g_hash_table_lookup(crate->entities, tool_id);
    if (tool)
        return tool;
    tool =
        add(crate, json_pack("{s:s s:s s:s s:s*}", "@id", tool_id, "@type", "SoftwareApplication",
                             "name", run->plugin, "softwareVersion", run->plugin_version));
    g_autofree char *position = g_strdup_printf("%zu", json_array_size(crate->steps) + 1);
    add(crate, json_pack("{s:s s:s s:s s:s s:{s:s}}", "@id", step_id, "@type", "HowToStep", "name",
                         run->experiment, "position", position, "workExample", "@id", tool_id));
    json_array_append_new(crate->steps, reference(step_id));
    json_array_append_new(crate->tools, reference(tool_id));
    return tool;
}

/* ---- runs -------------------------------------------------------------------------------------
 */

static bool add_params(struct crate *crate, const struct orch_run *run, json_t *tool,
                       json_t *action, GError **error)
{
    g_autoptr(json_t) params = orch_store_params(crate->of->store, run->id, error);
    const char *name;
    json_t *value;
    json_object_foreach(params, name, value)
    {
        g_autofree char *id = add_value(crate, run, tool, "input", name, value, NULL);
        refer(action, "object", id);
    }
    return params != NULL;
}

static bool add_metrics(struct crate *crate, const struct orch_run *run, json_t *tool,
                        json_t *action, GError **error)
{
    g_autoptr(GPtrArray) results = orch_store_result_rows(crate->of->store, run->id, error);
    g_autoptr(GPtrArray) metrics =
        results ? orch_store_summaries(crate->of->store, run->id, error) : NULL;
    for (guint i = 0; metrics && i < results->len + metrics->len; i++) {
        const struct orch_stored_result *r = i < results->len ? results->pdata[i] : NULL;
        const struct orch_metric_summary *m = r ? NULL : metrics->pdata[i - results->len];
        double number = r ? r->value : m->last;
        g_autoptr(json_t) value = isfinite(number) ? orch_json_finite(number) : json_string("NaN");
        g_autofree char *id = add_value(crate, run, tool, "output", r ? r->name : m->name, value,
                                        r ? r->unit : m->unit);
        refer(action, "result", id);
    }
    return metrics != NULL;
}

/* Artifacts that the pack holds; the others are named in pack.json. */
static bool add_artifacts(struct crate *crate, const struct orch_run *run, json_t *action,
                          GError **error)
{
    g_autoptr(GPtrArray) artifacts = orch_store_artifacts(crate->of->store, run->id, error);
    for (guint i = 0; artifacts && i < artifacts->len; i++) {
        const struct orch_stored_artifact *artifact = artifacts->pdata[i];
        struct orch_item_name item = {.kind = ORCH_ITEM_ARTIFACT};
        char path[ORCH_ITEM_PATH_CHARS];
        if (!artifact->here)
            continue;
        g_strlcpy(item.key, artifact->sha256, sizeof item.key);
        orch_item_path(&item, path);
        add_file(crate, path, artifact->name, artifact->bytes, artifact->sha256);
        refer(action, "result", path);
    }
    return artifacts != NULL;
}

/* What the trial was made from: the artifacts of other runs, and its source. */
static bool add_sources(struct crate *crate, const struct orch_run *run, json_t *action,
                        GError **error)
{
    g_autoptr(GPtrArray) inputs = orch_store_inputs(crate->of->store, run->id, error);
    g_autofree char *tree = add_tree(crate, run);
    if (tree)
        refer(action, "object", tree);
    for (guint i = 0; inputs && i < inputs->len; i++) {
        const struct orch_stored_input *input = inputs->pdata[i];
        struct orch_item_name item = {.kind = ORCH_ITEM_ARTIFACT};
        char path[ORCH_ITEM_PATH_CHARS];
        if (!input->from_key || !orch_sha256_is_valid(input->sha256))
            continue;
        g_strlcpy(item.key, input->sha256, sizeof item.key);
        orch_item_path(&item, path);
        if (orch_store_object_bytes(crate->of->store, input->sha256) < 0)
            continue;
        add_file(crate, path, input->name, orch_store_object_bytes(crate->of->store, input->sha256),
                 input->sha256);
        refer(action, "object", path);
    }
    return inputs != NULL;
}

static bool add_run(struct crate *crate, const struct orch_run *run, GError **error)
{
    bool is_well = strcmp(run->state, "ok") == 0;
    json_t *tool = add_tool(crate, run);
    g_autofree char *id = id_of("run", run->key, NULL), *control = id_of("control", run->key, NULL);
    g_autofree char *step = id_of("step", run->experiment, NULL), *who = person(crate, run->who);
    g_autofree char *name = g_strdup_printf("%s, repeat %d", run->experiment, run->repeat);
    g_autofree char *started = orch_time_format(run->started_ns, true);
    g_autofree char *ended = orch_time_format(run->ended_ns, true);
    json_t *action =
        add(crate, json_pack("{s:s s:s s:s s:s s:{s:s} s:{s:s} s:s s:s s:{s:s} s:s*}", "@id", id,
                             "@type", "CreateAction", "name", name, "identifier", run->key,
                             "instrument", "@id", orch_json_text(tool, "@id", ""), "agent", "@id",
                             who, "startTime", started, "endTime", ended, "actionStatus", "@id",
                             is_well ? "http://schema.org/CompletedActionStatus"
                                     : "http://schema.org/FailedActionStatus",
                             "error",
                             is_well       ? NULL
                             : run->reason ? run->reason
                                           : run->state));
    add(crate,
        json_pack("{s:s s:s s:s s:{s:s} s:{s:s}}", "@id", control, "@type", "ControlAction", "name",
                  "orchestrate a trial", "instrument", "@id", step, "object", "@id", id));
    json_array_append_new(crate->actions, reference(id));
    json_array_append_new(crate->controls, reference(control));
    crate->first_ns = crate->first_ns ? MIN(crate->first_ns, run->started_ns) : run->started_ns;
    crate->last_ns = MAX(crate->last_ns, run->ended_ns);
    return add_params(crate, run, tool, action, error) &&
           add_metrics(crate, run, tool, action, error) &&
           add_artifacts(crate, run, action, error) && add_sources(crate, run, action, error);
}

static bool add_runs(struct crate *crate, GError **error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < json_array_size(crate->of->runs); i++) {
        const char *key = orch_json_text(json_array_get(crate->of->runs, i), "key", "");
        struct orch_run *run = orch_store_run(crate->of->store, key, error);
        ok = run && add_run(crate, run, error);
        orch_run_free(run);
    }
    return ok;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

/* The recipe as a workflow, its run, and the action of orch that organised it. */
static void add_workflow(struct crate *crate)
{
    const struct orch_crate_of *of = crate->of;
    g_autofree char *recipe = path_id(of->recipe), *who = person(crate, of->who);
    g_autofree char *started = orch_time_format(crate->first_ns, true);
    g_autofree char *ended = orch_time_format(crate->last_ns, true);
    json_t *workflow = add(crate, json_pack("{s:s s:s}", "@id", recipe, "@type", "File"));
    json_object_set_new(
        workflow, "@type",
        json_pack("[ssss]", "File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"));
    json_object_set_new(workflow, "name", json_string(of->name));
    json_object_set_new(workflow, "programmingLanguage", reference("#orch-recipe"));
    json_object_set(workflow, "hasPart", crate->tools);
    json_object_set(workflow, "step", crate->steps);
    add(crate, json_pack("{s:s s:s s:s s:s}", "@id", "#orch-recipe", "@type", "ComputerLanguage",
                         "name", "orch recipe", "version", "1"));
    add(crate, json_pack("{s:s s:s s:s s:s}", "@id", "#orch", "@type", "SoftwareApplication",
                         "name", "orch", "softwareVersion", of->version));
    add(crate, json_pack("{s:s s:s s:s s:{s:s} s:{s:s} s:s s:s s:[{s:s}]}", "@id", "#workflow-run",
                         "@type", "CreateAction", "name", "run of the recipe", "instrument", "@id",
                         recipe, "agent", "@id", who, "startTime", started, "endTime", ended,
                         "result", "@id", "report.json"));
    add(crate, json_pack("{s:s s:s s:s s:{s:s} s:{s:s} s:s s:s s:O s:{s:s}}", "@id", "#organize",
                         "@type", "OrganizeAction", "name", "orch runs the recipe", "instrument",
                         "@id", "#orch", "agent", "@id", who, "startTime", started, "endTime",
                         ended, "object", crate->controls, "result", "@id", "#workflow-run"));
    json_array_append_new(crate->actions, reference("#workflow-run"));
    json_array_append_new(crate->actions, reference("#organize"));
}

static void add_root(struct crate *crate)
{
    const struct orch_crate_of *of = crate->of;
    g_autofree char *recipe = path_id(of->recipe), *who = person(crate, of->who);
    g_autofree char *about =
        g_strdup_printf("Report of the recipe '%s' with the runs that it follows from%s%s",
                        of->name, of->about ? ": " : "", of->about ? of->about : "");
    json_t *conforms = json_array();
    for (unsigned i = 0; i < G_N_ELEMENTS(PROFILES); i++) {
        const char *version = strrchr(PROFILES[i][0], '/') + 1;
        json_array_append_new(conforms, reference(PROFILES[i][0]));
        add(crate, json_pack("{s:s s:s s:s s:s}", "@id", PROFILES[i][0], "@type", "CreativeWork",
                             "name", PROFILES[i][1], "version", version));
    }
    add(crate,
        json_pack("{s:s s:s s:s s:{s:s} s:[{s:s}{s:s}]}", "@id", ORCH_CRATE_FILE, "@type",
                  "CreativeWork", "name", "metadata of the crate", "about", "@id", "./",
                  "conformsTo", "@id", "https://w3id.org/ro/crate/1.1", "@id", WORKFLOW_CRATE));
    add(crate,
        json_pack("{s:s s:s s:s s:s s:s s:s s:{s:s} s:o s:O s:{s:s} s:O}", "@id", "./", "@type",
                  "Dataset", "name", of->name, "description", about, "datePublished", of->made,
                  "license", "not stated; the sources may have a licence of their own", "author",
                  "@id", who, "conformsTo", conforms, "hasPart", crate->parts, "mainEntity", "@id",
                  recipe, "mentions", crate->actions));
}

json_t *orch_crate_json(const struct orch_crate_of *of, GError **error)
{
    struct crate crate = {
        .of = of,
        .graph = json_array(),
        .entities = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .parts = json_array(),
        .actions = json_array(),
        .controls = json_array(),
        .steps = json_array(),
        .tools = json_array(),
    };
    add_files(&crate);
    bool ok = add_runs(&crate, error);
    if (ok) {
        add_workflow(&crate);
        add_root(&crate);
    }
    json_t *out =
        ok ? json_pack("{s:[s{s:s}] s:O}", "@context", "https://w3id.org/ro/crate/1.1/context",
                       "sha256", TERM "sha256", "@graph", crate.graph)
           : NULL;
    g_hash_table_unref(crate.entities);
    json_t *const owned[] = {crate.graph,    crate.parts, crate.actions,
                             crate.controls, crate.steps, crate.tools};
    for (unsigned i = 0; i < G_N_ELEMENTS(owned); i++)
        json_decref(owned[i]);
    return out;
}
