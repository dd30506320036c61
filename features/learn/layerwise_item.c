/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `layerwise`: learns from runs that leave tables of measured layers, and predicts runs
 * that measured a whole network. */
#include "features/learn/learn_item.h"

#include "core/stats/group.h"
#include "features/learn/layer_rows.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"

#include <math.h>
#include <string.h>

/* The working data of the item. */
struct bench {
    struct orch_store *store;
    const struct orch_report_item *item;
    struct orch_layerwise_outcome *out;
    struct orch_learn_options options;
    char **features;
    char *target;
    GString *texts[2]; /* CSV rows of conv and dense layers */
    struct orch_rows *rows[2];
    GString *row_text;                  /* CSV of plugin layerbench's rows */
    struct orch_layer_rows *layer_rows; /* of them; NULL: the item has no `rows` */
    GHashTable *learned; /* "own 2", "all", "left out 2" -> struct orch_layerwise * */
};

static void free_row(gpointer pointer)
{
    struct orch_layerwise_row *row = pointer;
    g_free(row->net);
    g_free(row->facts);
    g_free(row->left_out_text);
    g_free(row);
}

/* ---- measured layers ------------------------------------------------------------------------- */

static void gather_layers(struct bench *b)
{
    static const char *const keys[] = {"conv", "dense"};
    struct orch_learn_source *source = &b->out->source;
    unsigned with = 0;
    for (guint i = 0; i < source->trials->all->len; i++) {
        const struct orch_run *run = orch_learn_use(source, source->trials->all->pdata[i]);
        bool has = false;
        for (int k = 0; run && k < 2; k++) {
            const char *artifact = orch_json_text(b->item->spec, keys[k], NULL);
            has |= artifact && orch_learn_add_artifact(b->texts[k], b->store, run, artifact,
                                                       b->features, source);
        }
        const char *rows = orch_json_text(b->item->spec, "rows", NULL);
        has |= run && rows &&
               orch_learn_add_artifact(b->row_text, b->store, run, rows, b->features, source);
        with += has;
    }
    source->text = g_strdup_printf("layers of %u runs", with);
}

static bool read_layer_rows(struct bench *b, GError **error)
{
    struct orch_csv *csv =
        b->row_text->len ? orch_csv_parse("rows", b->row_text->str, b->row_text->len, error) : NULL;
    if (csv)
        b->layer_rows = orch_layer_rows_read(csv, (const char *const *)b->features, error);
    orch_csv_free(csv);
    b->out->source.rows += b->layer_rows ? orch_layer_rows_count(b->layer_rows) : 0;
    return b->layer_rows || !b->row_text->len;
}

static bool read_layers(struct bench *b)
{
    g_autoptr(GError) unable = NULL;
    if (!read_layer_rows(b, &unable)) {
        orch_learn_source_fail(&b->out->source, NULL, "%s", unable->message);
        return false;
    }
    struct orch_rows_options options = {.target = b->target, .group = b->out->hold_out};
    for (int k = 0; k < 2; k++) {
        g_autoptr(GError) error = NULL;
        struct orch_csv *csv =
            b->texts[k]->len
                ? orch_csv_parse(k ? "dense" : "conv", b->texts[k]->str, b->texts[k]->len, &error)
                : NULL;
        b->rows[k] = csv ? orch_rows_of_table(csv, &options, &error) : NULL;
        orch_csv_free(csv);
        if (error) {
            orch_learn_source_fail(&b->out->source, NULL, "%s", error->message);
            return false;
        }
        b->out->source.rows += b->rows[k] ? b->rows[k]->rows : 0;
    }
    if (!b->out->source.rows)
        orch_learn_source_fail(&b->out->source, NULL, "no layers are measured yet");
    return b->out->source.rows;
}

/* ---- models ---------------------------------------------------------------------------------- */

enum scope { SCOPE_OWN, SCOPE_ALL, SCOPE_LEFT_OUT };

static struct orch_rows *rows_in(const struct orch_rows *rows, const char *group, enum scope scope)
{
    g_autofree size_t *which = g_new(size_t, rows->rows + 1);
    size_t count = 0;
    for (size_t i = 0; i < rows->rows; i++) {
        bool own = group && strcmp(rows->groups[i], group) == 0;
        if (scope == SCOPE_ALL || own == (scope == SCOPE_OWN))
            which[count++] = i;
    }
    return count ? orch_rows_pick(rows, which, count) : NULL;
}

/* Returns the model of a scope, and fits it on first use. NULL when it has no rows to learn from.
 */
