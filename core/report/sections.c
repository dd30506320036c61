/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/items.h"

#include "core/report/answers_once.h"
#include "core/report/full_size_note.h"
#include "core/report/item_names.h"
#include "core/report/scale.h"
#include "core/report/section_words.h"
#include "core/report/shared_notes.h"
#include "core/stats/numbers.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* ---- selection of items ---------------------------------------------------------------------- */

/* Returns whether the item is about a trial that was requested. The section of any other item
 * would be empty. */
static bool is_about_asked(const struct orch_plan *plan, const struct orch_report_item *item)
{
    g_autoptr(GPtrArray) experiments = orch_texts_from_json(
        json_is_object(item->spec) ? json_object_get(item->spec, "experiments") : NULL);
    for (unsigned i = 0; experiments->len && i < plan->count; i++)
        if (plan->items[i].state != ORCH_PLAN_UNUSED && !plan->items[i].cell->experiment->skipped &&
            orch_texts_have(experiments, plan->items[i].cell->experiment->name))
            return true;
    return !experiments->len;
}

/* Returns whether two questions belong to the same problem: the text before the first dot is
 * equal. */
static bool is_same_problem(const char *a, const char *b)
{
    size_t length = a ? strcspn(a, ".") : 0;
    return a && b && strcspn(b, ".") == length && strncmp(a, b, length) == 0;
}

/* Returns whether an item uses no trials. */
static bool is_of_no_trials(const struct orch_report_item *item)
{
    return item->kind->has_trials && !item->kind->has_trials(item->spec);
}

/* An item without trials is requested together with the other items of its problem. When the
 * problem has no item with trials, it is always requested. */
static bool is_asked(const struct orch_plan *plan, const struct orch_report_item *item)
{
    if (!is_of_no_trials(item) || !item->question)
        return is_about_asked(plan, item);
    bool any = false;
    for (guint i = 0; i < plan->expansion->report->len; i++) {
        const struct orch_report_item *other = plan->expansion->report->pdata[i];
        if (!is_same_problem(item->question, other->question) || is_of_no_trials(other))
            continue;
        if (is_about_asked(plan, other))
            return true;
        any = true;
    }
    return !any;
}

/* Returns whether `asked` is the question or a level above it: "1.1c" belongs to "1.1c", "1.1" and
 * "1", but not to "1.1b" or "1.10". */
static bool is_part_of(const char *question, const char *ctx)
{
    size_t length = strlen(ctx);
    return question && g_ascii_strncasecmp(question, ctx, length) == 0 &&
           !g_ascii_isdigit(question[length]) &&
           !(length && g_ascii_isalpha(ctx[length - 1]) && g_ascii_isalpha(question[length]));
}

/* Returns whether the user asked for the question; "p1" is problem 1, as on other commands. */
static bool is_asked_for(const char *question, const char *words)
{
    const bool is_problem = words[0] == 'p' && g_ascii_isdigit(words[1]);
    return is_part_of(question, words) || (is_problem && is_part_of(question, words + 1));
}

static bool is_wanted(const struct orch_report_options *options, const char *question)
{
    bool any = !options->questions || !*options->questions;
    for (const char *const *q = options->questions; q && *q && !any; q++)
        any = is_asked_for(question, *q);
    return any;
}

bool orch_report_has_question(const struct orch_expansion *expansion, const char *words)
{
    for (guint i = 0; i < expansion->report->len; i++)
        if (is_asked_for(((struct orch_report_item *)expansion->report->pdata[i])->question, words))
            return true;
    return false;
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
    orch_error_set(error, ORCH_ERROR_USAGE,
                   last ? known->str : "add 'question:' to the report's items",
                   "the report of '%s' has no question '%s'", plan->expansion->name, question);
}

static bool questions_are_known(const struct orch_plan *plan,
                                const struct orch_report_options *options, GError **error)
{
    for (const char *const *q = options->questions; q && *q; q++) {
        if (!orch_report_has_question(plan->expansion, *q)) {
            complain_of_question(plan, *q, error);
            return false;
        }
    }
    return true;
}

/* ---- scale ----------------------------------------------------------------------------------- */

/* Marks a complete section as complete at small scale when the full profile asks for more. */
static void judge_scale(const struct orch_scale *scale, const struct orch_report_item *item,
                        struct orch_section *section)
{
    if (!scale || section->state != ORCH_SECTION_COMPLETE || !section->planned)
        return;
    g_autofree char *why = orch_scale_why_small(scale, item);
    if (why)
        orch_section_small(section, why);
}

/* Marks a complete section whose trials are all simulated. */
static void judge_simulated(struct orch_section *section)
{
    if (section->state != ORCH_SECTION_COMPLETE || !section->done ||
        section->simulated < section->done)
        return;
    section->state = ORCH_SECTION_SIMULATED;
    orch_section_note(section, "simulated: no machine ran these trials");
}

/* ---- document -------------------------------------------------------------------------------- */

