/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/web/followed_trial.h"

#include "core/plan/executor.h"
#include "core/schedule/schedule.h"
#include "core/schedule/time_left.h"
#include "lib/base/json.h"
#include "lib/wire/system_metrics.h"

#include <string.h>

enum {
    METRICS_MAX = 64,    /* per trial */
    BUCKETS = 1000,      /* per curve */
    FRESH_BUCKETS = 100, /* new points per second */
    NOTES_MAX = 20,
};

static void free_curve(gpointer data)
{
    struct web_curve *c = data;
    g_free(c->name);
    orch_thin_free(c->all);
    orch_thin_free(c->fresh);
    g_free(c);
}

void orch_web_trial_free(gpointer data)
{
    struct web_trial *t = data;
    orch_active_row_free(t->row);
    json_decref(t->identity);
    json_decref(t->forecast);
    orch_journal_close(t->journal);
    g_hash_table_unref(t->machine);
    g_ptr_array_unref(t->curves);
    g_array_unref(t->progress);
    g_free(t->phase);
    json_decref(t->notes);
    g_free(t);
}

struct web_trial *orch_web_trial_new(struct orch_store *store, struct orch_active_row *row)
{
    struct web_trial *t = g_new0(struct web_trial, 1);
    g_autofree char *path = g_build_filename(row->trial_dir, "journal", NULL);
    t->row = row;
    t->identity = orch_web_active_json(row);
    t->forecast = orch_web_forecast_json(store, row->key);
    t->journal = orch_journal_open(path, NULL);
    t->machine = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    t->notes = json_array();
    t->curves = g_ptr_array_new_with_free_func(free_curve);
    t->progress = g_array_new(FALSE, FALSE, sizeof(struct orch_running_point));
    return t;
}

static struct web_curve *curve_of(struct web_trial *t, const char *name)
{
    for (guint i = 0; i < t->curves->len; i++) {
        struct web_curve *c = t->curves->pdata[i];
        if (strcmp(c->name, name) == 0)
            return c;
    }
    if (t->curves->len == METRICS_MAX) {
        t->metrics_left_out++;
        return NULL;
    }
    struct web_curve *c = g_new0(struct web_curve, 1);
    c->name = g_strdup(name);
    c->all = orch_thin_new(BUCKETS);
    g_ptr_array_add(t->curves, c);
    return c;
}

static void keep_machine(struct web_trial *t, const struct orch_point *p)
{
    double *last = g_hash_table_lookup(t->machine, p->name);
    if (!last && orch_system_metric_find(p->name)) {
        last = g_new(double, 1);
        g_hash_table_insert(t->machine, g_strdup(p->name), last);
    }
    if (last)
        *last = p->value;
}

/* What orch-host measured last, in its order, and what other programs put beside it not at all:
 * [{"name": "cpu_trial", "unit", "value"}]. */
static json_t *machine_json(const struct web_trial *t)
{
    json_t *list = json_array();
    for (unsigned i = 0; g_hash_table_size(t->machine) && i < ORCH_SYSTEM_ALL; i++) {
        const struct orch_metric_spec *spec = orch_system_metric_at(i);
        const double *value = g_hash_table_lookup(t->machine, spec->name);
        if (value)
            json_array_append_new(list, json_pack("{s:s s:s? s:o}", "name",
                                                  spec->name + strlen(ORCH_SYSTEM_PREFIX), "unit",
                                                  spec->unit, "value", orch_json_finite(*value)));
    }
    return list;
}

static void take_points(struct web_trial *t, const struct orch_event *event)
{
    for (size_t i = 0; i < event->point_count; i++) {
        const struct orch_point *p = &event->points[i];
        if (orch_metric_is_system(p->name)) {
            keep_machine(t, p);
            continue;
        }
        struct web_curve *c = curve_of(t, p->name);
        const struct orch_thin_point point = {p->step, p->t_ms, p->value};
        t->points++;
        if (!c)
            continue;
        if (!c->fresh)
            c->fresh = orch_thin_new(FRESH_BUCKETS);
        orch_thin_add(c->all, &point);
        orch_thin_add(c->fresh, &point);
        c->last = p->value;
    }
}

void orch_web_trial_read(struct web_trial *t, int64_t until_ns)
{
    struct orch_event event;
    t->has_more = false;
    for (unsigned n = 0; t->journal && orch_journal_next(t->journal, &event, NULL); n++) {
        if (event.kind == ORCH_EVENT_METRICS)
            take_points(t, &event);
        if (event.kind == ORCH_EVENT_PROGRESS) {
            orch_running_add(t->progress, &event, &t->points_total);
            t->done = event.value;
            t->total = event.total;
        }
        if (event.kind == ORCH_EVENT_NOTE && json_array_size(t->notes) < NOTES_MAX)
            json_array_append_new(t->notes, json_string(event.text));
        if (event.kind == ORCH_EVENT_PHASE) {
            g_free(t->phase);
            t->phase = g_strdup(event.name);
        }
        orch_event_clear(&event);
        if (n % 16 == 15 && orch_mono_ns() > until_ns) {
            t->has_more = true;
            return;
        }
    }
}

static json_t *remaining_json(const struct web_trial *t, double now_s)
{
    struct orch_remaining left;
    if (!orch_time_left(t->progress, t->points_total, now_s, &left))
        return json_null();
    return json_pack("{s:o s:o s:o}", "seconds", orch_json_finite(left.left_s.mid), "low_s",
                     orch_json_finite(left.left_s.low), "high_s",
                     orch_json_finite(left.left_s.high));
}

json_t *orch_web_trial_json(const struct web_trial *t)
{
    json_t *o = json_copy(t->identity), *last = json_object();
    bool is_alive = orch_active_is_alive(t->row);
    double now_s = (double)(orch_now_ns() - t->row->started_ns) / 1e9;
    for (guint i = 0; i < t->curves->len; i++) {
        const struct web_curve *c = t->curves->pdata[i];
        json_object_set_new(last, c->name, orch_json_real(c->last));
    }
    json_object_set_new(o, "is_alive", json_boolean(is_alive));
    json_object_set_new(o, "elapsed_s", orch_json_finite(MAX(0, now_s)));
    json_object_set_new(o, "done", orch_json_finite(t->done));
    json_object_set_new(o, "total", t->total > 0 ? orch_json_finite(t->total) : json_null());
    json_object_set_new(o, "phase", orch_json_text_or_null(t->phase));
    json_object_set(o, "notes", t->notes);
    json_object_set_new(o, "points", json_integer(t->points));
    json_object_set_new(o, "metrics_left_out", json_boolean(t->metrics_left_out > 0));
    json_object_set_new(o, "machine", machine_json(t));
    json_object_set_new(o, "last", last);
    json_object_set(o, "forecast", t->forecast);
    json_object_set_new(o, "remaining", is_alive ? remaining_json(t, now_s) : json_null());
    return o;
}

json_t *orch_web_trial_curve_json(const struct web_trial *t, const struct web_curve *c,
                                  const struct orch_thin *thin)
{
    json_t *o = orch_web_thin_json(thin);
    json_object_set_new(o, "key", json_string(t->row->key));
    json_object_set_new(o, "metric", json_string(c->name));
    json_object_set_new(o, "total", json_integer(orch_thin_count(c->all)));
    json_t *unit = json_object_get(json_object_get(t->identity, "units"), c->name);
    json_object_set(o, "unit", unit ? unit : json_null());
    return o;
}
