/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page is written by code, not from a template: it follows the outline, and every text from
 * outside goes through orch_html_printf or orch_html_append. In addition a content security policy
 * forbids scripts and all requests, so that text that was not escaped could do no harm. */
#include "core/render/page_parts.h"

#include "core/render/markup.h"
#include "core/render/outline.h"
#include "core/stats/numbers.h"
#include "lib/base/ident.h"
#include "lib/base/text.h"
#include "store/store.h"

#include <string.h>

#define RUNS_MAX 500

/* ---- words ----------------------------------------------------------------------------------- */

static void append_state(GString *out, enum orch_section_state state)
{
    static const char *const words[] = {
        "complete",     "complete at small scale", "simulated", "partly missing", "missing",
        "not run here", "yours to write"};
    orch_html_printf(out, "<span class=\"state %s\">%s</span>", orch_section_state_name(state),
                     words[state]);
}

/* Says how much of it is there. */
static void append_share(GString *out, unsigned done, unsigned planned, const char *of)
{
    if (done < planned)
        orch_html_printf(out, "<span class=\"state %s\">%u of %u %s</span>",
                         orch_section_state_name(ORCH_SECTION_PARTIAL), done, planned, of);
    else
        append_state(out, ORCH_SECTION_PARTIAL);
}

static void append_section_state(GString *out, const struct orch_section *section,
                                 enum orch_section_state of_problem)
{
    if (section->state == ORCH_SECTION_PARTIAL)
        append_share(out, section->done, section->planned, "runs");
    else if (section->state != ORCH_SECTION_SMALL || of_problem != ORCH_SECTION_SMALL)
        append_state(out, section->state);
}

/* Counts a part's answers that need runs or calculation, and those of them that are there. */
static void count_answers(const struct orch_outline_part *part, unsigned *done, unsigned *planned)
{
    *done = *planned = 0;
    for (guint i = 0; i < part->sections->len; i++) {
        const enum orch_section_state state =
            ((const struct orch_section *)part->sections->pdata[i])->state;
        *planned += state != ORCH_SECTION_STUDENT;
        *done += state < ORCH_SECTION_PARTIAL;
    }
}

/* Appends the state of a part with several answers, some of which may be the student's. That it is
 * complete at small scale is said at its problem, where all of that is. */
static void append_part_state(GString *out, const struct orch_outline_part *part,
                              enum orch_section_state of_problem)
{
    const enum orch_section_state state = orch_outline_state(part);
    unsigned done, planned;
    count_answers(part, &done, &planned);
    if (state == ORCH_SECTION_PARTIAL)
        append_share(out, done, planned, "answers");
    else if (state != ORCH_SECTION_SMALL || of_problem != ORCH_SECTION_SMALL)
        append_state(out, state);
    if (state != ORCH_SECTION_STUDENT && orch_outline_is_student(part)) {
        g_string_append_c(out, ' ');
        append_state(out, ORCH_SECTION_STUDENT);
    }
}

static void append_problem_state(GString *out, const struct orch_outline_problem *problem)
{
    const enum orch_section_state state = orch_outline_problem_state(problem);
    if (state == ORCH_SECTION_COMPLETE || state == ORCH_SECTION_STUDENT)
        return;
    g_string_append_c(out, ' ');
    append_state(out, state);
}

static void append_points(GString *out, double points)
{
    if (points <= 0)
        return;
    g_autofree char *number = orch_number_format(points);
    orch_html_printf(out, " <span class=\"points\">%s point%s</span>", number,
                     points == 1 ? "" : "s");
}

/* Returns a commit's first digits. */
static char *short_commit(const char *commit)
{
    const bool is_long =
        commit && strlen(commit) > 16 && strspn(commit, "0123456789abcdef") == strlen(commit);
    return g_strndup(commit ? commit : "", is_long ? 12 : 64);
}

static const char *anchor_of(const struct page *page, const struct orch_outline_part *part)
{
    return g_hash_table_lookup(page->anchors, part);
}

/* ---- sections -------------------------------------------------------------------------------- */

/* What most tables of runs have in common is said once above them, so that a row takes one line. */
enum { WHO, DEVICE, COMMIT, SHARED };
static const char *const SHARED_HEADS[SHARED] = {"by", "on", "commit"};

