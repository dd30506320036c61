/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/pack/verify.h"

#include "core/render/page.h"
#include "core/report/sections.h"
#include "features/pack/listed.h"
#include "features/pack/pack.h"
#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string.h>

/* One verification. */
struct job {
    struct orch_pack *pack;
    struct orch_plugins *plugins;
    const struct orch_verify_options *options;
    struct orch_verified *out;
};

void orch_verified_clear(struct orch_verified *v)
{
    orch_plan_free(v->plan);
    orch_expansion_free(v->expansion);
    orch_workspace_free(v->workspace);
    g_clear_pointer(&v->items, g_ptr_array_unref);
    g_clear_pointer(&v->problems, g_ptr_array_unref);
    g_clear_pointer(&v->notes, g_ptr_array_unref);
    orch_pinned_clear(&v->pinned);
    v->plan = NULL;
    v->expansion = NULL;
    v->workspace = NULL;
}

bool orch_verified_is_good(const struct orch_verified *verified)
{
    return !verified->problems->len && !verified->differs;
}

static void problem(struct job *job, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void problem(struct job *job, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(job->out->problems, g_strdup_vprintf(format, args));
    va_end(args);
}

static void note(struct job *job, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void note(struct job *job, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(job->out->notes, g_strdup_vprintf(format, args));
    va_end(args);
}

/* ---- the recipe and its plan -------------------------------------------------------------------
 */

static GPtrArray *words_of(const json_t *list)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_is_string(json_array_get(list, i)))
            g_ptr_array_add(out, g_strdup(json_string_value(json_array_get(list, i))));
    g_ptr_array_add(out, NULL);
    return out;
}

static struct orch_workspace *open_workspace(struct job *job, const char *root, const char *folder)
{
    const json_t *recipe = orch_pack_member(job->pack, "recipe");
    struct orch_source *source = g_new0(struct orch_source, 1);
    const char *tree = orch_json_text(recipe, "tree", NULL);
    bool is_known = tree && g_hash_table_contains(job->pack->trees, tree);
    source->tree = is_known ? g_strdup(tree) : NULL;
    source->commit = g_strdup(orch_json_text(recipe, "commit", NULL));
    source->dirty = json_is_true(json_object_get(recipe, "dirty"));
    source->left_out = g_ptr_array_new();
    struct orch_vcs *vcs =
        is_known ? orch_vcs_listed(root, g_hash_table_ref(job->pack->trees)) : NULL;
    return orch_workspace_apart(root, folder, job->pack->db, source, vcs);
}

static char *nothing_checked(void *ctx, const json_t *said, const json_t *found, bool differs)
{
    (void)ctx;
    (void)said;
    (void)found;
    (void)differs;
    return g_strdup("the recipe cannot be read here");
}

static void count_items(struct orch_verified *out)
{
    for (guint i = 0; i < out->items->len; i++) {
        const struct orch_rechecked *item = out->items->pdata[i];
        out->confirmed += item->confirmed;
        out->differs += item->differs;
        out->left += item->left;
    }
}

/* Handles an unreadable recipe: the report cannot be recomputed, so none of its numbers counts as
 * confirmed. */
static void add_unreadable(struct job *job, const char *why)
{
    g_auto(GStrv) parts = g_strsplit(why, job->pack->folder, -1);
    g_autofree char *text = g_strjoinv("", parts);
    problem(job, "the recipe cannot be read here, so no number was checked: %s", text);
    g_ptr_array_unref(job->out->items);
    job->out->items = orch_recheck(job->pack->report, job->pack->report, nothing_checked, NULL);
    count_items(job->out);
}

/* The names of experiments that are unavailable here, or were where the report was packed; NULL:
 * none are. The caller frees. */
