/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict --model paleo --parallel model|hybrid`: layers split among the workers. */
#include "core/cli/predict.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

static void add_ms(struct orch_table *table, json_t *row, const char *name, double ms)
{
    g_autofree char *text = orch_number_format(ms);
    orch_table_add(table, text, NULL);
    json_object_set_new(row, name, orch_json_finite(ms));
}

/* Lower bound: the pieces run in parallel; upper bound: one after another. */
static bool ask_model(const struct predict_options *o, struct orch_time_question *q,
                      const struct orch_paleo_options *options, int64_t workers,
                      struct orch_table *table, json_t *row, GError **error)
{
    struct orch_paleo_split_step s;
    if (!orch_paleo_model_parallel(orch_time_question_table(q), options, o->split, workers, &s,
                                   error))
        return false;
    orch_table_add_int(table, workers);
    add_ms(table, row, "fwd_lower_ms", s.fwd_lower_ms);
    add_ms(table, row, "fwd_upper_ms", s.fwd_upper_ms);
    add_ms(table, row, "bwd_lower_ms", s.bwd_lower_ms);
    add_ms(table, row, "bwd_upper_ms", s.bwd_upper_ms);
    add_ms(table, row, "update_ms", s.update_ms);
    add_ms(table, row, "total_ms", s.fwd_lower_ms + s.bwd_lower_ms + s.update_ms);
    return true;
}

static bool ask_hybrid(const struct predict_options *o, struct orch_time_question *q,
                       const struct orch_paleo_options *options, int64_t workers,
                       struct orch_table *table, json_t *row, GError **error)
{
    struct orch_paleo_hybrid_step s;
    if (!orch_paleo_hybrid(orch_time_question_table(q), options, o->split, workers, &s, error))
        return false;
    orch_table_add_int(table, workers);
    add_ms(table, row, "data_ms", s.data_fwd_ms + s.data_bwd_ms + s.data_update_ms);
    add_ms(table, row, "data_comm_ms", s.data_comm_ms);
    add_ms(table, row, "split_ms", s.split_fwd_ms + s.split_bwd_ms + s.split_update_ms);
    add_ms(table, row, "total_ms", s.total_ms);
    add_ms(table, row, "images_per_s", s.images_per_s);
    return true;
}

int predict_paleo_split(struct orch_cli *cli, const struct predict_options *o,
                        struct orch_time_question *q, struct orch_paleo_options *options,
                        GError **error)
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
    bool hybrid = strcmp(o->parallel, "hybrid") == 0;
    if (!hybrid && strcmp(o->parallel, "model") != 0) {
        orch_error_set(error, ORCH_ERROR_USAGE, "data, model, hybrid",
                       "option '--parallel': unknown word '%s'", o->parallel);
        return -1;
    }
    if (!o->split) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example --split fc6 --split fc7",
                       "option '--parallel %s' cuts layers: which?", o->parallel);
        return -1;
    }
    for (int w = 0; hybrid && w < q->worker_count; w++) {
        if (q->workers[w] > 8) {
            orch_error_set(error, ORCH_ERROR_USAGE,
                           "up to 8 workers; --parallel data knows no limit",
                           "PALEO's hybrid parallelism makes no sense for %" G_GINT64_FORMAT
                           " workers: it halves the bandwidth with each fetch from another four",
                           q->workers[w]);
            return -1;
        }
    }
    struct orch_table *table = orch_table_new(hybrid ? hybrid_headers : model_headers);
    json_t *list = json_array();
    bool ok = true;
    options->batch = q->batches[0];
    for (int w = 0; ok && w < q->worker_count; w++) {
        json_t *row = json_pack("{s:I}", "workers", (json_int_t)q->workers[w]);
        ok = (hybrid ? ask_hybrid : ask_model)(o, q, options, q->workers[w], table, row, error);
        json_array_append_new(list, row);
    }
    if (!ok || cli->json) {
        json_decref(orch_table_to_json(table));
        if (ok)
            orch_cli_print_json_array(list);
    } else {
        orch_table_print_as(cli, table, "steps", o->format);
    }
    json_decref(list);
    return ok ? ORCH_EXIT_OK : -1;
}
