/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/pack/assignment_points.h"

#include "core/report/scale.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

extern const char ORCH_QUESTIONS_TSV[]; /* CMakeLists.txt */

/* ---- the table ---------------------------------------------------------------------------------
 */

static void free_question(gpointer pointer)
{
    struct orch_assignment_part *q = pointer;
    g_free(q->recipe);
    g_free(q->part);
    g_free(q->kind);
    g_free(q->asks);
    g_strfreev(q->items);
    g_free(q);
}

#define COLUMNS 6
static const char HEADING[] = "recipe\tpart\tpoints\tkind\tasks\titem";

struct place {
    const char *name;
    int line;
};

static bool fail_at(struct place at, const char *hint, GError **error, const char *what)
{
    orch_error_set(error, ORCH_ERROR_RECIPE, hint, "%s\n  at: %s:%d:1", what, at.name, at.line);
    return false;
}

static bool check_cells(char **cells, struct place at, double *out_points, GError **error)
{
    if (g_strv_length(cells) != COLUMNS)
        return fail_at(
            at, "each row needs recipe, part, points, kind, asks and item, separated by tabs",
            error, "the row does not have six columns");
    for (int i = 0; i < COLUMNS; i++)
        if (!*cells[i])
            return fail_at(at, "write '-' where no item answers the question", error,
                           "a column is empty");
    return (orch_real_parse(cells[2], out_points) && *out_points >= 0 && *out_points <= 1000) ||
           fail_at(at, "write a number such as 4, 2.5 or 0", error,
                   "the third column is not a number of points");
}

/* Adds the row unless the recipe already has that part. */
static bool add_question(GPtrArray *questions, char **cells, struct place at, double points,
                         GError **error)
{
    for (guint i = 0; i < questions->len; i++) {
        const struct orch_assignment_part *other = questions->pdata[i];
        if (strcmp(other->recipe, cells[0]) == 0 && strcmp(other->part, cells[1]) == 0)
            return fail_at(at, "remove one of the two rows", error,
                           "an earlier row already has this part of the recipe");
    }
    struct orch_assignment_part *q = g_new0(struct orch_assignment_part, 1);
    *q = (struct orch_assignment_part){
        .recipe = g_strdup(cells[0]),
        .part = g_strdup(cells[1]),
        .kind = g_strdup(cells[3]),
        .asks = g_strdup(cells[4]),
        .points = points,
        .items = g_strsplit(strcmp(cells[5], "-") == 0 ? "" : cells[5], ",", -1)};
    g_ptr_array_add(questions, q);
    return true;
}

static bool add_line(GPtrArray *questions, const char *line, struct place at, GError **error)
{
    g_auto(GStrv) cells = g_strsplit(line, "\t", -1);
    double points;
    return check_cells(cells, at, &points, error) &&
           add_question(questions, cells, at, points, error);
}

GPtrArray *orch_assignment_parts_parse(const char *name, const char *text, GError **error)
{
    g_autoptr(GPtrArray) out = g_ptr_array_new_with_free_func(free_question);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    if (!lines[0] || strcmp(lines[0], HEADING) != 0) {
        fail_at((struct place){name, 1}, HEADING, error,
                "the first line does not name the columns");
        return NULL;
    }
    for (int i = 1; lines[i]; i++) {
        bool is_end = !*lines[i] && !lines[i + 1]; /* the empty string after the last newline */
        if (!is_end && !add_line(out, lines[i], (struct place){name, i + 1}, error))
            return NULL;
    }
    return g_steal_pointer(&out);
}

GPtrArray *orch_assignment_parts_read(void)
{
    GError *error = NULL;
    GPtrArray *out = orch_assignment_parts_parse("share/questions.tsv", ORCH_QUESTIONS_TSV, &error);
    if (!out)
        g_error("the built-in list of questions is damaged: %s", error->message);
    return out;
}

bool orch_assignment_part_is_essay(const struct orch_assignment_part *q)
{
    return strcmp(q->kind, "essay") == 0;
}

