/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/show_text.h"

#include "core/render/draw.h"
#include "lib/base/ident.h"
#include "lib/base/text.h"
#include "store/store.h"

#include <string.h>

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"
/* On narrower terminals nothing is wrapped. */
#define COLUMNS_MIN 30
#define CHART_ROWS 20

/* ---- lines -------------------------------------------------------------------------------------
 */

/* Appends one line of text, wrapped at words; continuation lines are indented further. */
static void append_wrapped(GString *out, const char *text, const struct orch_show_text *how)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    int at = 2, limit = how->columns >= COLUMNS_MIN ? how->columns : 0;
    g_string_append(out, "  ");
    for (int i = 0; words[i]; i++) {
        int width = orch_text_columns(words[i]);
        if (i && limit && at + 1 + width > limit) {
            g_string_append(out, "\n    ");
            at = 4;
        } else if (i) {
            g_string_append_c(out, ' ');
            at++;
        }
        g_string_append(out, words[i]);
        at += width;
    }
    g_string_append_c(out, '\n');
}

static void append_text(GString *out, const char *text, const struct orch_show_text *how)
{
    g_autofree char *plain = orch_text_plain(g_strdup(text));
    g_auto(GStrv) lines = g_strsplit(plain, "\n", -1);
    for (int i = 0; lines[i]; i++)
        append_wrapped(out, g_strchomp(lines[i]), how);
}

