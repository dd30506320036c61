/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/json_drawn.h"

#include "core/render/draw.h"

static void draw_block(json_t *json, const struct orch_block *block)
{
    if (!block->chart)
        return;
    gsize length = 0;
    g_autofree char *obstacle = orch_chart_obstacle(block->chart);
    g_autofree char *svg =
        obstacle ? NULL : orch_chart_draw(block->chart, ORCH_DRAW_SVG, &length, NULL);
    if (obstacle)
        json_object_set_new(json, "obstacle", json_string(obstacle));
    if (svg)
        json_object_set_new(json, "svg", json_string(svg));
}

void orch_document_json_draw(json_t *json, const struct orch_document *document)
{
    json_t *sections = json_object_get(json, "sections");
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        json_t *blocks = json_object_get(json_array_get(sections, i), "blocks");
        for (guint k = 0; k < section->blocks->len; k++)
            draw_block(json_array_get(blocks, k), section->blocks->pdata[k]);
    }
}