/* ---- a part ------------------------------------------------------------------------------------
 */

static void free_part(gpointer pointer)
{
    struct orch_points_part *part = pointer;
    g_free(part->label);
    g_free(part->asks);
    g_free(part->why);
    g_free(part->hint);
    g_free(part);
}

static const struct orch_block *first_missing(const struct orch_section *section)
{
    const struct orch_block *first = NULL;
    for (guint i = 0; i < section->blocks->len; i++) {
        const struct orch_block *block = section->blocks->pdata[i];
        if (block->kind == ORCH_BLOCK_MISSING && (!first || (!first->hint && block->hint)))
            first = block;
    }
    return first;
}

/* Returns the first command that a block of the section names for what is missing. */
static const char *first_hint(const struct orch_section *section)
{
    for (guint i = 0; i < section->blocks->len; i++) {
        const struct orch_block *block = section->blocks->pdata[i];
        if (block->kind == ORCH_BLOCK_MISSING && block->hint)
            return block->hint;
    }
    return NULL;
}

struct counts {
    unsigned sections, measured, complete, small, simulated, missing, stale, skipped, student;
};

/* Records why a section is not complete at full size, and the command for it. The first section's
 * reason is kept. */
static void note_why(struct orch_points_part *part, const struct orch_document *document,
                     const struct orch_section *section)
{
    const struct orch_block *missing = first_missing(section);
    const char *why = missing ? missing->text : section->scale;
    const bool is_lesser = missing && part->is_of_scale; /* missing trials come before size */
    if (!why || (part->why && !is_lesser))
        return;
    g_free(part->why);
    g_free(part->hint);
    part->why = g_strdup(why);
    part->hint = missing ? g_strdup(first_hint(section))
                 : document->recipe
                     ? g_strdup_printf("orch run %s -p " ORCH_SCALE_FULL_PROFILE, document->recipe)
                     : NULL;
    part->is_of_scale = !missing;
}

static struct counts count(const struct orch_document *document, struct orch_points_part *part)
{
    struct counts c = {0};
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        if (g_strcmp0(section->question, part->label) != 0)
            continue;
        bool is_student = section->state == ORCH_SECTION_STUDENT;
        bool is_text = strcmp(section->kind, "text") == 0; /* a text section has no measurements */
        c.sections++;
        c.student += is_student;
        c.measured += !is_student && !is_text;
        c.complete += !is_text && section->state == ORCH_SECTION_COMPLETE;
        c.small += section->state == ORCH_SECTION_SMALL;
        c.simulated += section->state == ORCH_SECTION_SIMULATED;
        c.missing += section->state == ORCH_SECTION_MISSING;
        c.stale += section->state == ORCH_SECTION_MISSING && section->stale;
        c.skipped += section->state == ORCH_SECTION_SKIPPED;
        note_why(part, document, section);
    }
    return c;
}

static void judge(const struct orch_document *document, struct orch_points_part *part,
                  bool is_essay)
{
    struct counts c = count(document, part);
    part->needs_text = c.student && c.measured;
    if (!c.measured)
        part->state = is_essay || c.student ? ORCH_POINTS_STUDENT
                      : c.sections          ? ORCH_POINTS_COMPLETE
                                            : ORCH_POINTS_ABSENT;
    else if (c.simulated == c.measured)
        part->state = ORCH_POINTS_SIMULATED;
    else if (c.complete + c.small + c.simulated == c.measured)
        part->state = c.small ? ORCH_POINTS_SMALL : ORCH_POINTS_COMPLETE;
    else if (c.skipped == c.measured)
        part->state = ORCH_POINTS_SKIPPED;
    else if (c.missing + c.skipped == c.measured)
        part->state = c.stale ? ORCH_POINTS_STALE : ORCH_POINTS_NOT_RUN;
    else
        part->state = ORCH_POINTS_PARTIAL;
}

