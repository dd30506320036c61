/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pack is made in a temporary store: the runs are merged into it as on any import, so that the
 * pack has passed the same checks that its reader makes. */
#include "features/pack/pack.h"

#include "core/render/page.h"
#include "features/pack/crate.h"
#include "features/pack/pins.h"
#include "features/pack/sources.h"
#include "features/pack/statement.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/temporary.h"
#include "lib/base/text.h"
#include "store/exchange/bundle.h"
#include "store/write/dataset.h"

#include <string.h>
#include <sys/stat.h>

void orch_packed_clear(struct orch_packed *packed)
{
    g_clear_pointer(&packed->left_out, g_ptr_array_unref);
}

/* A pack in the making. */
struct job {
    struct orch_plan *plan;
    const struct orch_document *document;
    const struct orch_pack_options *options;
    GHashTable *runs;      /* keys of the packed runs */
    GHashTable *recipes;   /* recipe keys of these runs */
    GHashTable *artifacts; /* sha256 -> GINT: 1 when the artifact is included, else 0 */
    GPtrArray *trees;      /* char *: source trees of the runs, newest run first */
    GPtrArray *datasets;   /* char *: data sets that the report's predictors use */
    json_t *run_list, *collaborators;
    char *folder; /* scratch */
    struct orch_store *store;
    struct orch_join *join;
    GPtrArray *files;
    struct orch_pack_sources sources;
    struct orch_packed *out;
};

/* ---- which runs --------------------------------------------------------------------------------
 */

static bool add_run(struct job *job, const char *key, GError **error);

/* Records the author of a packed run as a collaborator, unless it is the packer. */
static void note_collaborator(struct job *job, const char *who)
{
    if (orch_who_is_same(who, job->options->who))
        return;
    for (size_t i = 0; i < json_array_size(job->collaborators); i++)
        if (strcmp(json_string_value(json_array_get(job->collaborators, i)), who) == 0)
            return;
    json_array_append_new(job->collaborators, json_string(who));
}

/* Adds the runs from which a run read its inputs. */
static bool add_inputs(struct job *job, int64_t run_id, GError **error)
{
    g_autoptr(GPtrArray) inputs = orch_store_inputs(job->plan->store, run_id, error);
    for (guint i = 0; inputs && i < inputs->len; i++) {
        const struct orch_stored_input *input = inputs->pdata[i];
        if (input->from_key && !add_run(job, input->from_key, error))
            return false;
    }
    return inputs != NULL;
}

static bool add_run(struct job *job, const char *key, GError **error)
{
    if (g_hash_table_contains(job->runs, key))
        return true;
    GError *problem = NULL;
    struct orch_run *run = orch_store_run(job->plan->store, key, &problem);
    if (!run && g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND)) {
        g_clear_error(&problem); /* the inputs of an old run may have been removed */
        return true;
    }
    if (!run) {
        g_propagate_error(error, problem);
        return false;
    }
    g_hash_table_add(job->runs, g_strdup(run->key));
    json_array_append_new(job->run_list,
                          json_pack("{s:s, s:s}", "key", run->key, "digest", run->digest));
    note_collaborator(job, run->who);
    if (run->recipe_key)
        g_hash_table_add(job->recipes, g_strdup(run->recipe_key));
    if (run->source_tree && !orch_texts_have(job->trees, run->source_tree))
        g_ptr_array_add(job->trees, g_strdup(run->source_tree));
    g_autoptr(GPtrArray) artifacts = orch_store_artifacts(job->plan->store, run->id, error);
    for (guint i = 0; artifacts && i < artifacts->len; i++) {
        const struct orch_stored_artifact *artifact = artifacts->pdata[i];
        g_hash_table_insert(job->artifacts, g_strdup(artifact->sha256), GINT_TO_POINTER(0));
    }
    bool ok = artifacts && add_inputs(job, run->id, error);
    orch_run_free(run);
    return ok;
}