static const char *shared_of(const struct orch_section_run *run, int field)
{
    const char *const fields[SHARED] = {run->who, run->device_key, run->commit};
    return fields[field] ? fields[field] : "";
}

/* The characters at the begin of a field that all runs share: all of it, or of a device the part
 * before the last comma ("AMD EPYC, " of "AMD EPYC, 2 threads"); 0: none. */
static size_t shared_length(const GPtrArray *runs, int field)
{
    const char *first = shared_of(runs->pdata[0], field), *comma = strrchr(first, ',');
    bool are_equal = true, have_prefix = field == DEVICE && comma && comma[1] == ' ';
    const size_t prefix = have_prefix ? (size_t)(comma - first) + strlen(", ") : 0;
    for (guint i = 1; i < runs->len; i++) {
        const char *other = shared_of(runs->pdata[i], field);
        are_equal &= strcmp(first, other) == 0;
        have_prefix &= strncmp(first, other, prefix) == 0;
    }
    return are_equal ? strlen(first) : have_prefix ? prefix : 0;
}

/* The text of a field for people. The caller frees. */
static char *shared_text(const struct orch_section_run *run, int field)
{
    return field == WHO      ? orch_who_name(run->who)
           : field == COMMIT ? short_commit(run->commit)
                             : g_strdup(run->device_key);
}

static bool is_column(const GPtrArray *runs, int field, const size_t *shared)
{
    return runs->len == 1 || strlen(shared_of(runs->pdata[0], field)) != shared[field];
}

static void append_run(GString *out, const GPtrArray *runs, guint at, const size_t *shared)
{
    const struct orch_section_run *run = runs->pdata[at];
    const char *setting = orch_section_run_setting(run);
    orch_html_printf(out, "<tr><th scope=\"row\" class=\"key\" title=\"%s\">%s</th><td>%s</td>",
                     run->key, orch_run_short_key(run->key), run->experiment);
    orch_html_printf(out, "<td>%s</td>", *setting ? setting : "-");
    for (int field = 0; field < SHARED; field++) {
        g_autofree char *whole = shared_text(run, field);
        const char *text =
            whole && runs->len > 1 && field == DEVICE ? whole + shared[field] : whole;
        if (is_column(runs, field, shared))
            orch_html_printf(out, field == COMMIT ? "<td class=\"key\">%s</td>" : "<td>%s</td>",
                             text && *text ? text : "-");
    }
    g_string_append(out, "</tr>\n");
}

/* "All by Ann, on AMD EPYC, of commit 0123456789ab." */
static void append_shared(GString *out, const GPtrArray *runs, const size_t *shared)
{
    static const char *const words[SHARED] = {"by", "on", "of commit"};
    bool any = false;
    for (int field = 0; field < SHARED && runs->len > 1; field++) {
        g_autofree char *text = shared_text(runs->pdata[0], field);
        if (!shared[field])
            continue;
        if (is_column(runs, field, shared))
            text[shared[field] - strlen(", ")] = '\0';
        g_string_append(out, any ? ", " : "<p class=\"note\">All ");
        orch_html_printf(out, "%s %s", words[field], text);
        any = true;
    }
    g_string_append(out, any ? ".</p>\n" : "");
}

static void append_run_table(struct page *page, const GPtrArray *runs)
{
    size_t shared[SHARED];
    for (int field = 0; field < SHARED; field++)
        shared[field] = shared_length(runs, field);
    append_shared(page->out, runs, shared);
    orch_page_scroll(page, "runs");
    g_string_append(page->out, "<table class=\"wide\">\n<thead>\n<tr><th scope=\"col\">run</th><th "
                               "scope=\"col\">experiment</th><th scope=\"col\">setting</th>");
    for (int field = 0; field < SHARED; field++)
        if (is_column(runs, field, shared))
            g_string_append_printf(page->out, "<th scope=\"col\">%s</th>", SHARED_HEADS[field]);
    g_string_append(page->out, "</tr>\n</thead>\n<tbody>\n");
    for (guint i = 0; i < MIN(runs->len, RUNS_MAX); i++)
        append_run(page->out, runs, i, shared);
    g_string_append(page->out, "</tbody>\n</table>\n</div>\n");
    if (runs->len > RUNS_MAX)
        orch_html_printf(page->out, "<p class=\"note\">and %u more: --json lists them all</p>\n",
                         runs->len - RUNS_MAX);
}