static void describe(struct orch_document *document, struct orch_plan *plan,
                     const struct orch_report_options *options)
{
    const struct orch_expansion *expansion = plan->expansion;
    const struct orch_source *source = orch_workspace_source(plan->workspace, NULL);
    document->about = g_strdup(expansion->about);
    document->recipe = g_strdup(expansion->path);
    document->profile = g_strdup(expansion->profile);
    document->settings = g_strdup(options->settings);
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

static struct orch_section_context begin_section(struct orch_document *document,
                                                 struct orch_plan *plan,
                                                 const struct orch_report_options *options,
                                                 const struct orch_report_item *item)
{
    struct orch_section *section =
        orch_document_add(document, item->kind->name, item->question, item->title);
    struct orch_section_context a = {plan, item, options, section, document};
    g_autofree char *only = item->question ? g_strdup_printf("--only %s", item->question) : NULL;
    section->points = item->points;
    section->command = orch_section_command(&a, "report", only);
    return a;
}

/* Adds an item's section. A section that summarises the other sections (`joins`) is queued in
 * `waiting`. */
static bool add_section(struct orch_document *document, struct orch_plan *plan,
                        const struct orch_report_options *options,
                        const struct orch_report_item *item, const struct orch_scale *scale,
                        GArray *waiting, GError **error)
{
    struct orch_section_context a = begin_section(document, plan, options, item);
    if (item->kind->joins) {
        g_array_append_val(waiting, a);
        return true;
    }
    if (item->kind->is_slow && options->is_slow_left_out) {
        orch_section_missing(a.section, a.section->command, "left out: it fits models");
        return true;
    }
    if (!item->kind->fill(&a, error))
        return false;
    g_autoptr(GHashTable) names = orch_item_names(item, plan->expansion);
    orch_section_words(a.section, names);
    g_autofree char *disturbed = orch_disturbed_text(
        a.section->disturbed_left_out, a.section->disturbed_kept, "orch report --disturbed");
    if (disturbed)
        orch_section_note(a.section, "times: %s", disturbed);
    if (item->kind->divides_times && a.section->disturbed_kept)
        orch_section_answer_add(a.section,
                                "%u of the %u measured runs were disturbed by other programs",
                                a.section->disturbed_kept, a.section->done - a.section->simulated);
    judge_simulated(a.section);
    judge_scale(scale, item, a.section);
    return true;
}

/* Adds the sections of kinds that join a report without an item of theirs. */
static bool add_joining(struct orch_document *document, struct orch_plan *plan,
                        const struct orch_report_options *options, const GArray *waiting,
                        GError **error)
{
    g_autoptr(GPtrArray) kinds = orch_report_kinds();
    bool ok = true;
    for (guint i = 0; ok && i < kinds->len; i++) {
        const struct orch_report_kind *kind = kinds->pdata[i];
        bool is_there = false;
        for (guint j = 0; j < waiting->len; j++)
            is_there |= g_array_index(waiting, struct orch_section_context, j).item->kind == kind;
        const char *title = kind->joins && !is_there ? kind->joins(document) : NULL;
        if (!title)
            continue;
        const struct orch_report_item item = {.kind = kind, .title = (char *)(uintptr_t)title};
        struct orch_section_context a = begin_section(document, plan, options, &item);
        ok = kind->fill(&a, error);
    }
    return ok;
}

/* Fills the queued sections, which summarise the others. */
static bool add_last(struct orch_document *document, struct orch_plan *plan,
                     const struct orch_report_options *options, const GArray *waiting,
                     GError **error)
{
    bool ok = add_joining(document, plan, options, waiting, error);
    for (guint i = 0; ok && i < waiting->len; i++) {
        struct orch_section_context *a = &g_array_index(waiting, struct orch_section_context, i);
        ok = a->item->kind->fill(a, error);
    }
    return ok;
}

struct orch_document *orch_report_document(struct orch_plan *plan,
                                           const struct orch_report_options *options,
                                           GError **error)
{
    if (!questions_are_known(plan, options, error))
        return NULL;
    struct orch_document *document = orch_document_new(plan->expansion->name);
    g_autoptr(GArray) waiting = g_array_new(FALSE, FALSE, sizeof(struct orch_section_context));
    struct orch_scale *scale = orch_scale_new(plan);
    describe(document, plan, options);
    bool ok = true;
    for (guint i = 0; ok && i < plan->expansion->report->len; i++) {
        const struct orch_report_item *item = plan->expansion->report->pdata[i];
        if (is_wanted(options, item->question) &&
            (!options->requested_only || is_asked(plan, item)))
            ok = add_section(document, plan, options, item, scale, waiting, error);
    }
    orch_scale_free(scale);
    if (ok && add_last(document, plan, options, waiting, error)) {
        orch_answers_once(document);
        orch_method_gather(document);
        orch_scale_say(document);
        return document;
    }
    orch_document_free(document);
    return NULL;
}