/* Selects the data sets in this store that the report's predictors use. */
static void choose_datasets(struct job *job)
{
    const GPtrArray *report = job->plan->expansion->report;
    for (guint i = 0; i < report->len; i++) {
        const struct orch_report_item *item = report->pdata[i];
        const char *name =
            json_is_object(item->spec) ? orch_json_text(item->spec, "dataset", NULL) : NULL;
        if (!name || g_ptr_array_find_with_equal_func(job->datasets, name, g_str_equal, NULL))
            continue;
        struct orch_dataset *set = orch_store_dataset(job->plan->store, name, NULL);
        if (set)
            g_ptr_array_add(job->datasets, g_strdup(name));
        orch_dataset_free(set);
    }
}

static bool choose_runs(struct job *job, GError **error)
{
    bool ok = true;
    for (guint i = 0; i < job->document->sections->len; i++) {
        const struct orch_section *section = job->document->sections->pdata[i];
        for (guint j = 0; ok && j < section->runs->len; j++) {
            const struct orch_section_run *run = section->runs->pdata[j];
            ok = add_run(job, run->key, error);
        }
    }
    for (unsigned i = 0; ok && i < job->plan->count; i++) {
        const struct orch_plan_item *item = &job->plan->items[i];
        if (item->state == ORCH_PLAN_DONE && item->run_key)
            ok = add_run(job, item->run_key, error);
    }
    if (ok)
        choose_datasets(job);
    if (ok && !g_hash_table_size(job->runs)) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "run the recipe first ('orch run RECIPE')",
                       "the store has no run of '%s' to pack", job->plan->expansion->name);
        return false;
    }
    return ok;
}

/* ---- into a store of its own -------------------------------------------------------------------
 */

static enum orch_item_want wants(void *ctx, const struct orch_item_name *name, int64_t bytes)
{
    (void)bytes;
    const struct job *job = ctx;
    bool wanted = true;
    if (name->kind == ORCH_ITEM_RUN)
        wanted = g_hash_table_contains(job->runs, name->key);
    else if (name->kind == ORCH_ITEM_ARTIFACT)
        wanted = g_hash_table_contains(job->artifacts, name->key);
    else if (name->kind == ORCH_ITEM_RECIPE)
        wanted = g_hash_table_contains(job->recipes, name->key);
    return wanted ? ORCH_ITEM_TAKE : ORCH_ITEM_SKIP;
}

/* True for signatures that name a packed run. Other notes are not packed, because they are not
 * evidence. One signature may name many runs. */
static bool note_goes(const struct job *job, const char *bytes, size_t length)
{
    g_autoptr(json_t) note = orch_json_parse(bytes, length, ORCH_ITEM_NOTE_MAX, NULL);
    if (strcmp(orch_json_text(note, "kind", ""), "signature") != 0)
        return false;
    const char *text = orch_json_text(note, "text", "");
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, job->runs);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        if (strstr(text, key))
            return true;
    return false;
}

static bool take(void *ctx, const struct orch_item_name *name, const char *bytes, size_t length,
                 GError **error)
{
    struct job *job = ctx;
    bool accepted = false;
    if (name->kind == ORCH_ITEM_NOTE && !note_goes(job, bytes, length))
        return true;
    if (!orch_item_join(job->join, job->store, name, bytes, length, &accepted, error))
        return false;
    if (accepted && name->kind == ORCH_ITEM_ARTIFACT) {
        g_hash_table_insert(job->artifacts, g_strdup(name->key), GINT_TO_POINTER(1));
        job->out->artifacts++;
    }
    return true;
}

