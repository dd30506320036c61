/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/answer/items.h"

#include "core/answer/scale.h"
#include "core/report/numbers.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* ---- kinds -------------------------------------------------------------------------------------
 */

static bool answer_text(struct orch_asked *a, GError **error)
{
    (void)error;
    orch_section_text(a->section, "%s", json_string_value(a->item->spec));
    return true;
}

static bool leave_to_student(struct orch_asked *a, GError **error)
{
    (void)error;
    const char *asked = json_is_string(a->item->spec) ? json_string_value(a->item->spec) : "";
    orch_section_student(a->section, "%s", asked);
    return true;
}

static const struct kind {
    enum orch_report_kind kind;
    const char *name;
    bool (*answer)(struct orch_asked *a, GError **error);
    bool is_slow; /* it fits models */
} KINDS[] = {
    {ORCH_REPORT_TEXT, "text", answer_text, false},
    {ORCH_REPORT_TABLE, "table", orch_answer_table, false},
    {ORCH_REPORT_BEST, "best", orch_answer_best, false},
    {ORCH_REPORT_COMPARE, "compare", orch_answer_compare, false},
    {ORCH_REPORT_PLOT, "plot", orch_answer_plot, false},
    {ORCH_REPORT_CONVERGED, "converged", orch_answer_converged, false},
    {ORCH_REPORT_LISTING, "listing", orch_answer_listing, false},
    {ORCH_REPORT_IMAGES, "images", orch_answer_images, false},
    {ORCH_REPORT_COVERAGE, "coverage", orch_answer_coverage, false},
    {ORCH_REPORT_WORK, "work", orch_answer_work, false},
    {ORCH_REPORT_COLLABORATORS, "collaborators", orch_answer_collaborators, false},
    {ORCH_REPORT_STUDENT, "student", leave_to_student, false},
    {ORCH_REPORT_CURVE, "curve", orch_answer_curve, true},
    {ORCH_REPORT_CURVE_LAW, "curve_law", orch_answer_curve_law, true},
    {ORCH_REPORT_TIME_TO, "time_to", orch_answer_time_to, true},
    {ORCH_REPORT_LEARN, "learn", orch_answer_learn, true},
    {ORCH_REPORT_LAYERWISE, "layerwise", orch_answer_layerwise, true},
    {ORCH_REPORT_PALEO, "paleo", orch_answer_paleo, false},
};

static const struct kind *kind_of(const struct orch_report_item *item)
{
    for (size_t i = 0; i < G_N_ELEMENTS(KINDS); i++)
        if (KINDS[i].kind == item->kind)
            return &KINDS[i];
    return NULL;
}

bool orch_answer_is_slow(const char *kind)
{
    for (size_t i = 0; i < G_N_ELEMENTS(KINDS); i++)
        if (strcmp(KINDS[i].name, kind) == 0)
            return KINDS[i].is_slow;
    return false;
}

/* ---- which items -------------------------------------------------------------------------------
 */

/* Is the item about a trial that was asked for? One about others would be empty. */
static bool is_about_asked(const struct orch_plan *plan, const struct orch_report_item *item)
{
    g_autoptr(GPtrArray) experiments =
        orch_texts(json_is_object(item->spec) ? json_object_get(item->spec, "experiments") : NULL);
    for (unsigned i = 0; experiments->len && i < plan->count; i++)
        if (plan->items[i].state != ORCH_PLAN_UNUSED && !plan->items[i].cell->experiment->skipped &&
            g_ptr_array_find_with_equal_func(experiments, plan->items[i].cell->experiment->name,
                                             g_str_equal, NULL))
            return true;
    return !experiments->len;
}

/* Of the same problem: what stands before the first dot of both questions. */
static bool is_beside(const char *a, const char *b)
{
    size_t length = a ? strcspn(a, ".") : 0;
    return a && b && strcspn(b, ".") == length && strncmp(a, b, length) == 0;
}

