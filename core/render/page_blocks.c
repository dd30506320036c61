/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/page_parts.h"

#include "core/render/draw.h"
#include "core/render/markup.h"
#include "lib/base/error.h"
#include "lib/base/file.h"

#include <string.h>

#define PICTURE_BYTES_MAX ((size_t)4 << 20)
#define PICTURES_BYTES_MAX ((size_t)32 << 20)

void orch_page_scroll(struct page *page, const char *what)
{
    orch_html_printf(page->out,
                     "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s %u\">\n",
                     what, ++page->region_count);
}

static void append_links(struct page *page, const struct orch_block *block)
{
    static const char *const chart_endings[] = {"svg", "png", "pdf", "csv", NULL};
    static const char *const table_endings[] = {"csv", "md", "tex", NULL};
    const GHashTable *files = page->options->files;
    const char *name = files ? g_hash_table_lookup((GHashTable *)(uintptr_t)files, block) : NULL;
    if (!name)
        return;
    const char *const *endings = block->chart ? chart_endings : table_endings;
    g_string_append(page->out, "<p class=\"files\">As files:");
    for (const char *const *e = endings; *e; e++)
        orch_html_printf(page->out, " <a href=\"%s/%s.%s\">%s</a>",
                         block->chart ? "charts" : "tables", name, *e, *e);
    g_string_append(page->out, "</p>\n");
}

/* Returns the chart as SVG, or NULL when the page shows charts as text. */
static char *drawing_of(struct page *page, const struct orch_chart *chart)
{
    if (page->options->charts_are_text)
        return NULL;
    g_autofree char *id = g_strdup_printf("c%u", ++page->chart_count);
    return orch_chart_svg(chart, id, NULL);
}

/* Number, title (or axes, where a heading has just said the title) and note. */
static void append_caption(struct page *page, const struct orch_block *block)
{
    const struct orch_chart *chart = block->chart;
    const bool is_said = g_strcmp0(chart->title, page->section->title) == 0;
    g_autofree char *axes = orch_chart_axes(chart);
    const char *title = block->text ? block->text : chart->title && !is_said ? chart->title : axes;
    orch_html_printf(page->out, "<figcaption><b>Figure %u</b>%s%s%s%s</figcaption>\n",
                     ++page->figure_count, title ? ": " : "", title ? title : "",
                     chart->note ? "; " : "", chart->note ? chart->note : "");
}

static void append_table(struct page *page, const struct orch_block *block)
{
    g_autofree char *caption =
        g_strdup_printf("Table %u%s%s", ++page->table_count, block->text ? ": " : "",
                        block->text ? block->text : "");
    orch_page_scroll(page, "table");
    orch_html_table(page->out, block->table, caption, false);
    g_string_append(page->out, "</div>\n");
    append_links(page, block);
}

static void append_chart(struct page *page, const struct orch_block *block)
{
    const struct orch_chart *chart = block->chart;
    g_autofree char *why = orch_chart_obstacle(chart);
    if (why) {
        orch_html_printf(page->out, "<p class=\"note\">%s is not drawn: %s</p>\n",
                         chart->title ? chart->title : "A chart", why);
        return;
    }
    g_autofree char *svg = drawing_of(page, chart);
    g_string_append(page->out, "<figure class=\"chart\">\n");
    orch_page_scroll(page, "chart");
    if (svg) {
        g_string_append(page->out, svg);
    } else {
        g_autofree char *text = orch_chart_text_plain(chart);
        orch_html_printf(page->out, "<pre role=\"img\" aria-label=\"%s\">%s</pre>",
                         chart->title ? chart->title : "chart", text);
    }
    g_string_append(page->out, "\n</div>\n");
    append_caption(page, block);
    g_string_append(page->out, "</figure>\n");
    append_links(page, block);
}

char *orch_picture_base64(const char *path, size_t bytes_max, GError **error)
{
    static const char signature[] = "\x89PNG\r\n\x1a\n";
    g_autofree char *bytes = NULL;
    size_t length = 0;
    if (!orch_file_read(path, bytes_max, &bytes, &length, error))
        return NULL;
    if (length < 8 || memcmp(bytes, signature, 8) != 0) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "'%s' is not a PNG file", path);
        return NULL;
    }
    return g_base64_encode((const guchar *)bytes, length);
}

static size_t bytes_of_base64(const char *data)
{
    const size_t length = strlen(data);
    return length / 4 * 3 - g_str_has_suffix(data, "=") - g_str_has_suffix(data, "==");
}

static void append_picture(struct page *page, const struct orch_picture *picture)
{
    g_autoptr(GError) error = NULL;
    const size_t left = PICTURES_BYTES_MAX - page->picture_bytes;
    g_autofree char *data =
        orch_picture_base64(picture->path, MIN(left, PICTURE_BYTES_MAX), &error);
    const char *caption = picture->caption ? picture->caption : "picture";
    g_string_append(page->out, "<li><figure>");
    if (data) {
        page->picture_bytes += bytes_of_base64(data);
        orch_html_printf(page->out, "<img alt=\"%s\" src=\"data:image/png;base64,", caption);
        g_string_append(page->out, data);
        g_string_append(page->out, "\">");
    } else {
        orch_html_printf(page->out, "<p class=\"note\">not shown: %s</p>", error->message);
    }
    orch_html_printf(page->out, "<figcaption>%s</figcaption></figure></li>\n", caption);
}

static void append_missing(struct page *page, const struct orch_block *block)
{
    orch_html_printf(page->out, "<div class=\"lack\"><p>Missing: %s</p>",
                     block->text ? block->text : "");
    if (block->hint)
        orch_html_printf(page->out, "<p>Get it with: <code>%s</code></p>", block->hint);
    g_string_append(page->out, "</div>\n");
}

void orch_page_block(struct page *page, const struct orch_block *block)
{
    switch (block->kind) {
    case ORCH_BLOCK_ANSWER:
        orch_html_printf(page->out, "<p class=\"answer\">%s</p>\n", block->text);
        return;
    case ORCH_BLOCK_TEXT:
        orch_html_printf(page->out, "<p class=\"text\">%s</p>\n", block->text);
        return;
    case ORCH_BLOCK_NOTE:
        orch_html_printf(page->out, "<p class=\"note\">%s</p>\n", block->text);
        return;
    case ORCH_BLOCK_MISSING:
        append_missing(page, block);
        return;
    case ORCH_BLOCK_TABLE:
        append_table(page, block);
        return;
    case ORCH_BLOCK_CHART:
        append_chart(page, block);
        return;
    case ORCH_BLOCK_PICTURES:
        if (block->text)
            orch_html_printf(page->out, "<p class=\"note\">%s</p>\n", block->text);
        g_string_append(page->out, "<ul class=\"pictures\">\n");
        for (guint i = 0; i < block->pictures->len; i++)
            append_picture(page, block->pictures->pdata[i]);
        g_string_append(page->out, "</ul>\n");
        return;
    case ORCH_BLOCK_CODE:
        orch_page_scroll(page, "document");
        orch_html_printf(page->out, "<pre>%s</pre></div>\n", block->text);
        return;
    case ORCH_BLOCK_SCALE: /* stands at the problem */
        return;
    case ORCH_BLOCK_STUDENT:
        orch_html_printf(page->out, "<div class=\"own\"><p>Yours to write%s%s</p></div>\n",
                         block->text ? ": " : "", block->text ? block->text : "");
        return;
    }
}
