/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/drawn.h"

#include "core/report/draw.h"

struct orch_drawn {
    GHashTable *svgs; /* chart -> char * */
    char *why;
};

static GPtrArray *charts_of(const struct orch_document *document)
{
    GPtrArray *charts = g_ptr_array_new();
    for (guint i = 0; i < document->sections->len; i++) {
        const struct orch_section *section = document->sections->pdata[i];
        for (guint j = 0; j < section->blocks->len; j++) {
            const struct orch_block *block = section->blocks->pdata[j];
            if (block->chart && !orch_chart_is_empty(block->chart))
                g_ptr_array_add(charts, block->chart);
        }
    }
    return charts;
}

/* The first reason is kept. */
static void note(struct orch_drawn *drawn, GError *error)
{
    if (!drawn->why)
        drawn->why = g_strdup(error->message);
}

/* One by one, so that a chart that cannot be drawn takes no other along. */
static void draw_alone(struct orch_drawn *drawn, GPtrArray *charts)
{
    for (guint i = 0; i < charts->len; i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *id = g_strdup_printf("c%u-", i);
        char *svg = orch_chart_svg(charts->pdata[i], id, &error);
        if (svg)
            g_hash_table_insert(drawn->svgs, charts->pdata[i], svg);
        else
            note(drawn, error);
    }
}

struct orch_drawn *orch_drawn_new(const struct orch_document *document)
{
    struct orch_drawn *drawn = g_new0(struct orch_drawn, 1);
    drawn->svgs = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    g_autoptr(GPtrArray) charts = charts_of(document);
    if (!charts->len)
        return drawn;
    g_autoptr(GError) error = NULL;
    char **svgs =
        orch_charts_svg((struct orch_chart *const *)charts->pdata, charts->len, "c", &error);
    for (guint i = 0; svgs && i < charts->len; i++)
        g_hash_table_insert(drawn->svgs, charts->pdata[i], svgs[i]);
    if (!svgs && orch_draw_is_possible())
        draw_alone(drawn, charts);
    else if (!svgs)
        note(drawn, error);
    g_free(svgs); /* its texts are in the table */
    return drawn;
}

struct orch_drawn *orch_drawn_blank(const struct orch_document *document)
{
    struct orch_drawn *drawn = g_new0(struct orch_drawn, 1);
    drawn->svgs = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    g_autoptr(GPtrArray) charts = charts_of(document);
    for (guint i = 0; i < charts->len; i++)
        g_hash_table_insert(drawn->svgs, charts->pdata[i], g_strdup("<svg></svg>\n"));
    return drawn;
}

void orch_drawn_free(struct orch_drawn *drawn)
{
    if (!drawn)
        return;
    g_hash_table_unref(drawn->svgs);
    g_free(drawn->why);
    g_free(drawn);
}

const char *orch_drawn_svg(const struct orch_drawn *drawn, const struct orch_chart *chart)
{
    return drawn ? g_hash_table_lookup(drawn->svgs, chart) : NULL;
}

const char *orch_drawn_why(const struct orch_drawn *drawn)
{
    return drawn->why;
}

char *orch_drawn_text(const struct orch_chart *chart)
{
    const struct orch_draw_text how = {.columns = 78, .rows = 20, .ascii = true};
    return orch_chart_text(chart, &how);
}