static char *unavailable_names(const struct job *job)
{
    const json_t *there = json_object_get(orch_pack_member(job->pack, "recipe"), "unavailable");
    GString *names = g_string_new(NULL);
    for (size_t i = 0; i < json_array_size(there); i++)
        g_string_append_printf(names, "%s%.63s", names->len ? ", " : "",
                               json_string_value(json_array_get(there, i)));
    for (guint i = 0; job->out->expansion && i < job->out->expansion->experiments->len; i++) {
        const struct orch_experiment *one = job->out->expansion->experiments->pdata[i];
        if (one->is_unavailable)
            g_string_append_printf(names, "%s%s", names->len ? ", " : "", one->name);
    }
    return g_string_free(names, !names->len);
}

static bool expand(struct job *job, const char *path)
{
    const json_t *asked = orch_pack_member(job->pack, "asked");
    g_autoptr(GPtrArray) settings = words_of(json_object_get(asked, "settings"));
    g_autoptr(GPtrArray) sweeps = words_of(json_object_get(asked, "sweeps"));
    g_autoptr(GPtrArray) targets = words_of(json_object_get(asked, "targets"));
    const struct orch_recipe_options options = {
        .profile = orch_json_text(asked, "profile", NULL),
        .settings = (const char *const *)(void *)settings->pdata,
        .sweeps = (const char *const *)(void *)sweeps->pdata,
        .targets = (const char *const *)(void *)targets->pdata,
    };
    struct orch_diags *diags = orch_diags_new();
    job->out->expansion = orch_recipe_expand(path, job->plugins, &options, diags);
    GError *reason = NULL;
    if (!job->out->expansion && !orch_diags_to_error(diags, &reason) && reason)
        add_unreadable(job, reason->message);
    else if (!job->out->expansion)
        add_unreadable(job, "no reason is given");
    g_clear_error(&reason);
    orch_diags_free(diags);
    const char *key = orch_json_text(orch_pack_member(job->pack, "recipe"), "key", "");
    g_autofree char *names = job->out->expansion ? unavailable_names(job) : NULL;
    if (names) /* the types of their values are unknown, which the key depends on */
        note(job,
             "the recipe's digest was not compared: plugins of %s are missing here, or were "
             "missing where the pack was made",
             names);
    else if (job->out->expansion && strcmp(job->out->expansion->key, key) != 0)
        problem(job, "the recipe's digest is %.16s..., but the pack says %.16s...",
                job->out->expansion->key, key);
    return job->out->expansion;
}

/* Adds notes on the origin of the trials' plugins. */
static void add_plugins(struct job *job)
{
    g_autoptr(GHashTable) said = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < job->out->expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = job->out->expansion->experiments->pdata[i];
        const struct orch_manifest *manifest = experiment->manifest;
        if (experiment->is_unavailable)
            continue;
        else if (experiment->program)
            note(job, "experiment '%s' runs a program from the pack", experiment->name);
        else if (!g_hash_table_add(said, (gpointer)(uintptr_t)manifest))
            continue;
        else if (!manifest->path)
            note(job, "plugin '%s' is not installed here: its description in the pack was used",
                 manifest->name);
        else if (orch_pack_contains(job->pack, manifest->path))
            note(job, "plugin '%s' comes from the pack", manifest->name);
    }
}

static bool make_plan(struct job *job, GError **error)
{
    add_plugins(job);
    struct orch_verified *out = job->out;
    if (!orch_workspace_store(out->workspace, ORCH_STORE_READ, error))
        return false;
    const struct orch_plan_options options = {.slots = 1, .any_slots = true, .reads_only = true};
    struct orch_diags *diags = orch_diags_new();
    out->plan = orch_plan_new(out->workspace, job->plugins, out->expansion, &options, diags, error);
    orch_diags_free(diags);
    if (!out->plan)
        return false;
    g_autofree char *unavailable = unavailable_names(job); /* whose trials have no numbers */
    out->pins_by_label = unavailable != NULL;
    orch_pins_apply(out->plan, orch_pack_member(job->pack, "trials"), out->pins_by_label,
                    &out->pinned);
    for (guint i = 0; i < out->pinned.problems->len; i++)
        problem(job, "%s", (char *)out->pinned.problems->pdata[i]);
    if (out->pinned.by_params)
        note(job,
             "%u of %u runs were matched to their trials by parameters only: the plugin, the data "
             "or the code differs here",
             out->pinned.by_params, out->pinned.done);
    return true;
}