static const struct orch_layerwise *model_of(struct bench *b, const char *group, enum scope scope)
{
    static const char *const names[] = {"own", "all", "left out"};
    g_autofree char *key = scope == SCOPE_ALL
                               ? g_strdup(names[scope])
                               : g_strdup_printf("%s %s", names[scope], group ? group : "");
    gpointer known = NULL;
    if (g_hash_table_lookup_extended(b->learned, key, NULL, &known))
        return known;
    g_autoptr(GError) unable = NULL;
    struct orch_rows *conv = b->rows[0] ? rows_in(b->rows[0], group, scope) : NULL;
    struct orch_rows *dense = b->rows[1] ? rows_in(b->rows[1], group, scope) : NULL;
    struct orch_layerwise *l =
        conv || dense ? orch_layerwise_learn(conv, dense, b->target, &b->options, &unable) : NULL;
    if (unable)
        g_ptr_array_add(b->out->source.notes, g_strdup_printf("%s: %s", key, unable->message));
    orch_rows_free(conv);
    orch_rows_free(dense);
    g_hash_table_insert(b->learned, g_steal_pointer(&key), l);
    return l;
}

/* ---- networks -------------------------------------------------------------------------------- */

static int64_t int_of(const struct bench *b, const struct orch_run *run, const char *name)
{
    g_autofree char *text = orch_learn_run_value(b->store, run, name);
    int64_t value;
    return orch_int_parse(text, &value) ? value : 0;
}

static struct orch_net *net_of(const struct bench *b, const struct orch_run *run, GError **error)
{
    g_autofree char *name = orch_learn_run_value(b->store, run, "net");
    g_autofree char *input = orch_learn_run_value(b->store, run, "input");
    struct orch_net_options options = {.name = name, .classes = int_of(b, run, "classes")};
    orch_net_input_parse(input, &options);
    return orch_net_make(&options, error);
}

/* Returns name, value, ...: the features under the names that the measured layers use. */
static char **facts_of(const struct bench *b, const struct orch_run *run)
{
    GPtrArray *facts = g_ptr_array_new();
    for (int i = 0; b->features[i]; i++) {
        g_ptr_array_add(facts, g_strdup(b->features[i]));
        g_ptr_array_add(facts, orch_learn_run_value(b->store, run, b->features[i]));
    }
    g_ptr_array_add(facts, NULL);
    return (char **)g_ptr_array_free(facts, FALSE);
}

static char *facts_text(char **facts)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; facts[i]; i += 2)
        g_string_append_printf(text, "%s%s", i ? "; " : "", facts[i + 1]);
    return g_string_free(text, FALSE);
}

static struct orch_interval guess(struct bench *b, struct orch_layerwise_row *row,
                                  const struct orch_net *net, const struct orch_layerwise_job *job,
                                  const char *group, enum scope scope)
{
    struct orch_interval none = {(double)NAN, (double)NAN, (double)NAN};
    g_autoptr(GError) unable = NULL;
    const struct orch_layerwise *l = scope == SCOPE_ALL || group ? model_of(b, group, scope) : NULL;
    struct orch_layerwise_time *t = l ? orch_layerwise_predict(l, net, job, &unable) : NULL;
    if (!t)
        return none;
    struct orch_interval made = t->batch_ms;
    if (scope == SCOPE_ALL) {
        row->layers = (int)t->layers->len;
        row->outside = t->outside;
        row->left_out_text = orch_layerwise_left_out_text(t);
    }
    orch_layerwise_time_free(t);
    return made;
}

/* The step as the sum of layerbench's rows, measured with the same values of the features. */
static void sum_rows(struct bench *b, const struct orch_run *run, const struct orch_net *net,
                     const char *optimizer, char **facts, struct orch_layerwise_row *row)
{
    g_autoptr(GError) unable = NULL;
    g_autofree char *precision = orch_learn_run_value(b->store, run, "precision");
    g_autofree char *layout = orch_learn_run_value(b->store, run, "layout");
    g_autoptr(GPtrArray) values = g_ptr_array_new();
    for (int i = 0; facts[i]; i += 2)
        g_ptr_array_add(values, facts[i + 1]);
    g_ptr_array_add(values, NULL);
    struct orch_layer_rows_job job = {row->batch, optimizer, precision, layout,
                                      (const char *const *)values->pdata};
    struct orch_layer_rows_sum sum;
    double none = (double)NAN;
    row->all = row->own = row->left_out = (struct orch_interval){none, none, none};
    if (!orch_layer_rows_sum(b->layer_rows, net, &job, &b->options, &sum, &unable)) {
        row->left_out_text = g_strdup("everything");
        g_ptr_array_add(b->out->source.notes, g_strdup_printf("%s: %s", row->net, unable->message));
        return;
    }
    row->all.mid = sum.layers_ms + sum.others_ms;
    row->layers = sum.measured + sum.learned;
    row->left_out_text =
        sum.learned ? g_strdup_printf(
                          "nothing; %d layers (%.0f %% of the time) are predicted, not measured",
                          sum.learned, 100 * sum.learned_ms / row->all.mid)
                    : g_strdup("nothing");
}

