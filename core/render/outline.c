/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/outline.h"

#include "lib/base/ident.h"

#include <string.h>

#define SLUG_MAX 60

static void free_part(gpointer pointer)
{
    struct orch_outline_part *part = pointer;
    g_ptr_array_unref(part->sections);
    g_free(part);
}

static void free_problem(gpointer pointer)
{
    struct orch_outline_problem *problem = pointer;
    g_free(problem->number);
    g_ptr_array_unref(problem->parts);
    g_free(problem);
}

/* Returns the problem of a question (NULL: of none), and adds it when it does not exist. */
static struct orch_outline_problem *problem_of(GPtrArray *problems, const char *question)
{
    g_autofree char *number = question ? g_strndup(question, strcspn(question, ".")) : NULL;
    for (guint i = 0; i < problems->len; i++) {
        struct orch_outline_problem *problem = problems->pdata[i];
        if (g_strcmp0(problem->number, number) == 0)
            return problem;
    }
    struct orch_outline_problem *problem = g_new0(struct orch_outline_problem, 1);
    problem->number = g_steal_pointer(&number);
    problem->parts = g_ptr_array_new_with_free_func(free_part);
    g_ptr_array_add(problems, problem);
    return problem;
}

static struct orch_outline_part *part_of(struct orch_outline_problem *problem, const char *question)
{
    for (guint i = 0; question && i < problem->parts->len; i++) {
        struct orch_outline_part *part = problem->parts->pdata[i];
        if (strcmp(part->question, question) == 0)
            return part;
    }
    struct orch_outline_part *part = g_new0(struct orch_outline_part, 1);
    part->question = question;
    part->sections = g_ptr_array_new();
    g_ptr_array_add(problem->parts, part);
    return part;
}

/* Moves the sections without a question after the problems. */
static void put_unasked_last(GPtrArray *problems)
{
    for (guint i = 0; i + 1 < problems->len; i++)
        if (!((struct orch_outline_problem *)problems->pdata[i])->number) {
            g_ptr_array_add(problems, g_ptr_array_steal_index(problems, i));
            return;
        }
}

GPtrArray *orch_outline_new(const struct orch_document *document)
{
    GPtrArray *problems = g_ptr_array_new_with_free_func(free_problem);
    for (guint i = 0; i < document->sections->len; i++) {
        struct orch_section *section = document->sections->pdata[i];
        const char *question = section->question && *section->question ? section->question : NULL;
        struct orch_outline_part *part = part_of(problem_of(problems, question), question);
        part->points = MAX(part->points, section->points);
        g_ptr_array_add(part->sections, section);
    }
    put_unasked_last(problems);
    return problems;
}

static bool has_measured(const struct orch_outline_part *part)
{
    for (guint i = 0; i < part->sections->len; i++) {
        const struct orch_section *section = part->sections->pdata[i];
        if (section->done > section->simulated)
            return true;
    }
    return false;
}

enum orch_section_state orch_outline_state(const struct orch_outline_part *part)
{
    unsigned counts[ORCH_SECTION_STUDENT + 1] = {0};
    for (guint i = 0; i < part->sections->len; i++)
        counts[((const struct orch_section *)part->sections->pdata[i])->state]++;
    if (counts[ORCH_SECTION_SMALL]) { /* one answer at small scale makes the whole part small-scale
                                       */
        counts[ORCH_SECTION_SMALL] +=
            counts[ORCH_SECTION_COMPLETE] + counts[ORCH_SECTION_SIMULATED];
    } else if (counts[ORCH_SECTION_SIMULATED]) { /* a part whose runs are all simulated is simulated
                                                  */
        const enum orch_section_state state =
            has_measured(part) ? ORCH_SECTION_COMPLETE : ORCH_SECTION_SIMULATED;
        counts[state] = counts[ORCH_SECTION_COMPLETE] + counts[ORCH_SECTION_SIMULATED];
    }
    const unsigned measured = part->sections->len - counts[ORCH_SECTION_STUDENT];
    if (!measured)
        return ORCH_SECTION_STUDENT;
    for (enum orch_section_state s = ORCH_SECTION_COMPLETE; s < ORCH_SECTION_STUDENT; s++)
        if (counts[s] == measured)
            return s;
    return ORCH_SECTION_PARTIAL;
}

enum orch_section_state orch_outline_problem_state(const struct orch_outline_problem *problem)
{
    enum orch_section_state worst = ORCH_SECTION_STUDENT;
    for (guint i = 0; i < problem->parts->len; i++) {
        const enum orch_section_state state = orch_outline_state(problem->parts->pdata[i]);
        if (state != ORCH_SECTION_STUDENT && (worst == ORCH_SECTION_STUDENT || state > worst))
            worst = state;
    }
    return worst;
}