/* ---- comparing ---------------------------------------------------------------------------------
 */

static bool leaves_files(const char *kind)
{
    static const char *const kinds[] = {"images", "listing", "learn", "layerwise", NULL};
    return g_strv_contains(kinds, kind);
}

static unsigned artifacts_left(const struct orch_pack *pack)
{
    const json_t *list = orch_pack_member(pack, "artifacts");
    unsigned count = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        count += !json_is_true(json_object_get(json_array_get(list, i), "packed"));
    return count;
}

/* Whether a section lacks trials of an unavailable experiment. */
static bool lacks_experiment(const json_t *section)
{
    const json_t *blocks = json_object_get(section, "blocks");
    for (size_t i = 0; i < json_array_size(blocks); i++) {
        const json_t *block = json_array_get(blocks, i);
        if (strcmp(orch_json_text(block, "kind", ""), "missing") == 0 &&
            strstr(orch_json_text(block, "text", ""), " is not available: "))
            return true;
    }
    return false;
}

static char *excuse(void *ctx, const json_t *said, const json_t *found, bool differs)
{
    const struct job *job = ctx;
    g_autofree char *names = differs && (lacks_experiment(said) || lacks_experiment(found))
                                 ? unavailable_names(job)
                                 : NULL;
    if (names)
        return g_strdup_printf(
            "plugins of %s are missing here, or were missing where the pack was made", names);
    const char *kind = orch_json_text(said, "kind", "");
    const struct orch_report_kind *row = orch_report_kind_find(kind);
    if (job->options->is_quick && row && row->is_slow)
        return g_strdup("it fits models: 'orch verify FILE' without --quick checks it");
    if (differs && strcmp(kind, "commits") == 0)
        return g_strdup("it needs the history of the commits, which is not in the pack");
    if (differs && leaves_files(kind) && artifacts_left(job->pack))
        return g_strdup_printf("it needs files that runs left, and %u of them are not in the pack",
                               artifacts_left(job->pack));
    return NULL;
}

/* Copies the heading, which describes how the report was made and holds no results. */
static void take_heading(struct orch_document *document, const json_t *report)
{
    char **const texts[] = {&document->machine, &document->made, &document->store_digest,
                            &document->recipe, &document->commit};
    static const char *const names[] = {"machine", "made", "store_digest", "recipe", "commit"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_free(*texts[i]);
        *texts[i] = g_strdup(orch_json_text(report, names[i], NULL));
    }
    document->is_dirty = json_is_true(json_object_get(report, "dirty"));
}

/* The page without the content of its drawings. */
static char *without_drawings(const char *html)
{
    GString *out = g_string_new(NULL);
    const char *at = html, *drawing;
    while ((drawing = strstr(at, "<svg"))) {
        const char *end = strstr(drawing, "</svg>");
        if (!end)
            break;
        g_string_append_len(out, at, drawing - at);
        g_string_append(out, "<svg></svg>");
        at = end + strlen("</svg>");
        at += *at == '\n';
    }
    g_string_append(out, at);
    return g_string_free(out, FALSE);
}