/* Returns the runs of some sections without duplicates. Borrowed; the caller unrefs. */
static GPtrArray *runs_of(const GPtrArray *sections)
{
    GPtrArray *runs = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < sections->len; i++) {
        const struct orch_section *section = sections->pdata[i];
        for (guint j = 0; j < section->runs->len; j++) {
            struct orch_section_run *run = section->runs->pdata[j];
            if (g_hash_table_add(seen, run->key))
                g_ptr_array_add(runs, run);
        }
    }
    return runs;
}

static void append_runs(struct page *page, const struct orch_section *section)
{
    const GPtrArray *runs = section->runs;
    if (!runs->len || page->options->is_for_paper)
        return;
    orch_html_printf(page->out, "<details><summary>Made of %u run%s</summary>\n", runs->len,
                     orch_plural(runs->len));
    append_run_table(page, runs);
    g_string_append(page->out, "</details>\n");
}

/* For paper, lists the keys of a part's runs once, below its answers; the details of each run are
 * at the end of the document. */
static void append_part_runs(struct page *page, const struct orch_outline_part *part)
{
    g_autoptr(GPtrArray) runs = runs_of(part->sections);
    if (!runs->len || !page->options->is_for_paper)
        return;
    orch_html_printf(page->out, "<p class=\"note\">Made of %u run%s:", runs->len,
                     orch_plural(runs->len));
    for (guint i = 0; i < MIN(runs->len, RUNS_MAX); i++) {
        const struct orch_section_run *run = runs->pdata[i];
        orch_html_printf(page->out, " <span class=\"key\">%s</span>", orch_run_short_key(run->key));
    }
    g_string_append(page->out, runs->len > RUNS_MAX ? " ...</p>\n" : "</p>\n");
}

/* Appends the command that makes the part again: that of its first answer made by orch. */
static void append_command(struct page *page, const struct orch_outline_part *part)
{
    for (guint i = 0; i < part->sections->len; i++) {
        const struct orch_section *section = part->sections->pdata[i];
        if (!section->command || section->state == ORCH_SECTION_STUDENT)
            continue;
        orch_html_printf(page->out, "<p class=\"command\">This alone: <code>%s</code></p>\n",
                         section->command);
        break;
    }
}

static void append_all_runs(struct page *page)
{
    g_autoptr(GPtrArray) runs = runs_of(page->document->sections);
    if (!runs->len)
        return;
    g_string_append(page->out, "<section id=\"all-runs\">\n<h2>Runs</h2>\n");
    append_run_table(page, runs);
    g_string_append(page->out, "</section>\n");
}

static void append_body(struct page *page, const struct orch_section *section)
{
    page->section = section;
    for (guint i = 0; i < section->blocks->len; i++)
        orch_page_block(page, section->blocks->pdata[i]);
    append_runs(page, section);
}

/* Appends a part: its label, then its answers. A single section has no heading of its own. */
static void append_part(struct page *page, const struct orch_outline_part *part, unsigned level,
                        enum orch_section_state of_problem)
{
    const struct orch_section *first = part->sections->pdata[0];
    const bool is_alone = part->sections->len == 1;
    const char *title = is_alone ? orch_outline_title(part) : NULL;
    if (!title && !part->question)
        title = first->kind;
    orch_html_printf(page->out, "<section id=\"%s\">\n<h%u>", anchor_of(page, part), level);
    if (part->question)
        orch_html_printf(page->out, "<span class=\"label\">%s</span>", part->question);
    orch_html_printf(page->out, title ? "%s " : "%s", title);
    if (is_alone)
        append_section_state(page->out, first, of_problem);
    else
        append_part_state(page->out, part, of_problem);
    append_points(page->out, part->points);
    orch_html_printf(page->out, "</h%u>\n", level);
    for (guint i = 0; i < part->sections->len; i++) {
        const struct orch_section *section = part->sections->pdata[i];
        if (!is_alone) {
            orch_html_printf(page->out, "<h%u>%s ", level + 1,
                             section->title ? section->title : section->kind);
            append_section_state(page->out, section, of_problem);
            orch_html_printf(page->out, "</h%u>\n", level + 1);
        }
        append_body(page, section);
    }
    append_part_runs(page, part);
    append_command(page, part);
    g_string_append(page->out, "</section>\n");
}