static bool fill_store(struct job *job, GError **error)
{
    g_autofree char *db = g_build_filename(job->folder, "results.db", NULL);
    job->store = orch_store_open(db, ORCH_STORE_CREATE, error);
    job->join = job->store ? orch_join_begin(job->store, "a pack", error) : NULL;
    if (!job->join)
        return false;
    g_ptr_array_add(job->datasets, NULL);
    const struct orch_item_choice choice = {
        .artifact_bytes = job->options->artifact_bytes,
        .datasets = (const char *const *)(void *)job->datasets->pdata,
    };
    const struct orch_item_sink sink = {.ctx = job, .wants = wants, .take = take};
    bool ok = orch_items_visit(job->plan->store, &choice, &sink, NULL, error);
    g_ptr_array_set_size(job->datasets, (int)job->datasets->len - 1);
    if (!ok) {
        orch_join_rollback(job->join);
        return false;
    }
    struct orch_receipt *receipt = orch_join_commit(job->join, error);
    if (!receipt)
        return false;
    job->out->runs = receipt->added;
    if (receipt->refused || receipt->conflicts)
        orch_error_set(error, ORCH_ERROR_CHECK, "run 'orch db check' for details",
                       "a run cannot be packed: %s",
                       receipt->problems->len ? (char *)receipt->problems->pdata[0] : "refused");
    ok = !receipt->refused && !receipt->conflicts;
    orch_receipt_free(receipt);
    return ok;
}

/* ---- the files beside the runs -----------------------------------------------------------------
 */

static char *dump(const json_t *value, size_t *out_length)
{
    char *text = json_dumps(value, JSON_INDENT(1) | JSON_SORT_KEYS);
    char *copy = g_strdup(text ? text : "{}");
    free(text);
    *out_length = strlen(copy);
    return copy;
}

static void add_report(struct job *job)
{
    g_autoptr(json_t) json = orch_document_json(job->document);
    json_object_set_new(json, "schema_version", json_integer(1));
    size_t length;
    char *text = dump(json, &length);
    orch_pack_files_add(job->files, "report.json", text, length);
    char *html = orch_page_html(job->document, NULL);
    orch_pack_files_add(job->files, "report.html", html, strlen(html));
}

static json_t *words_json(const char *const *words)
{
    json_t *out = json_array();
    for (; words && *words; words++)
        json_array_append_new(out, json_string(*words));
    return out;
}

/* The manifests of third-party plugins, because the verifier may not have these plugins. */
static json_t *plugins_json(const struct orch_expansion *expansion)
{
    json_t *out = json_object();
    for (guint i = 0; i < expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = expansion->experiments->pdata[i];
        const struct orch_manifest *manifest = experiment->manifest;
        if (experiment->program || experiment->is_unavailable || orch_plugin_is_ours(manifest) ||
            json_object_get(out, manifest->name))
            continue;
        json_object_set_new(out, manifest->name, orch_manifest_encode(manifest));
    }
    return out;
}

static json_t *artifacts_json(struct job *job)
{
    json_t *out = json_array();
    GHashTableIter iter;
    gpointer sha256, came;
    g_hash_table_iter_init(&iter, job->artifacts);
    while (g_hash_table_iter_next(&iter, &sha256, &came)) {
        job->out->artifacts_left += !GPOINTER_TO_INT(came);
        json_array_append_new(out, json_pack("{s:s, s:b}", "sha256", (char *)sha256, "packed",
                                             GPOINTER_TO_INT(came) != 0));
    }
    return out;
}

static json_t *files_json(const GPtrArray *files)
{
    json_t *out = json_array();
    for (guint i = 0; i < files->len; i++) {
        const struct orch_pack_file *file = files->pdata[i];
        char digest[ORCH_SHA256_CHARS];
        orch_sha256(file->bytes, file->length, digest);
        json_array_append_new(out, json_pack("{s:s, s:I, s:s}", "path", file->path, "bytes",
                                             (json_int_t)file->length, "sha256", digest));
    }
    return out;
}