/* Is the item about no trials at all? */
static bool is_of_no_trials(const struct orch_report_item *item)
{
    return item->kind == ORCH_REPORT_STUDENT || item->kind == ORCH_REPORT_PALEO ||
           item->kind == ORCH_REPORT_TEXT;
}

/* An item about no trials goes with the other items of its problem; one of a problem without trials
 * is always asked for. */
static bool is_asked(const struct orch_plan *plan, const struct orch_report_item *item)
{
    if (!is_of_no_trials(item) || !item->question)
        return is_about_asked(plan, item);
    bool any = false;
    for (guint i = 0; i < plan->expansion->report->len; i++) {
        const struct orch_report_item *other = plan->expansion->report->pdata[i];
        if (!is_beside(item->question, other->question) || is_of_no_trials(other))
            continue;
        if (is_about_asked(plan, other))
            return true;
        any = true;
    }
    return !any;
}

/* "1.1c" is "1.1c", and of "1.1" and "1", but not of "1.1b" or "1.10". */
static bool is_part_of(const char *question, const char *asked)
{
    size_t length = strlen(asked);
    return question && g_ascii_strncasecmp(question, asked, length) == 0 &&
           !g_ascii_isdigit(question[length]) &&
           !(length && g_ascii_isalpha(asked[length - 1]) && g_ascii_isalpha(question[length]));
}

static bool is_wanted(const struct orch_answer_options *options, const char *question)
{
    bool any = !options->questions || !*options->questions;
    for (const char *const *q = options->questions; q && *q && !any; q++)
        any = is_part_of(question, *q);
    return any;
}

static void complain_of_question(const struct orch_plan *plan, const char *question, GError **error)
{
    g_autoptr(GString) known = g_string_new("its questions: ");
    const char *last = NULL;
    for (guint i = 0; i < plan->expansion->report->len; i++) {
        const struct orch_report_item *item = plan->expansion->report->pdata[i];
        if (item->question && g_strcmp0(item->question, last) != 0)
            g_string_append_printf(known, "%s%s", last ? ", " : "", item->question);
        last = item->question ? item->question : last;
    }
    orch_error_set(error, ORCH_ERROR_USAGE, last ? known->str : "its items have no 'question:'",
                   "the report of '%s' has no question '%s'", plan->expansion->name, question);
}

static bool questions_are_known(const struct orch_plan *plan,
                                const struct orch_answer_options *options, GError **error)
{
    for (const char *const *q = options->questions; q && *q; q++) {
        bool known = false;
        for (guint i = 0; i < plan->expansion->report->len; i++)
            known =
                known ||
                is_part_of(((struct orch_report_item *)plan->expansion->report->pdata[i])->question,
                           *q);
        if (!known) {
            complain_of_question(plan, *q, error);
            return false;
        }
    }
    return true;
}

/* ---- what items share --------------------------------------------------------------------------
 */

char *orch_answer_command(const struct orch_asked *a, const char *verb, const char *more)
{
    const char *recipe = a->options->recipe;
    g_autofree char *path = recipe ? g_strdup(recipe) : g_shell_quote(a->plan->expansion->path);
    return g_strdup_printf("orch %s %s%s%s", verb, path, more ? " " : "", more ? more : "");
}

struct orch_trials *orch_answer_trials(struct orch_asked *a, const char *key, GError **error)
{
    struct orch_trials *trials = orch_trials_of_item(a->plan, a->item, key, error);
    if (!trials)
        return NULL;
    trials->who = a->options->who;
    if (!a->options->counts_disturbed)
        orch_trials_leave_out_disturbed(trials, a->section);
    return trials;
}