const char *orch_outline_title(const struct orch_outline_part *part)
{
    for (guint i = 0; i < part->sections->len; i++) {
        const struct orch_section *section = part->sections->pdata[i];
        if (section->title && *section->title)
            return section->title;
    }
    return NULL;
}

bool orch_outline_is_student(const struct orch_outline_part *part)
{
    for (guint i = 0; i < part->sections->len; i++) {
        const struct orch_section *section = part->sections->pdata[i];
        if (section->state == ORCH_SECTION_STUDENT)
            return true;
        for (guint j = 0; j < section->blocks->len; j++)
            if (((const struct orch_block *)section->blocks->pdata[j])->kind == ORCH_BLOCK_STUDENT)
                return true;
    }
    return false;
}

/* ---- other users -------------------------------------------------------------------------------
 */

static void free_other(gpointer pointer)
{
    struct orch_outline_other *other = pointer;
    g_free(other->who);
    g_ptr_array_unref(other->runs);
    g_free(other);
}

static struct orch_outline_other *other_of(GPtrArray *others, const char *who)
{
    for (guint i = 0; i < others->len; i++) {
        struct orch_outline_other *other = others->pdata[i];
        if (strcmp(other->who, who) == 0 || orch_who_is_same(other->who, who))
            return other;
    }
    struct orch_outline_other *other = g_new0(struct orch_outline_other, 1);
    other->who = g_strdup(who);
    other->runs = g_ptr_array_new();
    g_ptr_array_add(others, other);
    return other;
}

static bool is_of(const struct orch_outline_problem *problem, const struct orch_section *section)
{
    for (guint i = 0; problem && i < problem->parts->len; i++)
        if (g_ptr_array_find(((struct orch_outline_part *)problem->parts->pdata[i])->sections,
                             section, NULL))
            return true;
    return !problem;
}

GPtrArray *orch_outline_others(const struct orch_document *document,
                               const struct orch_outline_problem *problem)
{
    GPtrArray *others = g_ptr_array_new_with_free_func(free_other);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        for (guint j = 0; is_of(problem, section) && j < section->runs->len; j++) {
            struct orch_section_run *run = section->runs->pdata[j];
            if (!run->is_ours && g_hash_table_add(seen, run->key))
                g_ptr_array_add(other_of(others, run->who ? run->who : "someone unknown")->runs,
                                run);
        }
    }
    return others;
}

/* ---- names -------------------------------------------------------------------------------------
 */

/* Keeps a dot only between letters or digits ("1.1c"), so no name begins or ends with a dot. */
static void append_slug(GString *out, const char *text)
{
    g_autofree char *ascii = g_str_to_ascii(text ? text : "", "C");
    for (const char *p = ascii; *p && out->len <= SLUG_MAX; p++) {
        const char last = out->len ? out->str[out->len - 1] : '-';
        if (g_ascii_isalnum(*p))
            g_string_append_c(out, g_ascii_tolower(*p));
        else if (*p == '.' && g_ascii_isalnum(last) && g_ascii_isalnum(p[1]))
            g_string_append_c(out, '.');
        else if (last != '-' && last != '.' && *p != '\'')
            g_string_append_c(out, '-');
    }
}

/* Shortens at a word boundary if there is one. */
static void shorten(GString *out)
{
    const bool is_between = out->str[SLUG_MAX] == '-';
    g_string_truncate(out, SLUG_MAX);
    const char *last = strrchr(out->str, '-');
    if (!is_between && last && last - out->str >= SLUG_MAX / 2)
        g_string_truncate(out, (gsize)(last - out->str));
}

char *orch_outline_slug(const char *question, const char *title)
{
    GString *out = g_string_new(NULL);
    append_slug(out, question);
    if (out->len && out->str[out->len - 1] != '-')
        g_string_append_c(out, '-');
    append_slug(out, title);
    if (out->len > SLUG_MAX)
        shorten(out);
    while (out->len && strchr("-.", out->str[out->len - 1]))
        g_string_truncate(out, out->len - 1);
    if (!out->len)
        g_string_append(out, "item");
    return g_string_free(out, FALSE);
}

char *orch_outline_slug_unique(GHashTable *taken, const char *question, const char *title)
{
    g_autofree char *slug = orch_outline_slug(question, title);
    char *name = g_strdup(slug);
    for (unsigned n = 2; g_hash_table_contains(taken, name); n++) {
        g_free(name);
        name = g_strdup_printf("%s-%u", slug, n);
    }
    g_hash_table_add(taken, g_strdup(name));
    return name;
}
