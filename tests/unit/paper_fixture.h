/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A document made by hand, with one of everything, and names that try to get out of their place. */
#ifndef ORCH_TESTS_UNIT_PAPER_FIXTURE_H
#define ORCH_TESTS_UNIT_PAPER_FIXTURE_H

#include "core/render/document.h"
#include "lib/base/file.h"

#include <glib.h>
#include <math.h>

#define HOSTILE "<script>alert('x')</script>"
/* A PNG of one red pixel. */
#define PIXEL                                                                                      \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/"                    \
    "pLvAAAAAElFTkSuQmCC"

static char *scratch; /* a folder for what a test writes */

static inline int make_scratch(void **state)
{
    (void)state;
    scratch = g_dir_make_tmp("orch-paper-XXXXXX", NULL);
    return scratch ? 0 : -1;
}

static inline int drop_scratch(void **state)
{
    (void)state;
    bool gone = orch_tree_remove(scratch, NULL);
    g_free(scratch);
    return gone ? 0 : -1;
}

static inline struct orch_table *paper_table(void)
{
    static const char *const headers[] = {"lr", ">final accuracy (%)", ">epochs", NULL};
    struct orch_table *table = orch_table_new(headers);
    const double values[] = {90.1, 90.4, 90.9};
    const struct orch_spread spread = orch_spread_of(values, 3, "final accuracy", "%");
    orch_table_add(table, "0.01", NULL);
    orch_table_add_spread(table, &spread, 3, 3);
    orch_table_add_int(table, 20);
    orch_table_add(table, HOSTILE, NULL);
    orch_table_add_spread(table, &spread, 3, 5);
    orch_table_add_missing(table);
    return table;
}

static inline struct orch_chart *paper_chart(const char *title)
{
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_LINE, title, "epoch", "loss");
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    struct orch_chart_series *series =
        orch_chart_series(panel, "lr " HOSTILE, ORCH_SERIES_MEASURED);
    for (int i = 1; i <= 20; i++) {
        struct orch_chart_point *point = orch_chart_add(series, i, 2.0 / i);
        point->low = 1.8 / i;
        point->high = 2.2 / i;
        point->n = 3;
    }
    chart->note = g_strdup("bands: 95 % interval over 3 repeats");
    return chart;
}

static inline void paper_runs(struct orch_section *section)
{
    const struct orch_section_run ours = {.key = "01998f2e-0000-7000-8000-0000aaaabbbb",
                                          .experiment = "finetune",
                                          .label = "lr=0.01 #1",
                                          .who = "ada",
                                          .device_key = "laptop, 2 threads",
                                          .commit = "0123456789abcdef0123456789abcdef01234567",
                                          .is_ours = true};
    const struct orch_section_run theirs = {.key = "01998f2e-0000-7000-8000-0000ccccdddd",
                                            .experiment = "finetune",
                                            .label = HOSTILE,
                                            .who = "bob <b@x>",
                                            .device_key = "K80",
                                            .is_ours = false};
    orch_section_run_add(section, &ours);
    orch_section_run_add(section, &theirs);
    section->planned = 3;
    section->done = 2;
}

/** `pixel`: path of a PNG, or NULL. */
static inline struct orch_document *paper_document(const char *pixel)
{
    struct orch_document *d = orch_document_new("hw4 " HOSTILE);
    d->about = g_strdup("Transfer learning: \"finetuning\" & features");
    d->recipe = g_strdup("recipes/hw4.recipe");
    d->profile = g_strdup("laptop");
    d->commit = g_strdup("0123456789abcdef0123456789abcdef01234567");
    d->is_dirty = true;
    d->who = g_strdup("ada");
    d->machine = g_strdup("Xeon, 2 cores, no GPU");
    d->made = g_strdup("2026-11-21 16:40 UTC");
    d->store_digest = g_strdup("sha256:77aa");
    struct orch_section *s = orch_document_add(d, "table", "1.1c", "Which learning rate wins?");
    s->points = 6;
    s->command = g_strdup("orch report recipes/hw4.recipe --only 1.1c");
    orch_section_text(s, "lr 0.01 wins by %g points.", 0.4);
    orch_section_table(s, paper_table());
    orch_section_note(s, "mean +- 95 %% interval over repeats");
    paper_runs(s);
    orch_section_missing(s, "orch run recipes/hw4.recipe finetune -s 'lr=<1>'",
                         "1 of 3 runs is not there");
    s = orch_document_add(d, "plot", "1.1c", "Loss by epoch");
    s->command = g_strdup("orch report recipes/hw4.recipe --only 1.1c");
    orch_section_chart(s, paper_chart("Loss by epoch"));
    s = orch_document_add(d, "images", "1.1a", "Sample images");
    s->points = 4;
    s->command = g_strdup("orch report recipes/hw4.recipe --only 1.1a");
    if (pixel)
        orch_section_picture(s, pixel, "class 5 " HOSTILE);
    orch_section_picture(s, "/nowhere/x.png", "class 6");
    s = orch_document_add(d, "text", "2.1", "Weakly against semi-supervised");
    s->points = 2;
    orch_section_student(s, "Explain how the two differ.");
    s = orch_document_add(d, "coverage", NULL, "Who ran what");
    orch_section_text(s, "first line\n  second line");
    return d;
}

#endif
