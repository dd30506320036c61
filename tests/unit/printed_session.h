/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives text to the reader of a wrapped program's output and shows what it records. */
#ifndef ORCH_TESTS_UNIT_PRINTED_SESSION_H
#define ORCH_TESTS_UNIT_PRINTED_SESSION_H

#include "core/host/text_metrics.h"
#include "lib/base/ident.h"
#include "lib/base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A program's output on its way. */
struct session {
    struct orch_manifest *manifest;
    struct journal_out out;
    struct intake intake;
    struct text_metrics *metrics;
};

static inline void begin(struct session *s, struct orch_manifest *manifest)
{
    *s = (struct session){.manifest = manifest};
    manifest->kind = ORCH_PLUGIN_WRAPPED;
    manifest->metrics_from = ORCH_METRICS_LINES;
    s->out = (struct journal_out){.fd = -1, .pending = g_string_new(NULL)};
    orch_intake_init(&s->intake, manifest, &s->out, orch_mono_ns(), 1 << 20);
    s->metrics = orch_text_metrics_new(manifest, &s->intake);
}

static inline void end(struct session *s)
{
    orch_text_metrics_free(s->metrics);
    orch_intake_clear(&s->intake);
    g_string_free(s->out.pending, TRUE);
    orch_manifest_free(s->manifest);
}

static inline void feed(struct session *s, const char *text, size_t part)
{
    for (size_t at = 0, length = strlen(text); at < length; at += part)
        orch_text_metrics_feed(s->metrics, TEXT_STDOUT, text + at, MIN(part, length - at));
    orch_text_metrics_finish(s->metrics);
}

/* "loss[3] = 0.41, time[0] = 350 ms". Points of a step that were replaced are left out. */
static inline char *recorded(const struct session *s)
{
    GString *text = g_string_new(NULL);
    const GArray *points = s->intake.points;
    for (guint i = 0; i < points->len; i++) {
        const struct orch_point *point = &g_array_index(points, struct orch_point, i);
        const struct orch_metric_spec *spec = orch_manifest_metric(s->manifest, point->name);
        bool is_replaced = false;
        for (guint j = i + 1; j < points->len; j++) {
            const struct orch_point *later = &g_array_index(points, struct orch_point, j);
            is_replaced = is_replaced ||
                          (later->step == point->step && strcmp(later->name, point->name) == 0);
        }
        char number[ORCH_REAL_CHARS];
        if (!is_replaced)
            g_string_append_printf(
                text, "%s%s[%" G_GINT64_FORMAT "] = %s%s%s", text->len ? ", " : "", point->name,
                point->step, orch_real_format(point->value, number),
                spec->unit && *spec->unit ? " " : "", spec->unit ? spec->unit : "");
    }
    if (!text->len)
        g_string_append(text, "nothing");
    if (orch_text_metrics_losses(s->metrics)->counts[ORCH_LOSS_UNREAD])
        g_string_append(text, ", and counted as not understood");
    return g_string_free(text, FALSE);
}

static inline struct orch_manifest *any_metric(void)
{
    struct orch_manifest *manifest = orch_manifest_new();
    manifest->any_metric = true;
    return manifest;
}

#endif