/* What full size asks for in the problem, in a fold; on paper there are no folds. */
static void append_scale(struct page *page, const struct orch_block *block)
{
    const bool is_fold = block->table && !page->options->is_for_paper;
    orch_html_printf(page->out,
                     is_fold ? "<details class=\"scale\"><summary>%s</summary>\n"
                             : "<p class=\"note scale\">%s</p>\n",
                     block->text);
    if (block->table) {
        orch_page_scroll(page, "full size");
        orch_html_table(page->out, block->table, NULL, false);
        g_string_append(page->out, "</div>\n");
    }
    g_string_append(page->out, is_fold ? "</details>\n" : "");
}

static void append_scales(struct page *page, const struct orch_outline_problem *problem)
{
    for (guint i = 0; i < problem->parts->len; i++) {
        const struct orch_outline_part *part = problem->parts->pdata[i];
        for (guint k = 0; k < part->sections->len; k++) {
            const struct orch_section *section = part->sections->pdata[k];
            for (guint b = 0; b < section->blocks->len; b++) {
                const struct orch_block *block = section->blocks->pdata[b];
                if (block->kind == ORCH_BLOCK_SCALE)
                    append_scale(page, block);
            }
        }
    }
}

static void append_problem(struct page *page, const struct orch_outline_problem *problem)
{
    if (problem->number) {
        orch_html_printf(page->out, "<h2>Problem %s", problem->number);
        append_problem_state(page->out, problem);
        g_string_append(page->out, "</h2>\n");
    }
    append_scales(page, problem);
    const enum orch_section_state state = orch_outline_problem_state(problem);
    for (guint i = 0; i < problem->parts->len; i++)
        append_part(page, problem->parts->pdata[i], problem->number ? 3 : 2, state);
}

/* ---- head ------------------------------------------------------------------------------------ */

static void append_fact(GString *out, const char *name, const char *value)
{
    if (value && *value)
        orch_html_printf(out, "<dt>%s</dt><dd>%s</dd>\n", name, value);
}

static void append_others(GString *out, const struct orch_document *document)
{
    g_autoptr(GPtrArray) others = orch_outline_others(document, NULL);
    if (!others->len)
        return;
    g_string_append(out, "<dt>collaborators</dt><dd>");
    for (guint i = 0; i < others->len; i++) {
        const struct orch_outline_other *other = others->pdata[i];
        orch_html_printf(out, "%s%s (%u run%s)", i ? ", " : "", other->who, other->runs->len,
                         orch_plural(other->runs->len));
    }
    g_string_append(out, "</dd>\n");
}

static void append_header(GString *out, const struct orch_document *d)
{
    g_autofree char *commit = short_commit(d->commit);
    g_autofree char *source =
        *commit
            ? g_strconcat(commit, d->is_dirty ? ", with changes that are not committed" : "", NULL)
            : NULL;
    orch_html_printf(out, "<header>\n<h1>%s</h1>\n", d->name);
    if (d->about)
        orch_html_printf(out, "<p class=\"about\">%s</p>\n", d->about);
    g_string_append(out, "<dl class=\"facts\">\n");
    append_fact(out, "recipe", d->recipe);
    append_fact(out, "profile", d->profile);
    append_fact(out, "settings", d->settings);
    append_fact(out, "commit", source);
    append_fact(out, "by", d->who);
    append_others(out, d);
    append_fact(out, "machine", d->machine);
    append_fact(out, "made", d->made);
    append_fact(out, "store", d->store_digest);
    g_string_append(out, "</dl>\n</header>\n");
}

static void append_entry(struct page *page, const struct orch_outline_part *part,
                         enum orch_section_state of_problem)
{
    const struct orch_section *first = part->sections->pdata[0];
    const char *title = orch_outline_title(part);
    orch_html_printf(page->out, "<li><a href=\"#%s\">", anchor_of(page, part));
    if (part->question)
        orch_html_printf(page->out, "<span class=\"label\">%s</span>", part->question);
    orch_html_printf(page->out, "%s</a> ", title ? title : first->kind);
    append_part_state(page->out, part, of_problem);
    append_points(page->out, part->points);
    g_string_append(page->out, "</li>\n");
}