/* The experiments that the item's `experiments` names and the profile leaves out. */
static void say_left_out(struct orch_asked *a)
{
    g_autoptr(GPtrArray) names = orch_texts(
        json_is_object(a->item->spec) ? json_object_get(a->item->spec, "experiments") : NULL);
    const struct orch_expansion *expansion = a->plan->expansion;
    for (guint i = 0; i < expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = expansion->experiments->pdata[i];
        if (!experiment->skipped || (names->len && !g_ptr_array_find_with_equal_func(
                                                       names, experiment->name, g_str_equal, NULL)))
            continue;
        orch_section_missing(a->section, NULL, "%s is left out by profile '%s'%s%s",
                             experiment->name, expansion->profile ? expansion->profile : "none",
                             experiment->skip_reason ? ": " : "",
                             experiment->skip_reason ? experiment->skip_reason : "");
    }
}

/* The experiments of trials that nobody has run and that can run here, as words. */
static char *to_run(const struct orch_trials *trials, unsigned *out_count)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    *out_count = 0;
    for (guint i = 0; i < trials->all->len; i++) {
        const struct orch_trial *trial = trials->all->pdata[i];
        if (trial->run || !trial->item || trial->item->state == ORCH_PLAN_SKIPPED)
            continue;
        char *name = trial->item->cell->experiment->name;
        if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
            g_ptr_array_add(names, name);
        (*out_count)++;
    }
    g_ptr_array_add(names, NULL);
    return g_strjoinv(" ", (char **)names->pdata);
}

const char *orch_answer_why_skipped(const struct orch_trials *trials, unsigned *out_count)
{
    const char *why = NULL;
    *out_count = 0;
    for (guint i = 0; i < trials->all->len; i++) {
        const struct orch_trial *trial = trials->all->pdata[i];
        if (trial->run || !trial->item || trial->item->state != ORCH_PLAN_SKIPPED)
            continue;
        why = why ? why : trial->item->reason;
        (*out_count)++;
    }
    return why;
}

void orch_answer_say_missing(struct orch_asked *a, const struct orch_trials *trials)
{
    unsigned missing, skipped;
    g_autofree char *names = to_run(trials, &missing);
    const char *why = orch_answer_why_skipped(trials, &skipped);
    g_autofree char *cure = orch_answer_command(a, "run", names);
    if (!trials->all->len)
        say_left_out(a);
    if (missing)
        orch_section_missing(a->section, cure, "%u of %u trials %s not run", missing,
                             trials->all->len, missing == 1 ? "is" : "are");
    if (skipped)
        orch_section_missing(a->section, NULL, "%u of %u trials cannot run here: %s", skipped,
                             trials->all->len, why ? why : "skipped");
    if (!a->section->done && !missing)
        a->section->state = ORCH_SECTION_SKIPPED;
}

struct orch_answer_grid *orch_answer_grid_begin(struct orch_asked *a, const char *rows_key,
                                                const char *columns_key, GError **error)
{
    const json_t *spec = a->item->spec;
    struct orch_answer_grid *grid = g_new0(struct orch_answer_grid, 1);
    grid->wanted = orch_wanted_parse(json_object_get(spec, "value"));
    grid->rows = orch_texts(json_object_get(spec, rows_key));
    grid->columns = orch_texts(columns_key ? json_object_get(spec, columns_key) : NULL);
    grid->trials = orch_answer_trials(a, "experiments", error);
    if (grid->trials)
        return grid;
    orch_answer_grid_free(grid);
    return NULL;
}

bool orch_answer_grid_fill(struct orch_asked *a, struct orch_answer_grid *grid, GError **error)
{
    grid->grid = orch_grid_new(grid->trials, grid->wanted, grid->rows, grid->columns, error);
    g_autoptr(GHashTable) kept = g_hash_table_new(NULL, NULL);
    for (guint i = 0; grid->grid && i < grid->grid->cells->len; i++) {
        const struct orch_grid_cell *cell = grid->grid->cells->pdata[i];
        for (guint j = 0; j < cell->trials->len; j++) {
            orch_section_trial(a->section, grid->trials, cell->trials->pdata[j]);
            g_hash_table_add(kept, cell->trials->pdata[j]);
        }
    }
    orch_trials_keep(grid->trials, kept); /* others have none of the values: not about them */
    return grid->grid;
}