static struct orch_points_part *add_part(GPtrArray *parts, const char *label, double points,
                                         const char *asks)
{
    struct orch_points_part *part = g_new0(struct orch_points_part, 1);
    part->label = g_strdup(label);
    part->points = points;
    part->asks = g_strdup(asks);
    g_ptr_array_add(parts, part);
    return part;
}

/* ---- all parts ---------------------------------------------------------------------------------
 */

static struct orch_points_part *part_of(const GPtrArray *parts, const char *label)
{
    for (guint i = 0; i < parts->len; i++)
        if (strcmp(((struct orch_points_part *)parts->pdata[i])->label, label) == 0)
            return parts->pdata[i];
    return NULL;
}

static void add_listed(GPtrArray *parts, const struct orch_document *document)
{
    g_autoptr(GPtrArray) questions = orch_assignment_parts_read();
    for (guint i = 0; i < questions->len; i++) {
        const struct orch_assignment_part *q = questions->pdata[i];
        if (strcmp(q->recipe, document->name) == 0)
            judge(document, add_part(parts, q->part, q->points, q->asks),
                  orch_assignment_part_is_essay(q));
    }
}

/* Adds the questions that the table does not have. */
static void add_others(GPtrArray *parts, const struct orch_document *document)
{
    guint listed = parts->len;
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        struct orch_points_part *part =
            section->question ? part_of(parts, section->question) : NULL;
        if (section->question && !part)
            add_part(parts, section->question, section->points, NULL);
        else if (part && !part->asks)
            part->points += section->points;
    }
    for (guint i = listed; i < parts->len; i++)
        judge(document, parts->pdata[i], false);
}

GPtrArray *orch_points_of(const struct orch_document *document)
{
    GPtrArray *parts = g_ptr_array_new_with_free_func(free_part);
    add_listed(parts, document);
    add_others(parts, document);
    return parts;
}

const char *orch_points_state_name(enum orch_points_state state)
{
    static const char *const names[] = {
        "complete", "complete at small scale", "simulated",     "partial", "not run", "stale",
        "skipped",  "not in the recipe yet",   "yours to write"};
    return names[state];
}

/* ---- sums --------------------------------------------------------------------------------------
 */

double orch_points_sum(const GPtrArray *parts, enum orch_points_state state, unsigned *out_count)
{
    double sum = 0;
    unsigned count = 0;
    for (guint i = 0; i < parts->len; i++) {
        const struct orch_points_part *part = parts->pdata[i];
        if (part->state != state)
            continue;
        sum += part->points;
        count++;
    }
    if (out_count)
        *out_count = count;
    return sum;
}

double orch_points_to_write(const GPtrArray *parts, unsigned *out_count)
{
    unsigned count;
    double sum = orch_points_sum(parts, ORCH_POINTS_STUDENT, &count);
    for (guint i = 0; i < parts->len; i++) {
        const struct orch_points_part *part = parts->pdata[i];
        sum += part->needs_text ? part->points : 0;
        count += part->needs_text;
    }
    if (out_count)
        *out_count = count;
    return sum;
}

double orch_points_all(const GPtrArray *parts)
{
    double sum = 0;
    for (int state = 0; state < ORCH_POINTS_STATES; state++)
        sum += orch_points_sum(parts, (enum orch_points_state)state, NULL);
    return sum;
}

bool orch_points_is_open(const struct orch_points_part *part)
{
    return part->state != ORCH_POINTS_COMPLETE && part->state != ORCH_POINTS_STUDENT;
}

json_t *orch_points_totals_json(const GPtrArray *parts)
{
    json_t *totals = json_pack("{s:o}", "all", orch_json_finite(orch_points_all(parts)));
    for (int state = 0; state < ORCH_POINTS_STATES; state++)
        json_object_set_new(
            totals, orch_points_state_name((enum orch_points_state)state),
            orch_json_finite(orch_points_sum(parts, (enum orch_points_state)state, NULL)));
    json_object_set_new(totals, "to_write", orch_json_finite(orch_points_to_write(parts, NULL)));
    return totals;
}