static void add_network(struct bench *b, const struct orch_run *run, double measured)
{
    g_autoptr(GError) unable = NULL;
    struct orch_net *net = net_of(b, run, &unable);
    if (!net) {
        g_ptr_array_add(b->out->source.notes, g_strdup(unable->message));
        return;
    }
    g_auto(GStrv) facts = facts_of(b, run);
    g_autofree char *optimizer = orch_learn_run_value(b->store, run, "optimizer");
    g_autofree char *group =
        b->out->hold_out ? orch_learn_run_value(b->store, run, b->out->hold_out) : NULL;
    int64_t batch = int_of(b, run, "net_batch");
    struct orch_layerwise_job job = {batch ? batch : int_of(b, run, "batch"), optimizer,
                                     (const char *const *)facts};
    struct orch_layerwise_row *row = g_new0(struct orch_layerwise_row, 1);
    row->net = orch_learn_run_value(b->store, run, "net");
    row->facts = facts_text(facts);
    row->batch = job.batch;
    row->measured_ms = measured;
    if (b->layer_rows) {
        sum_rows(b, run, net, optimizer, facts, row);
    } else {
        row->own = guess(b, row, net, &job, group, SCOPE_OWN);
        row->all = guess(b, row, net, &job, group, SCOPE_ALL);
        row->left_out = guess(b, row, net, &job, group, SCOPE_LEFT_OUT);
    }
    if (!row->left_out_text)
        row->left_out_text = g_strdup("everything");
    g_ptr_array_add(b->out->rows, row);
    orch_net_free(net);
}

/* Returns a time of a trial in ms; NaN when it has none. */
static double time_of(const struct bench *b, struct orch_report_trial *trial,
                      const struct orch_item_value *wanted)
{
    const char *unit = NULL;
    double value = (double)NAN;
    orch_trial_number(b->out->source.trials, trial, wanted, &value, NULL, &unit, NULL);
    const double seconds = orch_unit_in_seconds(unit);
    return isnan(seconds) ? value : value * seconds * 1e3;
}

static void gather_networks(struct bench *b)
{
    const struct orch_trials *trials = b->out->source.trials;
    g_autoptr(GPtrArray) values = orch_item_values_parse(json_object_get(b->item->spec, "value"));
    for (guint i = 0; i < trials->all->len; i++) {
        struct orch_report_trial *trial = trials->all->pdata[i];
        double measured = time_of(b, trial, values->pdata[0]);
        if (measured > 0)
            add_network(b, trial->run, measured);
    }
    if (!b->out->rows->len)
        orch_learn_source_fail(&b->out->source, NULL, "no network is measured yet");
}

/* ---- the item -------------------------------------------------------------------------------- */

struct orch_layerwise_outcome *orch_layerwise_item_predict(struct orch_section_context *a,
                                                           GError **error)
{
    struct orch_layerwise_outcome *out = g_new0(struct orch_layerwise_outcome, 1);
    const struct orch_report_item *item = a->item;
    out->rows = g_ptr_array_new_with_free_func(free_row);
    if (!orch_learn_source_init(&out->source, a, error)) {
        orch_layerwise_outcome_free(out);
        return NULL;
    }
    out->hold_out = g_strdup(orch_json_text(item->spec, "hold_out", NULL));
    out->model = g_strdup(orch_json_text(item->spec, "model", "boost"));
    orch_int_parse(orch_json_text(item->spec, "images", "0"), &out->images);
    struct bench b = {.store = a->plan->store,
                      .item = item,
                      .out = out,
                      .features = orch_learn_texts(item->spec, "features"),
                      .target = g_strdup(orch_json_text(item->spec, "target", "ms")),
                      .texts = {g_string_new(NULL), g_string_new(NULL)},
                      .row_text = g_string_new(NULL),
                      .learned = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                                       (GDestroyNotify)orch_layerwise_free)};
    b.options = (struct orch_learn_options){.model = out->model,
                                            .target = ORCH_LEARN_BEST,
                                            .no_tuning = strcmp(out->model, "auto") != 0};
    gather_layers(&b);
    if (read_layers(&b))
        gather_networks(&b);
    g_hash_table_unref(b.learned);
    g_string_free(b.row_text, TRUE);
    orch_layer_rows_free(b.layer_rows);
    for (int k = 0; k < 2; k++) {
        g_string_free(b.texts[k], TRUE);
        orch_rows_free(b.rows[k]);
    }
    g_strfreev(b.features);
    g_free(b.target);
    orch_learn_source_set_hint(&out->source, a);
    return out;
}

void orch_layerwise_outcome_free(struct orch_layerwise_outcome *out)
{
    if (!out)
        return;
    orch_learn_source_clear(&out->source);
    g_free(out->hold_out);
    g_free(out->model);
    g_ptr_array_unref(out->rows);
    g_free(out);
}