struct orch_answer_grid *orch_answer_grid(struct orch_asked *a, const char *rows_key,
                                          const char *columns_key, GError **error)
{
    struct orch_answer_grid *grid = orch_answer_grid_begin(a, rows_key, columns_key, error);
    if (!grid || orch_answer_grid_fill(a, grid, error))
        return grid;
    orch_answer_grid_free(grid);
    return NULL;
}

void orch_answer_grid_free(struct orch_answer_grid *grid)
{
    if (!grid)
        return;
    orch_grid_free(grid->grid);
    orch_trials_free(grid->trials);
    g_ptr_array_unref(grid->wanted);
    g_ptr_array_unref(grid->rows);
    g_ptr_array_unref(grid->columns);
    g_free(grid);
}

void orch_answer_say_shared_base(struct orch_asked *a, const struct orch_grid *grid)
{
    g_autofree char *shared = orch_grid_shared_base(grid, a->plan->store);
    if (shared)
        orch_section_note(a->section, "%s", shared);
}

char *orch_difference_text(const struct orch_difference *d, const char *better)
{
    if (isnan(d->p))
        return g_strdup(isfinite(d->mean) ? "with one repeat each it cannot be told from noise"
                                          : "an infinite value cannot be told from noise");
    g_autofree char *interval = orch_interval_format(d->low, d->high), *p = orch_p_format(d->p);
    g_autofree char *corrected = orch_p_format(d->p_corrected);
    const char *way = "";
    if (better && d->is_more_than_noise)
        way = (d->mean > 0) == (strcmp(better, "min") != 0) ? "better, " : "worse, ";
    g_autofree char *count = d->is_paired ? g_strdup_printf("%zu pairs", d->count_a)
                                          : g_strdup_printf("%zu and %zu", d->count_b, d->count_a);
    return g_strdup_printf("95 %% interval of the %sdifference %s (n = %s, %s, p %s, corrected "
                           "%s): %s%s",
                           d->is_paired ? "paired " : "", interval, count, orch_difference_test(d),
                           p, corrected, way,
                           d->is_more_than_noise ? "more than noise" : "not more than noise");
}

/* ---- at what size -------------------------------------------------------------------------------
 */

/* Has another section of the question said the same already? */
static bool is_said(const struct orch_document *document, const struct orch_section *section)
{
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *other = document->sections->pdata[i];
        if (other == section)
            break;
        if (section->question && g_strcmp0(other->question, section->question) == 0 &&
            g_strcmp0(other->scale, section->scale) == 0)
            return true;
    }
    return false;
}