static json_t *recipe_json(struct job *job)
{
    const struct orch_expansion *expansion = job->plan->expansion;
    const struct orch_source *source = orch_workspace_source(job->plan->workspace, NULL);
    g_autofree char *path = orch_pack_recipe_path(job->plan);
    json_t *unavailable = NULL;
    for (guint i = 0; i < expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = expansion->experiments->pdata[i];
        unavailable = unavailable || !experiment->is_unavailable ? unavailable : json_array();
        if (experiment->is_unavailable)
            json_array_append_new(unavailable, json_string(experiment->name));
    }
    return json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:b, s:o*}", "name", expansion->name, "key",
                     expansion->key, "path", path, "tree", source->tree, "commit", source->commit,
                     "dirty", (int)source->dirty, "unavailable", unavailable);
}

static json_t *request_json(const struct orch_pack_request *request)
{
    return json_pack("{s:s, s:s?, s:o, s:o, s:o}", "words", request->words, "profile",
                     request->profile, "settings", words_json(request->settings), "sweeps",
                     words_json(request->sweeps), "targets", words_json(request->targets));
}

static json_t *left_out_json(const GPtrArray *left_out)
{
    json_t *out = json_array();
    for (guint i = 0; i < left_out->len; i++)
        json_array_append_new(out, json_string(left_out->pdata[i]));
    return out;
}

static json_t *datasets_json(const GPtrArray *datasets)
{
    json_t *out = json_array();
    for (guint i = 0; i < datasets->len; i++)
        json_array_append_new(out, json_string(datasets->pdata[i]));
    return out;
}

static json_t *pack_json(struct job *job)
{
    struct orch_workspace *workspace = job->plan->workspace;
    g_autofree char *now = orch_time_format(orch_now_ns(), true);
    json_t *out = json_pack(
        "{s:i, s:s, s:s?, s:s, s:s, s:o, s:o, s:s, s:O, s:s?, s:O, s:o, s:o, s:o, s:O, s:o, s:O}",
        "format", ORCH_PACK_FORMAT, "kind", ORCH_PACK_KIND, "orch", job->options->version, "who",
        job->options->who, "made", now, "recipe", recipe_json(job), "asked",
        request_json(&job->options->request), "machine_key", orch_workspace_machine_key(workspace),
        "machine", orch_workspace_machine_facts(workspace), "store_digest",
        job->document->store_digest, "runs", job->run_list, "trials", orch_pins_of(job->plan),
        "plugins", plugins_json(job->plan->expansion), "artifacts", artifacts_json(job), "trees",
        job->sources.trees, "left_out", left_out_json(job->sources.left_out), "collaborators",
        job->collaborators);
    json_object_set_new(out, "datasets", datasets_json(job->datasets));
    json_object_set_new(out, "charts", json_string("drawn"));
    json_object_set_new(out, "files", files_json(job->files));
    return out;
}

static bool add_crate(struct job *job, GError **error)
{
    const struct orch_expansion *expansion = job->plan->expansion;
    const struct orch_source *source = orch_workspace_source(job->plan->workspace, NULL);
    g_autofree char *path = orch_pack_recipe_path(job->plan);
    g_autofree char *recipe = g_strdup_printf(
        "source/%s/%s", source && source->tree ? source->tree : ORCH_PACK_NO_TREE, path);
    g_autofree char *now = orch_time_format(orch_now_ns(), true);
    const struct orch_crate_of of = {.store = job->store,
                                     .runs = job->run_list,
                                     .files = job->files,
                                     .trees = job->sources.trees,
                                     .recipe = recipe,
                                     .about = expansion->about,
                                     .name = expansion->name,
                                     .who = job->options->who,
                                     .made = now,
                                     .version = job->options->version};
    g_autoptr(json_t) crate = orch_crate_json(&of, error);
    size_t length;
    if (crate) {
        char *text = dump(crate, &length);
        orch_pack_files_add(job->files, ORCH_CRATE_FILE, text, length);
    }
    return crate != NULL;
}