static void check_page(struct job *job, const struct orch_document *document)
{
    struct orch_verified *out = job->out;
    const char *html = job->pack->html;
    bool is_drawn = strcmp(orch_json_text(job->pack->json, "charts", ""), "drawn") == 0;
    if (!html) {
        problem(job, "report.html is missing");
        return;
    }
    if (out->differs || out->left) {
        note(job, "report.html was not compared: %s",
             out->differs ? "the report itself differs" : "only a part of the report was checked");
        return;
    }
    const struct orch_page_options options = {.charts_are_text = !is_drawn};
    g_autofree char *page = orch_page_html(document, &options);
    g_autofree char *expected = without_drawings(page), *there = without_drawings(html);
    out->is_page_good = strcmp(expected, there) == 0;
    if (!out->is_page_good) {
        size_t at = 0;
        while (expected[at] && expected[at] == there[at])
            at++;
        size_t from = at > 20 ? at - 20 : 0;
        problem(
            job,
            "report.html differs from the page of this report: it has '%.60s', expected '%.60s'",
            there + from, expected + from);
    }
}

static bool compare_reports(struct job *job, GError **error)
{
    struct orch_verified *out = job->out;
    const json_t *asked = orch_pack_member(job->pack, "asked");
    const struct orch_report_options options = {
        .recipe = orch_json_text(asked, "words", NULL),
        .who = orch_json_text(job->pack->json, "who", NULL),
        .requested_only = json_array_size(json_object_get(asked, "targets")) > 0,
        .is_slow_left_out = job->options->is_quick,
    };
    struct orch_document *document = orch_report_document(out->plan, &options, error);
    if (!document)
        return false;
    take_heading(document, job->pack->report);
    g_autoptr(json_t) found = orch_document_json(document);
    g_ptr_array_unref(out->items);
    out->items = orch_recheck(job->pack->report, found, excuse, job);
    count_items(out);
    if (g_strcmp0(orch_json_text(job->pack->report, "who", NULL), options.who) != 0)
        problem(job, "the report is by %s, but the pack is by %s",
                orch_json_text(job->pack->report, "who", "nobody"),
                options.who ? options.who : "nobody");
    check_page(job, document);
    orch_document_free(document);
    return true;
}

/* Adds general notes for the reader of the result. */
static void add_what_to_know(struct job *job)
{
    const char *made_by = orch_json_text(job->pack->json, "orch", "?");
    if (strcmp(made_by, job->options->version) != 0)
        note(job, "the pack was made with orch %.20s, and checked with orch %s", made_by,
             job->options->version);
    for (size_t i = 0; i < json_array_size(orch_pack_member(job->pack, "left_out")) && i < 20; i++)
        note(job, "left out: %s",
             json_string_value(json_array_get(orch_pack_member(job->pack, "left_out"), i)));
    if (job->pack->html && strstr(job->pack->html, "<svg"))
        note(job,
             "the numbers behind the charts were checked; the drawings in report.html were not");
}

bool orch_pack_verify(struct orch_pack *pack, struct orch_plugins *plugins,
                      const struct orch_verify_options *options, struct orch_verified *out,
                      GError **error)
{
    *out = (struct orch_verified){
        .items = g_ptr_array_new(),
        .problems = g_ptr_array_new_with_free_func(g_free),
        .notes = g_ptr_array_new_with_free_func(g_free),
    };
    struct job job = {pack, plugins, options, out};
    if (!orch_pack_judge_signatures(pack, error))
        return false;
    for (guint i = 0; i < pack->problems->len; i++)
        g_ptr_array_add(out->problems, g_strdup(pack->problems->pdata[i]));
    g_autofree char *root = NULL;
    GError *reason = NULL;
    g_autofree char *recipe = orch_pack_recipe(pack, &root, &reason);
    if (!recipe) {
        problem(&job, "%s", reason->message);
        g_clear_error(&reason);
        return true;
    }
    add_what_to_know(&job);
    g_autofree char *folder = g_path_get_dirname(recipe);
    orch_plugins_set_apart(plugins, pack->folder, orch_pack_member(pack, "plugins"));
    out->workspace = open_workspace(&job, root, folder);
    if (!pack->report || !expand(&job, recipe))
        return true;
    return make_plan(&job, error) && compare_reports(&job, error);
}
