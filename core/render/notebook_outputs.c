/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The outputs of commands in the form of notebook cells. */
#include "core/render/notebook_cells.h"

#include "core/render/draw.h"
#include "core/render/markup.h"
#include "core/render/page.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

#define PICTURE_BYTES_MAX ((size_t)4 << 20)

/* Appends text as a command's output. It extends a preceding text output. */
void orch_notebook_add_text(json_t *outputs, const char *text)
{
    json_t *last = json_array_get(outputs, json_array_size(outputs) - 1);
    json_t *lines = orch_notebook_lines(text);
    if (last && strcmp(orch_json_text(last, "output_type", ""), "stream") == 0) {
        json_array_extend(json_object_get(last, "text"), lines);
        json_decref(lines);
        return;
    }
    json_array_append_new(outputs, json_pack("{s:s, s:s, s:o}", "name", "stdout", "output_type",
                                             "stream", "text", lines));
}

static void add_line(json_t *outputs, const char *before, const char *text)
{
    g_autofree char *line = g_strconcat(before, text ? text : "", "\n", NULL);
    orch_notebook_add_text(outputs, line);
}

/* Takes ownership of `data`: MIME types and their content. */
static void add_display(json_t *outputs, json_t *data)
{
    json_array_append_new(outputs, json_pack("{s:o, s:{}, s:s}", "data", data, "metadata",
                                             "output_type", "display_data"));
}

static void add_table(json_t *outputs, const struct orch_block *block)
{
    g_autoptr(GString) html = g_string_new(NULL);
    orch_html_table(html, block->table, block->text, true);
    g_autofree char *text = orch_table_format(block->table, ORCH_TABLE_TEXT);
    add_display(outputs, json_pack("{s:o, s:o}", "text/html", orch_notebook_lines(html->str),
                                   "text/plain", orch_notebook_lines(text)));
}

/* Embeds the PNG in HTML too, which is preferred to SVG where both are supported, because
 * nbconvert 6 drops SVG. */
static json_t *image_html(const char *title, const char *base64)
{
    g_autoptr(GString) html = g_string_new(NULL);
    orch_html_printf(html,
                     "<img alt=\"%s\" style=\"width:640px;max-width:100%%;background:white\" "
                     "src=\"data:image/png;base64,%s\">",
                     title ? title : "chart", base64);
    return json_string(html->str);
}

static void add_chart(json_t *outputs, const struct orch_block *block)
{
    const struct orch_chart *chart = block->chart;
    g_autofree char *why = orch_chart_obstacle(chart);
    if (why) {
        g_autofree char *line =
            g_strdup_printf("%s is not drawn: %s", chart->title ? chart->title : "a chart", why);
        add_line(outputs, "", line);
        return;
    }
    gsize png_length = 0, svg_length = 0;
    g_autofree char *png = orch_chart_draw(chart, ORCH_DRAW_PNG, &png_length, NULL);
    g_autofree char *svg = orch_chart_draw(chart, ORCH_DRAW_SVG, &svg_length, NULL);
    g_autofree char *text = orch_chart_text_plain(chart);
    json_t *data = json_pack("{s:o}", "text/plain", orch_notebook_lines(text));
    if (png) {
        g_autofree char *base64 = g_base64_encode((const guchar *)png, png_length);
        json_object_set_new(data, "image/png", json_string(base64));
        json_object_set_new(data, "text/html", image_html(chart->title, base64));
    }
    if (svg)
        json_object_set_new(data, "image/svg+xml", orch_notebook_lines(svg));
    add_display(outputs, data);
    const char *note = png ? NULL : chart->note; /* a drawn chart contains its note */
    if (block->text || note)
        add_line(outputs, "", block->text ? block->text : note);
}

static void add_pictures(json_t *outputs, const struct orch_block *block)
{
    for (guint i = 0; i < block->pictures->len; i++) {
        const struct orch_picture *picture = block->pictures->pdata[i];
        g_autoptr(GError) error = NULL;
        g_autofree char *data = orch_picture_base64(picture->path, PICTURE_BYTES_MAX, &error);
        add_line(outputs, "", picture->caption);
        if (data)
            add_display(outputs, json_pack("{s:s, s:o}", "image/png", data, "text/plain",
                                           orch_notebook_lines(picture->caption ? picture->caption
                                                                                : "picture")));
        else
            add_line(outputs, "not shown: ", error->message);
    }
}

static void add_block(json_t *outputs, const struct orch_block *block)
{
    switch (block->kind) {
    case ORCH_BLOCK_ANSWER:
    case ORCH_BLOCK_TEXT:
    case ORCH_BLOCK_NOTE:
    case ORCH_BLOCK_CODE:
        add_line(outputs, "", block->text);
        return;
    case ORCH_BLOCK_MISSING:
        add_line(outputs, "missing: ", block->text);
        if (block->hint)
            add_line(outputs, "  get it with: ", block->hint);
        return;
    case ORCH_BLOCK_TABLE:
        add_table(outputs, block);
        return;
    case ORCH_BLOCK_CHART:
        add_chart(outputs, block);
        return;
    case ORCH_BLOCK_SCALE:
        add_line(outputs, "", block->text);
        if (block->table)
            add_table(outputs, block);
        return;
    case ORCH_BLOCK_PICTURES:
        add_pictures(outputs, block);
        return;
    case ORCH_BLOCK_STUDENT: /* these have a cell of their own */
        return;
    }
}

static void add_runs(json_t *outputs, const struct orch_section *section)
{
    if (!section->runs->len)
        return;
    g_autoptr(GString) line = g_string_new("made of ");
    g_string_append_printf(line, "%u run%s:", section->runs->len, orch_plural(section->runs->len));
    for (guint i = 0; i < MIN(section->runs->len, 40u); i++) {
        const char *key = ((struct orch_section_run *)section->runs->pdata[i])->key;
        const size_t length = strlen(key);
        g_string_append_printf(line, " %s", length > 8 ? key + length - 8 : key);
    }
    add_line(outputs, line->str, section->runs->len > 40 ? " ..." : "");
}

bool orch_notebook_is_for_student(const struct orch_section *section)
{
    for (guint i = 0; i < section->blocks->len; i++)
        if (((const struct orch_block *)section->blocks->pdata[i])->kind != ORCH_BLOCK_STUDENT)
            return false;
    return true;
}

void orch_notebook_add_section(json_t *outputs, const struct orch_section *section)
{
    if (orch_notebook_is_for_student(section))
        return;
    if (section->title)
        add_line(outputs, json_array_size(outputs) ? "\n" : "", section->title);
    for (guint i = 0; i < section->blocks->len; i++)
        add_block(outputs, section->blocks->pdata[i]);
    add_runs(outputs, section);
}
