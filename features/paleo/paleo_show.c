/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch paleo`: PALEO's own numbers, and next to them our additions, labelled as
 * such. */
#include "features/paleo/paleo_show.h"
#include "features/paleo/paleo_steps.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

static const char *const HEADERS[] = {">workers",     ">batch each", ">fwd ms",   ">bwd ms",
                                      ">update ms",   ">comm ms",    ">total ms", ">images/s",
                                      ">of the peak", ">epoch",      ">cost",     NULL};

static void add_ms(struct orch_table *table, double ms)
{
    g_autofree char *text = orch_number_format(ms);
    orch_table_add(table, text, orch_json_finite(ms));
}

static void add_row(struct orch_table *table, const struct orch_paleo_row *r)
{
    const struct orch_paleo_step *s = &r->step;
    g_autofree char *share =
        g_strdup_printf("%.1f %%", 100 * s->images_per_s / r->images_per_s_at_peak);
    g_autofree char *time = isnan(r->epoch_s) ? g_strdup("-") : orch_duration_format(r->epoch_s);
    g_autofree char *money = orch_money_format(r->epoch_usd);
    orch_table_add_int(table, s->workers);
    orch_table_add_int(table, s->worker_batch);
    add_ms(table, s->fwd_ms);
    add_ms(table, s->bwd_ms);
    add_ms(table, s->update_ms);
    add_ms(table, s->comm_ms);
    add_ms(table, s->total_ms);
    add_ms(table, s->images_per_s);
    orch_table_add(table, share, NULL);
    orch_table_add(table, time, NULL);
    orch_table_add(table, money, NULL);
}

static json_t *additions_json(const struct orch_paleo_steps *steps, const struct orch_paleo_row *r)
{
    json_t *added = json_object();
    if (steps->has_scheme)
        json_object_set_new(added, "scheme", json_string(orch_exchange_scheme_name(steps->scheme)));
    if (steps->overlap) {
        json_object_set_new(added, "whole_comm_ms", orch_json_finite(r->whole_comm_ms));
        json_object_set_new(added, "overlap", json_true());
    }
    if (steps->all_layers)
        json_object_set_new(added, "other_layers_ms", orch_json_finite(r->other_layers_ms));
    return added;
}

static json_t *row_json(const struct orch_time_question *q, const struct orch_paleo_steps *steps,
                        const struct orch_paleo_row *r)
{
    const struct orch_paleo_step *s = &r->step;
    json_t *row = json_object();
    if (q->work.training && orch_paleo_steps_has_additions(steps))
        json_object_set_new(row, "added_to_paleo", additions_json(steps, r));
    json_object_set_new(row, "workers", json_integer(s->workers));
    json_object_set_new(row, "batch_per_worker", json_integer(s->worker_batch));
    json_object_set_new(row, "effective_batch", json_integer(s->effective_batch));
    json_object_set_new(row, "fwd_ms", orch_json_finite(s->fwd_ms));
    json_object_set_new(row, "bwd_ms", orch_json_finite(s->bwd_ms));
    json_object_set_new(row, "update_ms", orch_json_finite(s->update_ms));
    json_object_set_new(row, "comm_ms", orch_json_finite(s->comm_ms));
    json_object_set_new(row, "total_ms", orch_json_finite(s->total_ms));
    json_object_set_new(row, "images_per_s", orch_json_finite(s->images_per_s));
    json_object_set_new(row, "images_per_s_at_peak", orch_json_finite(r->images_per_s_at_peak));
    if (q->images)
        json_object_set_new(row, "epoch_s", orch_json_finite(r->epoch_s));
    if (r->epoch_usd > 0) {
        json_object_set_new(row, "epoch_usd", orch_json_finite(r->epoch_usd));
        json_object_set_new(row, "usd_per_hour", orch_json_finite(steps->rate.usd_per_hour));
        json_object_set_new(row, "price_from", json_string(steps->rate.from));
    }
    return row;
}

static void print_line(const struct orch_time_question *q, const struct orch_paleo_steps *steps)
{
    const struct orch_paleo_options *o = &steps->options;
    orch_cli_print("PALEO on %s%s: %.5g GFLOP/s, %.4g GiB/s, PPP %.2f computing, %.2f network; %s, "
                   "%.4g Gbit/s, %s; %s scaling%s",
                   steps->is_own_device ? "paleo:" : "", o->device.name, o->device.peak_gflops,
                   o->device.bandwidth_gib_s, o->ppp_comp, o->ppp_comm, o->network.name,
                   o->network.gbit_s,
                   steps->has_scheme ? orch_exchange_scheme_name(steps->scheme)
                                     : orch_paleo_scheme_name(o->scheme),
                   q->strong ? "strong" : "weak", o->pipeline ? ", pipelined" : "");
    if (steps->rate.usd_per_hour > 0 && q->images)
        orch_cli_print("cost of an epoch of %" G_GINT64_FORMAT
                       " images at $%.4g an hour a worker (%s)",
                       q->images, steps->rate.usd_per_hour, steps->rate.from);
    if (orch_paleo_steps_has_additions(steps))
        orch_cli_print("added to PALEO:%s%s%s", steps->has_scheme ? " the scheme;" : "",
                       steps->overlap ? " the exchange overlaps with the backward pass;" : "",
                       steps->all_layers ? " time of norms, activations and sums;" : "");
    if (steps->leaves_layers_out)
        printf(
            "PALEO has no formula for some layers (such as attention): these layers count as 0\n");
}

static void print_steps(struct orch_cli *cli, const char *format,
                        const struct orch_time_question *q, const struct orch_paleo_steps *steps)
{
    if (cli->json) {
        json_t *list = json_array();
        for (guint i = 0; i < steps->rows->len; i++)
            json_array_append_new(
                list, row_json(q, steps, &g_array_index(steps->rows, struct orch_paleo_row, i)));
        orch_cli_print_json(json_pack("{s:o}", "steps", list));
        return;
    }
    struct orch_table *table = orch_table_new(HEADERS);
    for (guint i = 0; i < steps->rows->len; i++)
        add_row(table, &g_array_index(steps->rows, struct orch_paleo_row, i));
    orch_cli_table_print_as(cli, table, "steps", format);
    if (format)
        return;
    print_line(q, steps);
    if (q->assumptions->len)
        orch_cli_time_assumptions_print(q);
}

/* ---- layers cut among the workers ------------------------------------------------------------ */

static void add_split_ms(struct orch_table *table, json_t *row, const char *name, double ms)
{
    g_autofree char *text = orch_number_format(ms);
    orch_table_add(table, text, NULL);
    json_object_set_new(row, name, orch_json_finite(ms));
}

/* Lower bound: the pieces run in parallel; upper bound: one after another. */
static void add_model_rows(struct orch_table *table, json_t *list, const GArray *rows)
{
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_paleo_model_row *r = &g_array_index(rows, struct orch_paleo_model_row, i);
        const struct orch_paleo_split_step *s = &r->step;
        json_t *row = json_pack("{s:I}", "workers", (json_int_t)r->workers);
        orch_table_add_int(table, r->workers);
        add_split_ms(table, row, "fwd_lower_ms", s->fwd_lower_ms);
        add_split_ms(table, row, "fwd_upper_ms", s->fwd_upper_ms);
        add_split_ms(table, row, "bwd_lower_ms", s->bwd_lower_ms);
        add_split_ms(table, row, "bwd_upper_ms", s->bwd_upper_ms);
        add_split_ms(table, row, "update_ms", s->update_ms);
        add_split_ms(table, row, "total_ms", s->fwd_lower_ms + s->bwd_lower_ms + s->update_ms);
        json_array_append_new(list, row);
    }
}

static void add_hybrid_rows(struct orch_table *table, json_t *list, const GArray *rows)
{
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_paleo_hybrid_row *r =
            &g_array_index(rows, struct orch_paleo_hybrid_row, i);
        const struct orch_paleo_hybrid_step *s = &r->step;
        json_t *row = json_pack("{s:I}", "workers", (json_int_t)r->workers);
        orch_table_add_int(table, r->workers);
        add_split_ms(table, row, "data_ms", s->data_fwd_ms + s->data_bwd_ms + s->data_update_ms);
        add_split_ms(table, row, "data_comm_ms", s->data_comm_ms);
        add_split_ms(table, row, "split_ms",
                     s->split_fwd_ms + s->split_bwd_ms + s->split_update_ms);
        add_split_ms(table, row, "total_ms", s->total_ms);
        add_split_ms(table, row, "images_per_s", s->images_per_s);
        json_array_append_new(list, row);
    }
}

/* Takes over `rows`. */
static void print_split(struct orch_cli *cli, const char *format, GArray *rows, bool is_hybrid)
{
    static const char *const model_headers[] = {
        ">workers",        ">fwd ms",    ">fwd one by one", ">bwd ms",
        ">bwd one by one", ">update ms", ">total ms",       NULL};
    static const char *const hybrid_headers[] = {">workers",
                                                 ">data-parallel ms",
                                                 ">its exchange ms",
                                                 ">cut layers ms",
                                                 ">total ms",
                                                 ">images/s",
                                                 NULL};
    struct orch_table *table = orch_table_new(is_hybrid ? hybrid_headers : model_headers);
    json_t *list = json_array();
    (is_hybrid ? add_hybrid_rows : add_model_rows)(table, list, rows);
    if (cli->json) {
        json_decref(orch_cli_table_to_json(table));
        orch_cli_print_json(json_pack("{s:o}", "steps", list));
    } else {
        json_decref(list);
        orch_cli_table_print_as(cli, table, "steps", format);
    }
    g_array_unref(rows);
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool check_parallel(const char *name, GError **error)
{
    static const char *const names[] = {"data", "model", "hybrid", NULL};
    if (!name || g_strv_contains(names, name))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "use data, model or hybrid",
                   "option '--parallel': unknown value '%s'", name);
    return false;
}

int orch_cli_paleo_show(struct orch_cli *cli, const struct paleo_options *o,
                        struct orch_time_question *q, GError **error)
{
    const struct orch_paleo_request request = {.gpu = o->time.gpu,
                                               .link = o->time.network,
                                               .scheme = o->time.scheme,
                                               .algorithm = o->algorithm,
                                               .pipeline = o->pipeline,
                                               .overlap = o->overlap,
                                               .all_layers = o->all_layers};
    bool is_hybrid = g_strcmp0(o->parallel, "hybrid") == 0;
    if (!check_parallel(o->parallel, error))
        return -1;
    if (o->parallel && strcmp(o->parallel, "data") != 0) {
        GArray *rows = (is_hybrid ? orch_paleo_hybrid_rows
                                  : orch_paleo_model_rows)(q, &request, o->split, error);
        if (rows)
            print_split(cli, o->format, rows, is_hybrid);
        return rows ? ORCH_EXIT_OK : -1;
    }
    struct orch_paleo_steps *steps = orch_paleo_steps_new(q, &request, error);
    if (steps)
        print_steps(cli, o->format, q, steps);
    orch_paleo_steps_free(steps);
    return steps ? ORCH_EXIT_OK : -1;
}