/* The statement is about pack.json, too, and so no list has it. */
static bool add_statement(struct job *job, GError **error)
{
    const struct orch_source *source = orch_workspace_source(job->plan->workspace, NULL);
    g_autofree char *now = orch_time_format(orch_now_ns(), true);
    const struct orch_statement_of of = {
        .files = job->files,
        .recipe = job->options->request.words,
        .tree = source ? source->tree : NULL,
        .commit = source && !source->dirty ? source->commit : NULL,
        .made = now,
        .version = job->options->version,
    };
    char *text = orch_statement_sign(&of, job->plan->workspace->folder, error);
    if (text)
        orch_pack_files_add(job->files, ORCH_STATEMENT_FILE, text, strlen(text));
    return text != NULL;
}

/* pack.json is added last, because it lists all other files. */
static void add_pack_json(struct job *job)
{
    g_autoptr(json_t) json = pack_json(job);
    size_t length;
    char *text = dump(json, &length);
    orch_pack_files_add(job->files, "pack.json", text, length);
}

static bool write_bundle(struct job *job, const char *path, GError **error)
{
    g_autofree struct orch_bundle_extra *extras =
        g_new0(struct orch_bundle_extra, job->files->len + 1);
    for (guint i = 0; i < job->files->len; i++) {
        const struct orch_pack_file *file = job->files->pdata[i];
        extras[i] = (struct orch_bundle_extra){file->path, file->bytes, file->length};
    }
    g_ptr_array_add(job->datasets, NULL);
    const struct orch_item_choice choice = {
        .artifact_bytes = -1, .datasets = (const char *const *)(void *)job->datasets->pdata};
    bool ok =
        orch_bundle_write(job->store, &choice, extras, job->files->len, path, NULL, NULL, error);
    struct stat info;
    if (ok && stat(path, &info) == 0)
        job->out->bytes = info.st_size;
    job->out->files = job->files->len;
    job->out->source_bytes = job->sources.bytes;
    return ok;
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

static void job_clear(struct job *job)
{
    orch_store_close(job->store);
    if (job->folder)
        orch_tree_remove(job->folder, NULL);
    g_free(job->folder);
    g_hash_table_unref(job->runs);
    g_hash_table_unref(job->recipes);
    g_hash_table_unref(job->artifacts);
    g_ptr_array_unref(job->trees);
    g_ptr_array_unref(job->datasets);
    g_ptr_array_unref(job->files);
    json_decref(job->run_list);
    json_decref(job->collaborators);
    json_decref(job->sources.trees);
}

bool orch_pack_write(struct orch_plan *plan, const struct orch_document *document,
                     const struct orch_pack_options *options, const char *path,
                     struct orch_packed *out, GError **error)
{
    *out = (struct orch_packed){.left_out = g_ptr_array_new_with_free_func(g_free)};
    if (!plan->store) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "run the recipe first ('orch run RECIPE')",
                       "the store has no run of '%s' to pack", plan->expansion->name);
        return false;
    }
    struct job job = {
        .plan = plan,
        .document = document,
        .options = options,
        .runs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .recipes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .artifacts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .trees = g_ptr_array_new_with_free_func(g_free),
        .datasets = g_ptr_array_new_with_free_func(g_free),
        .run_list = json_array(),
        .collaborators = json_array(),
        .files = orch_pack_files_new(),
        .out = out,
    };
    job.sources = (struct orch_pack_sources){.files = job.files,
                                             .trees = json_object(),
                                             .left_out = out->left_out,
                                             .limit = options->source_bytes};
    bool ok = choose_runs(&job, error) && (job.folder = orch_temporary_folder("pack", error)) &&
              fill_store(&job, error) && orch_pack_gather(plan, job.trees, &job.sources, error);
    if (ok) {
        add_report(&job);
        ok = !options->is_crate || add_crate(&job, error);
    }
    if (ok) {
        add_pack_json(&job);
        ok = (!options->is_signed || add_statement(&job, error)) && write_bundle(&job, path, error);
    }
    job_clear(&job);
    return ok;
}
