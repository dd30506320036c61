/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `job`: one trial as the training job of several platforms. A table says under which name
 * each document has each field, the sentence before it which fields all of them have, and the
 * documents follow. Names in an account are examples that the recipe gives. */
#include "features/cloud/export_job.h"

#include "core/recipe/option_value.h"
#include "core/report/items.h"
#include "features/cloud/job_trial.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

/* Longer paths are shortened, so that four platforms fit beside each other. */
#define PATH_CHARS 24

/* Keys of the item with names in an account: one for all platforms, or "PLATFORM=NAME". */
static const struct {
    const char *key;
    size_t offset; /* of a const char ** in struct orch_export_job_options */
} NAMES[] = {
    {"instance", offsetof(struct orch_export_job_options, instances)},
    {"image", offsetof(struct orch_export_job_options, images)},
    {"data", offsetof(struct orch_export_job_options, data)},
    {"results", offsetof(struct orch_export_job_options, results)},
    {"role", offsetof(struct orch_export_job_options, roles)},
    {"queue", offsetof(struct orch_export_job_options, queues)},
    {"project", offsetof(struct orch_export_job_options, projects)},
    {"definition", offsetof(struct orch_export_job_options, definitions)},
};

/* The options that an item stands for, with what they are read from. */
struct wish {
    struct orch_export_job_options options;
    GPtrArray *names[G_N_ELEMENTS(NAMES)]; /* each ends with NULL */
};

static void wish_init(struct wish *wish, const json_t *spec)
{
    *wish = (struct wish){.options = {.gpu = orch_json_text(spec, "gpu", NULL),
                                      .time = orch_json_text(spec, "time", NULL)}};
    for (guint i = 0; i < G_N_ELEMENTS(NAMES); i++) {
        wish->names[i] = orch_texts_from_json(json_object_get(spec, NAMES[i].key));
        g_ptr_array_add(wish->names[i], NULL);
        const char ***list = (void *)((char *)&wish->options + NAMES[i].offset);
        *list = (const char **)wish->names[i]->pdata;
    }
}

static void wish_clear(struct wish *wish)
{
    for (guint i = 0; i < G_N_ELEMENTS(NAMES); i++)
        g_ptr_array_unref(wish->names[i]);
}

/* ---- the documents -----------------------------------------------------------------------------
 */

static GPtrArray *platforms_of(const json_t *spec)
{
    g_autoptr(GPtrArray) names = orch_texts_from_json(json_object_get(spec, "platforms"));
    GPtrArray *out = g_ptr_array_new();
    for (guint i = 0; i < names->len; i++)
        g_ptr_array_add(out, (void *)(uintptr_t)orch_job_platform_find(names->pdata[i], NULL));
    return out;
}

/* The names of the fields of which `count` platforms have a place: "name, image, command". */
static char *fields_of(const GPtrArray *platforms, guint count)
{
    GString *out = g_string_new(NULL);
    for (unsigned field = 0; field < ORCH_JOB_FIELDS; field++) {
        const struct orch_job_platform *last = NULL;
        guint have = 0;
        for (guint i = 0; i < platforms->len; i++) {
            const struct orch_job_platform *platform = platforms->pdata[i];
            last = platform->fields[field] ? platform : last;
            have += platform->fields[field] != NULL;
        }
        if (have != count)
            continue;
        g_string_append_printf(out, "%s%s", out->len ? ", " : "", ORCH_JOB_FIELD_NAMES[field]);
        if (count == 1 && platforms->len > 1)
            g_string_append_printf(out, " (%s)", last->title);
    }
    return g_string_free(out, FALSE);
}

static void add_answer(struct orch_section *section, const GPtrArray *platforms)
{
    g_autofree char *shared = fields_of(platforms, platforms->len);
    g_autofree char *single = fields_of(platforms, 1);
    orch_section_answer(section, "all %u formats have a field for %s; only one of them has %s",
                        platforms->len, *shared ? shared : "nothing in common",
                        *single ? single : "nothing");
}

/* A path as the table shows it: of a long one the last two names, "...machineSpec.machineType". */
static char *short_path(const char *path)
{
    const char *tail = path + strlen(path);
    for (unsigned dots = 0; strlen(path) > PATH_CHARS && tail > path; tail--)
        if (tail[-1] == '.' && ++dots == 2)
            return g_strconcat("...", tail, NULL);
    return g_strdup(path);
}

/* The document of this job. NULL with an error: a field that it needs has no value. */
static json_t *document_of(const struct orch_export_job *e,
                           const struct orch_job_platform *platform, GError **error)
{
    GError *failed = NULL;
    struct orch_job *job = orch_cli_job_make(e, platform, &failed);
    json_t *document = failed ? NULL : orch_job_document(platform, job, &failed);
    orch_job_free(job);
    if (failed)
        g_propagate_error(error, failed);
    return document;
}