static void append_dim(GString *out, const char *text, const struct orch_show_text *how)
{
    if (how->color)
        g_string_append(out, DIM);
    append_text(out, text, how);
    if (how->color)
        g_string_append(out, PLAIN);
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

static void append_table(GString *out, const struct orch_table *table,
                         const struct orch_show_text *how)
{
    g_autofree char *text =
        orch_table_aligned(table, how->color, how->columns ? how->columns - 2 : 0);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (int i = 0; lines[i] && *lines[i]; i++)
        g_string_append_printf(out, "  %s\n", lines[i]);
}

static void append_chart(GString *out, const struct orch_chart *chart, const char *said,
                         const struct orch_show_text *how)
{
    struct orch_draw_text draw = {.columns = CLAMP(how->columns ? how->columns - 2 : 78, 40, 100),
                                  .rows = CHART_ROWS,
                                  .ascii = how->ascii,
                                  .said = said,
                                  .color = how->color};
    g_autofree char *text = orch_chart_text(chart, &draw);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (int i = 0; lines[i] && (*lines[i] || lines[i + 1]); i++)
        g_string_append_printf(out, "  %s\n", lines[i]);
}

static void append_missing(GString *out, const struct orch_block *block,
                           const struct orch_show_text *how)
{
    g_autofree char *text = g_strdup_printf("missing: %s", block->text);
    append_text(out, text, how);
    g_autofree char *hint = orch_text_plain(g_strdup(block->hint));
    if (hint)
        g_string_append_printf(out, "  to have it: %s\n", hint);
}

static void append_pictures(GString *out, const struct orch_block *block,
                            const struct orch_show_text *how)
{
    for (guint i = 0; i < block->pictures->len; i++) {
        const struct orch_picture *picture = block->pictures->pdata[i];
        g_autofree char *text = g_strdup_printf(
            "%s: picture %s", picture->caption ? picture->caption : "-", picture->path);
        append_text(out, text, how);
    }
}

/* The lines as they are, so that they can be copied. */
static void append_code(GString *out, const char *text)
{
    g_autofree char *plain = orch_text_plain(g_strdup(text));
    g_auto(GStrv) lines = g_strsplit(plain, "\n", -1);
    for (int i = 0; lines[i] && (*lines[i] || lines[i + 1]); i++)
        g_string_append_printf(out, "  %s\n", lines[i]);
}

static void append_student(GString *out, const struct orch_block *block,
                           const struct orch_show_text *how)
{
    g_autofree char *text = g_strdup_printf("yours to write%s%s", block->text ? ": " : "",
                                            block->text ? block->text : "");
    append_dim(out, text, how);
}

static void append_block(GString *out, const struct orch_section *section,
                         const struct orch_block *block, const struct orch_show_text *how)
{
    switch (block->kind) {
    case ORCH_BLOCK_ANSWER:
    case ORCH_BLOCK_TEXT:
        append_text(out, block->text, how);
        break;
    case ORCH_BLOCK_NOTE:
        append_dim(out, block->text, how);
        break;
    case ORCH_BLOCK_MISSING:
        append_missing(out, block, how);
        break;
    case ORCH_BLOCK_TABLE:
        append_table(out, block->table, how);
        break;
    case ORCH_BLOCK_CHART:
        append_chart(out, block->chart, section->title, how);
        break;
    case ORCH_BLOCK_PICTURES:
        append_pictures(out, block, how);
        break;
    case ORCH_BLOCK_CODE:
        append_code(out, block->text);
        break;
    case ORCH_BLOCK_SCALE:
        append_dim(out, block->text, how);
        if (block->table)
            append_table(out, block->table, how);
        break;
    case ORCH_BLOCK_STUDENT:
        append_student(out, block, how);
        break;
    }
}

static void append_runs(GString *out, const struct orch_section *section,
                        const struct orch_show_text *how)
{
    if (!section->runs->len)
        return;
    g_string_append_printf(out, "  runs: %u of %u\n", section->done, section->planned);
    for (guint i = 0; i < section->runs->len; i++) {
        const struct orch_section_run *run = section->runs->pdata[i];
        g_autofree char *who = orch_who_name(run->who);
        g_autofree char *text = g_strdup_printf(
            "  %s  %s  by %s on %s", orch_run_short_key(run->key), run->label ? run->label : "-",
            who ? who : "-", run->device_key ? run->device_key : "-");
        append_dim(out, text, how);
    }
}

/* ---- sections ----------------------------------------------------------------------------------
 */

static void append_section(GString *out, const struct orch_section *section,
                           const struct orch_show_text *how)
{
    const char *question = section->question ? section->question : "";
    g_autofree char *title = orch_text_line(g_strdup(section->title ? section->title : ""));
    if (*question || *title)
        g_string_append_printf(out, "%s%s%s%s%s\n", how->color ? BOLD : "", question,
                               *question && *title ? "  " : "", title, how->color ? PLAIN : "");
    for (guint i = 0; i < section->blocks->len; i++)
        append_block(out, section, section->blocks->pdata[i], how);
    if (how->runs)
        append_runs(out, section, how);
}

static void append_heading(GString *out, const struct orch_document *document,
                           const struct orch_show_text *how)
{
    g_autofree char *about = orch_text_plain(g_strdup(document->about));
    g_string_append_printf(out, "%s%s%s%s%s\n", how->color ? BOLD : "", document->name,
                           about ? ": " : "", about ? about : "", how->color ? PLAIN : "");
    if (document->profile)
        g_string_append_printf(out, "  profile %s\n", document->profile);
    if (document->settings)
        g_string_append_printf(out, "  settings %s\n", document->settings);
    if (document->commit)
        g_string_append_printf(out, "  commit %.10s%s\n", document->commit,
                               document->is_dirty ? " with uncommitted changes" : "");
    g_string_append_printf(out, "  report made %s by %s on %s\n", document->made,
                           document->who ? document->who : "-",
                           document->machine ? document->machine : "-");
}

char *orch_document_show_text(const struct orch_document *document,
                              const struct orch_show_text *how)
{
    GString *out = g_string_new(NULL);
    if (how->heading)
        append_heading(out, document, how);
    for (guint i = 0; i < document->sections->len; i++) {
        g_string_append_c(out, '\n');
        append_section(out, document->sections->pdata[i], how);
    }
    return g_string_free(out, FALSE);
}