/* A complete section of which the full profile asks for more is complete at small scale. */
static void judge_scale(const struct orch_document *document, const struct orch_scale *scale,
                        const struct orch_report_item *item, struct orch_section *section)
{
    if (!scale || section->state != ORCH_SECTION_COMPLETE || !section->planned)
        return;
    g_autofree char *why = orch_scale_why_small(scale, item);
    if (!why)
        return;
    orch_section_small(section, why);
    if (!is_said(document, section))
        orch_section_note(section, "complete at small scale: %s", why);
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

static void describe(struct orch_document *document, struct orch_plan *plan,
                     const struct orch_answer_options *options)
{
    const struct orch_expansion *expansion = plan->expansion;
    const struct orch_source *source = orch_workspace_source(plan->workspace, NULL);
    document->about = g_strdup(expansion->about);
    document->recipe = g_strdup(expansion->path);
    document->profile = g_strdup(expansion->profile);
    document->commit = source ? g_strdup(source->commit) : NULL;
    document->is_dirty = source && source->dirty;
    document->who = g_strdup(options->who);
    document->machine = g_strdup(orch_workspace_machine(plan->workspace)->cpu_model);
    g_autofree char *now = orch_time_format(orch_now_ns(), false);
    document->made = g_strconcat(now, " UTC", NULL);
    char digest[ORCH_SHA256_CHARS];
    if (plan->store && orch_store_digest_all(plan->store, digest, NULL))
        document->store_digest = g_strdup(digest);
}

static struct orch_asked begin_section(struct orch_document *document, struct orch_plan *plan,
                                       const struct orch_answer_options *options,
                                       const struct orch_report_item *item, const struct kind *kind)
{
    struct orch_section *section =
        orch_document_add(document, kind->name, item->question, item->title);
    struct orch_asked a = {plan, item, options, section, document};
    g_autofree char *only = item->question ? g_strdup_printf("--only %s", item->question) : NULL;
    section->points = item->points;
    section->command = orch_answer_command(&a, "report", only);
    return a;
}

/* Who else's runs are used is known when all other sections are there: `waiting` gathers those. */
static bool add_section(struct orch_document *document, struct orch_plan *plan,
                        const struct orch_answer_options *options,
                        const struct orch_report_item *item, const struct orch_scale *scale,
                        GArray *waiting, GError **error)
{
    const struct kind *kind = kind_of(item);
    if (!kind)
        return true;
    struct orch_asked a = begin_section(document, plan, options, item, kind);
    if (kind->kind == ORCH_REPORT_COLLABORATORS) {
        g_array_append_val(waiting, a);
        return true;
    }
    if (kind->is_slow && options->is_slow_left_out) {
        orch_section_missing(a.section, a.section->command, "left out: it fits models");
        return true;
    }
    if (!kind->answer(&a, error))
        return false;
    g_autofree char *disturbed = orch_disturbed_text(
        a.section->disturbed_left_out, a.section->disturbed_kept, "orch report --disturbed");
    if (disturbed)
        orch_section_note(a.section, "times: %s", disturbed);
    judge_scale(document, scale, item, a.section);
    return true;
}

static bool uses_others(const struct orch_document *document)
{
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        for (guint j = 0; j < section->runs->len; j++)
            if (!((const struct orch_section_run *)section->runs->pdata[j])->is_ours)
                return true;
    }
    return false;
}

/* The sections on others' runs, and one at the end where the report asks for none but uses some. */
static bool add_collaborators(struct orch_document *document, struct orch_plan *plan,
                              const struct orch_answer_options *options, GArray *waiting,
                              GError **error)
{
    static const struct orch_report_item none = {.kind = ORCH_REPORT_COLLABORATORS,
                                                 .title = (char *)"Runs made by others"};
    const struct kind *kind = kind_of(&none);
    bool ok = true;
    if (kind && !waiting->len && uses_others(document)) {
        struct orch_asked a = begin_section(document, plan, options, &none, kind);
        return orch_answer_collaborators(&a, error);
    }
    for (guint i = 0; ok && i < waiting->len; i++)
        ok = orch_answer_collaborators(&g_array_index(waiting, struct orch_asked, i), error);
    return ok;
}

struct orch_document *orch_answer_document(struct orch_plan *plan,
                                           const struct orch_answer_options *options,
                                           GError **error)
{
    if (!questions_are_known(plan, options, error))
        return NULL;
    struct orch_document *document = orch_document_new(plan->expansion->name);
    g_autoptr(GArray) waiting = g_array_new(FALSE, FALSE, sizeof(struct orch_asked));
    struct orch_scale *scale = orch_scale_new(plan);
    describe(document, plan, options);
    bool ok = true;
    for (guint i = 0; ok && i < plan->expansion->report->len; i++) {
        const struct orch_report_item *item = plan->expansion->report->pdata[i];
        if (is_wanted(options, item->question) && (!options->asked_only || is_asked(plan, item)))
            ok = add_section(document, plan, options, item, scale, waiting, error);
    }
    orch_scale_free(scale);
    if (ok && add_collaborators(document, plan, options, waiting, error))
        return document;
    orch_document_free(document);
    return NULL;
}