/* Where each format has each field. A star marks what this job's document leaves out. */
static void add_fields(struct orch_section *section, const struct orch_export_job *e,
                       const GPtrArray *platforms)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new();
    g_ptr_array_add(headers, (char *)"field");
    for (guint i = 0; i < platforms->len; i++)
        g_ptr_array_add(
            headers, (char *)(uintptr_t)((struct orch_job_platform *)platforms->pdata[i])->title);
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    g_autoptr(GPtrArray) documents = g_ptr_array_new_with_free_func((GDestroyNotify)json_decref);
    for (guint i = 0; i < platforms->len; i++)
        g_ptr_array_add(documents, document_of(e, platforms->pdata[i], NULL));
    for (unsigned field = 0; field < ORCH_JOB_FIELDS; field++) {
        orch_table_add(table, ORCH_JOB_FIELD_NAMES[field], NULL);
        for (guint i = 0; i < platforms->len; i++) {
            const char *path = ((struct orch_job_platform *)platforms->pdata[i])->fields[field];
            const json_t *document = documents->pdata[i];
            const bool is_left_out = path && document && !orch_job_lookup(document, path);
            g_autofree char *place = path ? short_path(path) : g_strdup("-");
            g_autofree char *text = g_strconcat(place, is_left_out ? " *" : "", NULL);
            orch_table_add(table, text, path ? json_string(path) : json_null());
        }
    }
    orch_section_table(section, table);
}

static void add_document(struct orch_section *section, const struct orch_export_job *e,
                         const struct orch_job_platform *platform)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) document = document_of(e, platform, &error);
    if (document) {
        g_autofree char *text = orch_job_document_text(platform, document);
        orch_section_text(section, "%s: %s. Rules: %s. To submit: %s", platform->title,
                          platform->document, platform->source, platform->submit);
        orch_section_code(section, text);
    } else {
        orch_section_missing(section, NULL, "%s: %s", platform->title, error->message);
    }
}

/* ---- the item ----------------------------------------------------------------------------------
 */

/* The first trial of the item's experiments that this profile does not leave out; NULL: none. */
static const struct orch_plan_item *trial_of(const struct orch_plan *plan, const json_t *spec)
{
    g_autoptr(GPtrArray) names = orch_texts_from_json(json_object_get(spec, "experiments"));
    for (guint k = 0; k < names->len; k++)
        for (unsigned i = 0; i < plan->count; i++) {
            const struct orch_experiment *experiment = plan->items[i].cell->experiment;
            if (g_str_equal(experiment->name, names->pdata[k]) && !experiment->skipped)
                return &plan->items[i];
        }
    return NULL;
}

static bool add_documents(struct orch_section_context *a, const struct orch_plan_item *item,
                          const GPtrArray *platforms, GError **error)
{
    struct wish wish;
    wish_init(&wish, a->item->spec);
    const char *const args[] = {a->plan->expansion->path, NULL};
    const struct orch_job_command typed = {.args = args,
                                           .profile = a->plan->expansion->profile,
                                           .experiment = item->cell->experiment->name};
    struct orch_export_job e = {.options = &wish.options, .trial = {.plan = a->plan, .item = item}};
    bool ok = (!wish.options.time ||
               orch_option_duration("time", wish.options.time, &e.given_s, error)) &&
              (e.hardware = orch_hardware_load(error));
    if (ok) {
        e.trial.words = orch_job_command_words(a->plan, item, &typed);
        add_fields(a->section, &e, platforms);
        for (guint i = 0; i < platforms->len; i++)
            add_document(a->section, &e, platforms->pdata[i]);
        g_ptr_array_unref(e.trial.words);
    }
    orch_hardware_free(e.hardware);
    wish_clear(&wish);
    return ok;
}

static bool fill(struct orch_section_context *a, GError **error)
{
    const struct orch_plan_item *item = trial_of(a->plan, a->item->spec);
    g_autoptr(GPtrArray) platforms = platforms_of(a->item->spec);
    if (!item) {
        orch_section_missing(a->section, NULL,
                             "this profile has no trial of the item's experiments");
        return true;
    }
    g_autofree char *label = orch_cell_label(item->cell);
    add_answer(a->section, platforms);
    orch_section_note(a->section,
                      "the job runs trial '%s'. Accounts, buckets and images are examples; '-': "
                      "the format has no such field; '*': this job leaves the field out",
                      label);
    return add_documents(a, item, platforms, error);
}

static const char *const PLATFORMS[] = {"slurm",   "sagemaker", "vertex", "azureml",
                                        "watsonx", "k8s",       NULL};
static const struct orch_report_words PLATFORM_WORDS = {.words = PLATFORMS, .what = "platform"};

static const struct orch_report_key KEYS[] = {
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS, .is_required = true},
    {.name = "platforms", .shape = ORCH_SHAPE_WORDS, .words = &PLATFORM_WORDS, .is_required = true},
    {.name = "gpu", .shape = ORCH_SHAPE_TEXT},
    {.name = "time", .shape = ORCH_SHAPE_TEXT},
    {.name = "instance", .shape = ORCH_SHAPE_TEXTS},
    {.name = "image", .shape = ORCH_SHAPE_TEXTS},
    {.name = "data", .shape = ORCH_SHAPE_TEXTS},
    {.name = "results", .shape = ORCH_SHAPE_TEXTS},
    {.name = "role", .shape = ORCH_SHAPE_TEXTS},
    {.name = "queue", .shape = ORCH_SHAPE_TEXTS},
    {.name = "project", .shape = ORCH_SHAPE_TEXTS},
    {.name = "definition", .shape = ORCH_SHAPE_TEXTS},
    {0}};

const struct orch_report_kind ORCH_REPORT_JOB = {
    .name = "job",
    .keys = KEYS,
    .has_trials = orch_item_without_trials,
    .fill = fill,
};