static void append_problem_entry(GString *out, const struct orch_outline_problem *problem)
{
    orch_html_printf(out, "<li>Problem %s", problem->number);
    append_problem_state(out, problem);
    g_string_append(out, "\n<ol>\n");
}

static void append_contents(struct page *page, const GPtrArray *problems)
{
    g_string_append(page->out, "<nav aria-labelledby=\"contents\">\n<h2 "
                               "id=\"contents\">Contents</h2>\n<ol>\n");
    for (guint i = 0; i < problems->len; i++) {
        const struct orch_outline_problem *problem = problems->pdata[i];
        if (problem->number)
            append_problem_entry(page->out, problem);
        for (guint j = 0; j < problem->parts->len; j++)
            append_entry(page, problem->parts->pdata[j], orch_outline_problem_state(problem));
        if (problem->number)
            g_string_append(page->out, "</ol>\n</li>\n");
    }
    g_string_append(page->out, "</ol>\n</nav>\n");
}

static GHashTable *make_anchors(const GPtrArray *problems)
{
    GHashTable *anchors = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_add(taken, g_strdup("contents"));
    for (guint i = 0; i < problems->len; i++) {
        const struct orch_outline_problem *problem = problems->pdata[i];
        for (guint j = 0; j < problem->parts->len; j++) {
            struct orch_outline_part *part = problem->parts->pdata[j];
            g_autofree char *slug = orch_outline_slug_unique(
                taken, part->question, part->question ? NULL : orch_outline_title(part));
            g_hash_table_insert(anchors, part, g_strconcat("q-", slug, NULL));
        }
    }
    return anchors;
}

static void append_head(GString *out, const char *name)
{
    g_string_append(
        out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n"
             "<meta name=\"referrer\" content=\"no-referrer\">\n" ORCH_PAGE_MARK "\n");
    orch_html_printf(out, "<title>%s</title>\n<style>\n", name);
    g_string_append(out, ORCH_PAGE_STYLE);
    g_string_append(out, "</style>\n</head>\n<body>\n");
}

static bool is_said(const struct orch_document *document, const char *text)
{
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        for (guint k = 0; k < section->blocks->len; k++) {
            const struct orch_block *block = section->blocks->pdata[k];
            if (block->text && strstr(block->text, text))
                return true;
        }
    }
    return false;
}

/* How the tables show several runs: only the forms that stand in this document, and only where no
 * note says it. */
static void append_footer(GString *out, const struct orch_document *document)
{
    bool forms[ORCH_SPREAD_FORMS] = {false};
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        for (guint k = 0; k < section->blocks->len; k++) {
            const struct orch_table *table =
                ((struct orch_block *)section->blocks->pdata[k])->table;
            for (guint c = 0; table && c < orch_table_rows(table) * orch_table_columns(table); c++)
                forms[orch_table_cell(table, 0, c)->spread.form] = true;
        }
    }
    g_autofree char *legend = orch_spread_legend(forms);
    const bool is_new = legend && !is_said(document, legend);
    orch_html_printf(out, "<footer>\n<p>Made by orch.%s%s</p>\n</footer>\n",
                     is_new ? " In tables, " : "", is_new ? legend : "");
}

char *orch_page_html(const struct orch_document *document, const struct orch_page_options *options)
{
    static const struct orch_page_options none;
    g_autoptr(GPtrArray) problems = orch_outline_new(document);
    g_autoptr(GHashTable) anchors = make_anchors(problems);
    struct page page = {.out = g_string_new(NULL),
                        .document = document,
                        .options = options ? options : &none,
                        .anchors = anchors};
    append_head(page.out, document->name);
    append_header(page.out, document);
    append_contents(&page, problems);
    g_string_append(page.out, "<main>\n");
    for (guint i = 0; i < problems->len; i++)
        append_problem(&page, problems->pdata[i]);
    if (page.options->is_for_paper)
        append_all_runs(&page);
    g_string_append(page.out, "</main>\n");
    append_footer(page.out, document);
    g_string_append(page.out, "</body>\n</html>\n");
    return g_string_free(page.out, FALSE);
}
