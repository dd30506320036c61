/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/step_tiers.h"

#include "core/rows/training_rows.h"
#include "lib/net/open_net.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/net/zoo.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* n configurations of other networks on other GPUs get weight n / (n + this) */
#define OTHER_RUNS_PULL 2.0
/* From public measurements with leave-one-GPU-out validation (bench/distil.py --shifts): 90 %
 * quantiles of abs(log(measured / predicted)) after scaling by a run of the same network on this
 * GPU (at another batch or in another framework) or on another GPU, and the weight of the latter
 * that minimises that error. */
#define SAME_NET_ERROR 0.35
#define OTHER_GPU_ERROR 0.41
#define OTHER_GPU_WEIGHT 0.21
#define WHITE_ERROR 0.358 /* the same quantile between networks */
#define FEW_ROWS 300      /* below this number of rows a predictor is trained on demand */

/* ---- what the store holds ----------------------------------------------------------------------
 */

static struct orch_trained *load_trained(struct orch_store *store, GError **error)
{
    struct orch_predictor_row *row = orch_store_predictor(store, ORCH_PREDICTOR_STEP, error);
    if (!row)
        return NULL;
    struct orch_trained *trained = orch_trained_of_text(row->model, error);
    orch_predictor_row_free(row);
    if (!trained || strcmp(trained->target, ORCH_PREDICTOR_STEP) == 0)
        return trained;
    orch_error_set(error, ORCH_ERROR_RECIPE, "train it again with 'orch predictor train'",
                   "its target is '%s', expected " ORCH_PREDICTOR_STEP, trained->target);
    orch_trained_free(trained);
    return NULL;
}

/* Saves the predictor so that the next question need not train it again. This may reopen the store
 * for writing; it is no error if the store cannot be written. */
static void keep_automatic(struct orch_workspace *workspace, struct orch_trained *t)
{
    if (!t->learned)
        return;
    t->is_automatic = true;
    g_autofree char *text = orch_trained_text(t);
    struct orch_store *store = orch_workspace_store(workspace, ORCH_STORE_WRITE, NULL);
    if (store)
        orch_store_put_predictor(store, t->name, text, NULL);
}

/* Reads the measurements from the store when there are runs newer than the predictor. */
static bool refresh(struct orch_workspace *workspace, bool may_keep, struct orch_step_tiers *out,
                    GPtrArray *notes, GError **error)
{
    struct orch_store *store = workspace->store;
    int64_t last = 0, seen = out->trained ? out->trained->last_run : 0;
    if (!orch_store_newer_runs(store, seen, &out->newer, &last, error))
        return false;
    if (!out->newer)
        return true;
    if (out->trained && out->trained->is_automatic) {
        orch_trained_free(out->trained);
        out->trained = NULL;
    }
    struct orch_training_request request = {.target = ORCH_PREDICTOR_STEP, .runs = true};
    struct orch_trained *fresh =
        orch_training_measure(store, &request, !out->trained ? FEW_ROWS : 0, error);
    if (!fresh)
        return false;
    if (!out->trained) {
        out->trained = fresh;
        if (may_keep) /* never replaces a predictor that could not be read */
            keep_automatic(workspace, fresh);
        return true;
    }
    g_ptr_array_add(notes,
                    g_strdup_printf("%" G_GINT64_FORMAT " runs are newer than the predictor: "
                                    "'orch predictor train' learns from them",
                                    out->newer));
    orch_training_take_known(out->trained, fresh);
    return true;
}

bool orch_step_tiers_open(struct orch_workspace *workspace, const struct orch_time_question *q,
                          bool may_keep, struct orch_step_tiers *out, GPtrArray *notes,
                          GError **error)
{
    *out = (struct orch_step_tiers){.hardware = q->hardware,
                                    .is_written_out = q->is_written_out,
                                    .is_compiled = q->is_compiled,
                                    .watts = q->watts};
    struct orch_store *store = workspace->store;
    g_autoptr(GError) broken = NULL;
    if (!store)
        return true;
    if (!q->calibrate) {
        out->trained = load_trained(store, &broken);
        if (broken)
            g_ptr_array_add(
                notes, g_strdup_printf("the trained predictor is not used: %s", broken->message));
        return refresh(workspace, may_keep && !broken, out, notes, error);
    }
    struct orch_training_request request = {
        .target = ORCH_PREDICTOR_STEP, .runs = true, .only = q->calibrate};
    struct orch_trained *chosen = orch_training_measure(store, &request, 0, error);
    if (!chosen)
        return false;
    if (!chosen->known->len) {
        orch_error_set(
            error, ORCH_ERROR_USAGE, "'orch predictor rows' lists the runs with a step time",
            "option '--calibrate': none of these runs has both a declared cost and a step time");
        orch_trained_free(chosen);
        return false;
    }
    out->trained = chosen;
    return true;
}

void orch_step_tiers_close(struct orch_step_tiers *tiers)
{
    orch_trained_free(tiers->trained);
    if (tiers->nets)
        g_hash_table_unref(tiers->nets);
    g_free(tiers->whites);
    *tiers = (struct orch_step_tiers){0};
}

/* ---- the question as a row ---------------------------------------------------------------------
 */

static char *input_text(const struct orch_net *net)
{
    return g_strdup_printf("%dx%dx%d", (int)net->input.c, (int)net->input.h, (int)net->input.w);
}

const char *orch_step_tiers_device_name(const struct orch_gpu_spec *gpu)
{
    return gpu->unit == ORCH_GPU_HOST && gpu->arch && *gpu->arch ? gpu->arch : gpu->name;
}

static bool was_seen(const struct orch_trained *t, const char *column, const char *value);

/* The name of the question's precision in the records, most of which call an A100's tf32 fp32. */
static const char *precision_name(const struct orch_trained *t,
                                  const struct orch_step_question *ask)
{
    const char *const *names = orch_precision_names();
    for (int i = 0; t && t->known && names[i] && !was_seen(t, "precision", names[ask->precision]);
         i++)
        if (orch_precision_run(ask->gpu, (enum orch_precision)i) == ask->precision &&
            was_seen(t, "precision", names[i]))
            return names[i];
    return names[ask->precision];
}

static char *value_of(const struct orch_trained *t, const struct orch_step_question *ask,
                      const char *column)
{
    if (strcmp(column, "gpu") == 0)
        return g_strdup(orch_step_tiers_device_name(ask->gpu));
    if (strcmp(column, "net") == 0)
        return g_strdup(ask->q->net->name);
    if (strcmp(column, "batch") == 0)
        return g_strdup_printf("%" G_GINT64_FORMAT, ask->batch);
    if (strcmp(column, "workers") == 0)
        return g_strdup_printf("%" G_GINT64_FORMAT, ask->workers);
    if (strcmp(column, "precision") == 0)
        return g_strdup(precision_name(t, ask));
    if (strcmp(column, "mode") == 0)
        return g_strdup(ask->q->forward_only ? "infer" : "train");
    if (strcmp(column, "input") == 0)
        return input_text(ask->q->net);
    if (strcmp(column, "threads") == 0 && ask->q->threads)
        return g_strdup_printf("%" G_GINT64_FORMAT, ask->q->threads);
    return g_strdup("");
}

struct orch_csv *orch_step_tiers_row(const struct orch_trained *trained,
                                     const struct orch_step_question *ask, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    orch_csv_append(text, trained->target);
    for (int c = 0; trained->columns[c]; c++) {
        g_string_append_c(text, ',');
        orch_csv_append(text, trained->columns[c]);
    }
    g_string_append(text, "\n1");
    for (int c = 0; trained->columns[c]; c++) {
        g_autofree char *value = value_of(trained, ask, trained->columns[c]);
        g_string_append_c(text, ',');
        orch_csv_append(text, value);
    }
    g_string_append_c(text, '\n');
    return orch_csv_parse("question", text->str, text->len, error);
}

/* ---- measured ----------------------------------------------------------------------------------
 */

static const char *const ASKED[] = {"gpu",  "net",   "batch",   "workers", "precision",
                                    "mode", "input", "threads", NULL};

/* Rows without a GPU or a network match every question, so they are no measurement of it. Rows
 * without a mode are no measurement of inference. */
static bool is_measurement(const struct orch_trained *t, const struct orch_trained_cell *known,
                           const struct orch_step_question *ask)
{
    return *orch_trained_cell_value(t, known, "gpu") && *orch_trained_cell_value(t, known, "net") &&
           (!ask->q->forward_only || *orch_trained_cell_value(t, known, "mode"));
}

/* Finds the configuration under any name of its precision, preferring the one measured most often.
 */
static const struct orch_trained_cell *find_known(const struct orch_step_tiers *tiers,
                                                  const struct orch_step_question *ask)
{
    const struct orch_trained *t = tiers->trained;
    const struct orch_trained_cell *best = NULL;
    char *values[G_N_ELEMENTS(ASKED)] = {NULL};
    int at = 0;
    for (int i = 0; ASKED[i]; i++) {
        values[i] = value_of(t, ask, ASKED[i]);
        at = strcmp(ASKED[i], "precision") == 0 ? i : at;
    }
    for (int i = 0; orch_precision_names()[i]; i++) {
        if (orch_precision_run(ask->gpu, (enum orch_precision)i) != ask->precision)
            continue;
        g_free(values[at]);
        values[at] = g_strdup(orch_precision_names()[i]);
        const struct orch_trained_cell *known =
            orch_trained_find(t, ASKED, (const char *const *)values);
        if (known && is_measurement(t, known, ask) && (!best || known->count > best->count))
            best = known;
    }
    for (int i = 0; ASKED[i]; i++)
        g_free(values[i]);
    return best;
}

/* "28 runs of the store and 60 rows of data set 'timm'". */
static char *rows_text(const struct orch_trained *t, size_t rows, size_t runs)
{
    g_autoptr(GString) text = g_string_new(NULL);
    if (runs || !rows)
        g_string_append_printf(text, "%zu run%s of the store", runs, orch_plural(runs));
    if (rows <= runs)
        return g_strdup(text->str);
    GString *sets = g_string_new(NULL);
    int count = 0;
    for (int i = 0; t->sources[i]; i++)
        if (strcmp(t->sources[i], "runs") != 0)
            g_string_append_printf(sets, "%s'%s'", count++ ? ", " : " ", t->sources[i]);
    g_string_append_printf(text, "%s%zu row%s of data set%s%s", runs ? " and " : "", rows - runs,
                           orch_plural(rows - runs), orch_plural(count), sets->str);
    g_string_free(sets, TRUE);
    return g_strdup(text->str);
}

/* Describes the rows that a measurement comes from, with the name of the data set. */
static char *known_text(const struct orch_trained *t, const struct orch_trained_cell *known)
{
    const char *s = orch_plural(known->count);
    if (known->runs == known->count)
        return g_strdup_printf("%d run%s of this configuration, the newest %s", known->count, s,
                               orch_run_short_key(known->newest));
    if (!known->runs && *known->newest)
        return g_strdup_printf("%d row%s of data set '%s', of this configuration", known->count, s,
                               known->newest);
    g_autofree char *rows = rows_text(t, (size_t)known->count, (size_t)known->runs);
    return g_strdup_printf("%s, of this configuration", rows);
}

static void fill_measured(const struct orch_step_tiers *tiers,
                          const struct orch_trained_cell *known, struct orch_step_estimate *out)
{
    out->tier = "measured";
    out->own = (struct orch_interval){known->time.low / 1e3, known->time.mid / 1e3,
                                      known->time.high / 1e3};
    out->whole = true;
    g_autofree char *what = known_text(tiers->trained, known);
    bool is_repeated = known->runs == known->count && known->count > 1;
    out->why =
        g_strdup_printf("%s; single measurements%s spread by %.1f %%", what,
                        is_repeated ? "" : " of other configurations, wherever they were made,",
                        100 * tiers->trained->repeat_spread);
}

/* ---- fitted ------------------------------------------------------------------------------------
 */

/* True when a measured configuration has this value in the column. */
static bool was_seen(const struct orch_trained *t, const char *column, const char *value)
{
    for (guint i = 0; i < t->known->len; i++)
        if (g_ascii_strcasecmp(orch_trained_cell_value(t, t->known->pdata[i], column), value) == 0)
            return true;
    return false;
}

/* True when the column has values and none equals this one. Rows without a mode were training. */
static bool is_new(const struct orch_trained *t, const struct orch_step_question *ask,
                   const char *column)
{
    g_autofree char *value = value_of(t, ask, column);
    bool any = false;
    for (guint i = 0; i < t->known->len && !any; i++)
        any = *orch_trained_cell_value(t, t->known->pdata[i], column);
    if (!any)
        return strcmp(column, "mode") == 0 && strcmp(value, "train") != 0;
    return !was_seen(t, column, value);
}

static bool fill_fitted(const struct orch_step_tiers *tiers, const struct orch_step_question *ask,
                        struct orch_step_estimate *out, GError **error)
{
    const struct orch_trained *t = tiers->trained;
    if (!t->learned || !t->is_used || !was_seen(t, "gpu", orch_step_tiers_device_name(ask->gpu)) ||
        is_new(t, ask, "precision") || is_new(t, ask, "mode"))
        return true;
    g_autofree char *workers = value_of(t, ask, "workers");
    struct orch_step_question alone = *ask;
    out->whole = was_seen(t, "workers", workers);
    alone.workers = out->whole ? ask->workers : 1;
    struct orch_csv *csv = orch_step_tiers_row(t, &alone, error);
    struct orch_rows_options options = {.target = t->target};
    struct orch_rows *rows = csv ? orch_rows_of_table(csv, &options, error) : NULL;
    orch_csv_free(csv);
    if (!rows)
        return false;
    struct orch_answer answer;
    orch_learned_predict(t->learned, rows, &answer);
    orch_rows_free(rows);
    if (!(answer.value.low > 0 && answer.value.low <= answer.value.mid &&
          answer.value.mid <= answer.value.high && isfinite(answer.value.high))) {
        orch_load_fail("members", "cannot be read", error);
        return false;
    }
    out->extrapolates = answer.extrapolates;
    if (answer.extrapolates && log(answer.value.high / answer.value.low) / 2 > WHITE_ERROR)
        return true; /* the analytical model is more precise here */
    out->tier = "fitted";
    out->own = (struct orch_interval){answer.value.low / 1e3, answer.value.mid / 1e3,
                                      answer.value.high / 1e3};
    g_autofree char *rows_learned = rows_text(t, t->rows, t->run_rows);
    out->why = g_strdup_printf("learned from %s (%.1f %% mean relative error on %s left out)%s",
                               rows_learned, 100 * orch_learned_error(t->learned, answer.question),
                               answer.question ? "networks" : "rows",
                               answer.extrapolates ? "; beyond what it has seen" : "");
    return true;
}

bool orch_step_tiers_estimate(const struct orch_step_tiers *tiers,
                              const struct orch_step_question *ask, struct orch_step_estimate *out,
                              GError **error)
{
    *out = (struct orch_step_estimate){0};
    if (!tiers->trained || ask->q->calibrate)
        return true;
    const struct orch_trained_cell *known = find_known(tiers, ask);
    if (known) {
        fill_measured(tiers, known, out);
        return true;
    }
    return fill_fitted(tiers, ask, out, error);
}

/* ---- transferred -------------------------------------------------------------------------------
 */

struct known_net {
    struct orch_net *net; /* NULL: not of the zoo */
    struct orch_net_cost *costs;
};

static void free_known_net(gpointer data)
{
    struct known_net *k = data;
    if (k->net)
        orch_net_free(k->net);
    g_free(k->costs);
    g_free(k);
}

static const struct known_net *net_of(struct orch_step_tiers *tiers,
                                      const struct orch_trained_cell *known)
{
    const char *name = orch_trained_cell_value(tiers->trained, known, "net");
    const char *input = orch_trained_cell_value(tiers->trained, known, "input");
    g_autofree char *key = g_strdup_printf("%s %s", name, input);
    struct known_net *k = g_hash_table_lookup(tiers->nets, key);
    if (k)
        return k;
    k = g_new0(struct known_net, 1);
    k->net = orch_network_of_record(name, input, 0);
    k->costs = k->net ? orch_net_costs(k->net) : NULL;
    g_hash_table_insert(tiers->nets, g_steal_pointer(&key), k);
    return k;
}

/* The precision that a record's multiplications ran in on the GPU; fp32 when the record has none.
 * False when its name is unknown, because no precision is guessed. */
static bool precision_of(const struct orch_trained *t, const struct orch_trained_cell *known,
                         const struct orch_gpu_spec *gpu, enum orch_precision *out)
{
    const char *text = orch_trained_cell_value(t, known, "precision");
    enum orch_precision stored = ORCH_FP32;
    bool is_known = !*text || orch_precision_find(text, &stored);
    *out = gpu ? orch_precision_run(gpu, stored) : stored;
    return is_known;
}

/* How a measured configuration is estimated. */
enum basis {
    BASIS_ROOFLINE,
    BASIS_TRANSFERRED,
    BASIS_PEAK, /* a roofline at the whole peak and bandwidth, without launches */
};

static void use_whole_peak(struct orch_prior *prior)
{
    prior->device.compute_share = prior->device.memory_share = 1;
    prior->device.launch_s = 0;
}

/* The analytical step time of a measured configuration, seconds; NaN when there is none. */
static double estimate(struct orch_step_tiers *tiers, const struct orch_trained_cell *known,
                       enum basis basis)
{
    const struct orch_trained *t = tiers->trained;
    const struct orch_gpu_spec *gpu =
        orch_hardware_gpu(tiers->hardware, orch_trained_cell_value(t, known, "gpu"), NULL);
    const struct known_net *k = net_of(tiers, known);
    enum orch_precision precision;
    bool is_named = precision_of(t, known, gpu, &precision);
    struct orch_prior prior;
    struct orch_prior_step step;
    struct orch_exchange alone = {
        .workers = 1, .node_workers = 1, .bandwidth = 1, .node_bandwidth = 1};
    struct orch_roofline_work work = {
        .element_bytes = orch_precision_bytes(precision),
        .training = strcmp(orch_trained_cell_value(t, known, "mode"), "infer") != 0,
        .states_per_weight = 1};
    if (!gpu || !k->net || !is_named ||
        !orch_int_parse(orch_trained_cell_value(t, known, "batch"), &work.batch) ||
        !orch_prior_for(gpu, precision, &prior, NULL))
        return (double)NAN;
    prior.kernels.is_written_out = tiers->is_written_out;
    prior.kernels.is_compiled = tiers->is_compiled;
    if (basis == BASIS_TRANSFERRED &&
        !orch_prior_transfer(k->net, gpu, precision, tiers->watts, &prior))
        return (double)NAN;
    if (basis == BASIS_PEAK)
        use_whole_peak(&prior);
    return orch_prior_predict(k->net, k->costs, &prior, &work, &alone, NULL, &step, NULL)
               ? step.own.total_s
               : (double)NAN;
}

static void start_cache(struct orch_step_tiers *tiers)
{
    if (tiers->whites)
        return;
    tiers->whites = g_new0(double, 2 * (size_t)tiers->trained->known->len + 1);
    tiers->nets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_known_net);
}

static double white_of(struct orch_step_tiers *tiers, guint at, bool transfers)
{
    const GPtrArray *known = tiers->trained->known;
    start_cache(tiers);
    double *white = &tiers->whites[2 * (size_t)at + transfers];
    if (!isnan(*white) && !(*white > 0))
        *white = estimate(tiers, known->pdata[at], transfers ? BASIS_TRANSFERRED : BASIS_ROOFLINE);
    return *white;
}

static bool is_one_worker(const struct orch_trained *t, const struct orch_trained_cell *known)
{
    const char *workers = orch_trained_cell_value(t, known, "workers");
    return !*workers || strcmp(workers, "1") == 0;
}

/* Runs on a processor say nothing about a GPU. */
static bool is_processor(const struct orch_step_tiers *tiers, const struct orch_trained_cell *known)
{
    const struct orch_gpu_spec *spec = orch_hardware_gpu(
        tiers->hardware, orch_trained_cell_value(tiers->trained, known, "gpu"), NULL);
    return spec && spec->unit == ORCH_GPU_HOST;
}

static bool is_same_precision(const struct orch_trained *t, const struct orch_trained_cell *known,
                              const struct orch_step_question *ask)
{
    enum orch_precision is;
    return !*orch_trained_cell_value(t, known, "precision") ||
           (precision_of(t, known, ask->gpu, &is) && is == ask->precision);
}

/* Sum of log(measured / analytical) over the measured configurations. */
struct shift {
    double sum;
    int count, run_here; /* configurations, and how many of them have runs in the store */
};

static void add_shift(struct shift *s, double log_ratio, const struct orch_trained_cell *known)
{
    s->sum += log_ratio;
    s->count++;
    s->run_here += known->runs > 0;
}

/* "3 configurations run here", "2 configurations of data sets". */
static char *shift_text(const struct shift *s)
{
    const char *plural = orch_plural(s->count);
    if (s->run_here == s->count)
        return g_strdup_printf("%d configuration%s run here", s->count, plural);
    if (!s->run_here)
        return g_strdup_printf("%d configuration%s of data sets", s->count, plural);
    return g_strdup_printf("%d configuration%s (%d run here, %d of data sets)", s->count, plural,
                           s->run_here, s->count - s->run_here);
}

void orch_step_tiers_shift(struct orch_step_tiers *tiers, const struct orch_step_question *ask,
                           struct orch_prior *prior, char **why)
{
    const struct orch_trained *t = tiers->trained;
    struct shift own = {0}, net = {0}, gpu = {0}, any = {0};
    bool is_host = ask->gpu->unit == ORCH_GPU_HOST;
    g_autofree char *mode = value_of(t, ask, "mode");
    for (guint i = 0; t && i < t->known->len && i < 2000; i++) {
        const struct orch_trained_cell *known = t->known->pdata[i];
        bool same_gpu = g_ascii_strcasecmp(orch_trained_cell_value(t, known, "gpu"),
                                           orch_step_tiers_device_name(ask->gpu)) == 0;
        bool same_net = strcmp(orch_trained_cell_value(t, known, "net"), ask->q->net->name) == 0;
        const char *is = orch_trained_cell_value(t, known, "mode");
        if (!is_one_worker(t, known) || (*is && strcmp(is, mode) != 0) ||
            (!same_gpu && (is_host || is_processor(tiers, known))))
            continue;
        double white = white_of(tiers, i, prior->is_transferred);
        if (!(white > 0))
            continue;
        double ratio = log(known->time.mid / 1e3 / white);
        add_shift(&any, ratio, known);
        if (same_net && same_gpu && is_same_precision(t, known, ask))
            add_shift(&own, ratio, known);
        if (same_net)
            add_shift(&net, ratio, known);
        if (same_gpu)
            add_shift(&gpu, ratio, known);
    }
    const struct shift *best = own.count ? &own : net.count ? &net : gpu.count ? &gpu : &any;
    if (!best->count)
        return;
    bool borrowed = best == &net && prior->is_transferred && !ask->q->calibrate;
    double weight = best == &any ? any.count / (any.count + OTHER_RUNS_PULL)
                    : borrowed   ? OTHER_GPU_WEIGHT
                                 : 1;
    prior->shift = exp(weight * best->sum / best->count);
    if (best == &own && prior->is_transferred)
        prior->error_90 = MIN(prior->error_90, SAME_NET_ERROR);
    bool is_new_chip = prior->is_transferred && !prior->is_by_kernels &&
                       !prior->transfer.chip_was_measured && prior->transfer.arch_was_measured &&
                       !orch_net_is_sequence(ask->q->net);
    if (best == &gpu && is_new_chip)
        prior->error_90 = orch_transfer_chip_error(gpu.count);
    if (best == &net && prior->is_transferred && !borrowed)
        prior->error_90 = MAX(prior->error_90, OTHER_GPU_ERROR);
    g_autofree char *what = shift_text(best);
    *why = g_strdup_printf("times %.2f: %s %s (PPP %.2f)", prior->shift, what,
                           best == &own   ? "with this network on this GPU"
                           : best == &net ? "with this network"
                           : best == &gpu ? "on this GPU"
                                          : "on other GPUs with other networks",
                           exp(-best->sum / best->count));
}

/* ---- the precision of a question that has none
 * ---------------------------------------------------
 */

bool orch_step_tiers_precision(const struct orch_step_tiers *tiers, const struct orch_net *net,
                               const struct orch_gpu_spec *gpu, enum orch_precision *out)
{
    const struct orch_trained *t = tiers->trained;
    int counts[2][ORCH_PRECISION_COUNT] = {
        {0}}; /* records of the network on any GPU; on this GPU */
    for (guint i = 0; t && i < t->known->len; i++) {
        const struct orch_trained_cell *known = t->known->pdata[i];
        enum orch_precision precision;
        if (!net || strcmp(orch_trained_cell_value(t, known, "net"), net->name) != 0 ||
            !*orch_trained_cell_value(t, known, "precision") ||
            !precision_of(t, known, gpu, &precision) || orch_gpu_peak(gpu, precision) <= 0)
            continue;
        bool is_here = g_ascii_strcasecmp(orch_trained_cell_value(t, known, "gpu"),
                                          orch_step_tiers_device_name(gpu)) == 0;
        counts[0][precision] += known->count;
        counts[1][precision] += is_here ? known->count : 0;
    }
    int best = 0;
    for (int here = 1; here >= 0; here--) {
        for (int i = 0; i < ORCH_PRECISION_COUNT; i++)
            best = counts[here][i] > counts[here][best] ? i : best;
        if (counts[here][best]) {
            *out = (enum orch_precision)best;
            return true;
        }
    }
    return false;
}

/* ---- platform percent of peak ------------------------------------------------------------------
 */

static bool is_workload_of(const struct orch_step_tiers *tiers,
                           const struct orch_trained_cell *known, const struct orch_gpu_spec *gpu,
                           enum orch_precision precision)
{
    const struct orch_trained *t = tiers->trained;
    enum orch_precision is;
    const char *name = orch_trained_cell_value(t, known, "gpu");
    const struct orch_gpu_spec *on = orch_hardware_gpu(tiers->hardware, name, NULL);
    bool is_it = strcmp(name, orch_step_tiers_device_name(gpu)) == 0 ||
                 (on && strcmp(on->name, gpu->name) == 0);
    return known->runs > 0 && is_it && is_one_worker(t, known) &&
           precision_of(t, known, gpu, &is) && is == precision;
}

bool orch_step_tiers_ppp(struct orch_step_tiers *tiers, const struct orch_gpu_spec *gpu,
                         enum orch_precision precision, struct orch_step_ppp *out, GError **error)
{
    struct orch_step_ppp ppp = {0};
    const GPtrArray *known = tiers && tiers->trained ? tiers->trained->known : NULL;
    for (guint i = 0; known && i < known->len; i++) {
        const struct orch_trained_cell *cell = known->pdata[i];
        start_cache(tiers);
        if (!is_workload_of(tiers, cell, gpu, precision))
            continue;
        double peak_s = estimate(tiers, cell, BASIS_PEAK);
        if (!(peak_s > 0))
            continue;
        ppp.share += peak_s / (cell->time.mid / 1e3);
        ppp.workloads++;
    }
    ppp.share /= MAX(1, ppp.workloads);
    if (!ppp.workloads)
        orch_error_set(error, ORCH_ERROR_USAGE, "run a training there, or give a share: 0.62",
                       "PPP cannot be measured: no run with a step time on %s at %s", gpu->name,
                       orch_precision_names()[precision]);
    else if (ppp.share > 1)
        orch_error_set(error, ORCH_ERROR_USAGE, "correct its peak in gpus.yaml, or give a share",
                       "PPP of %s at %s is %.3g: its runs are faster than its peak allows",
                       gpu->name, orch_precision_names()[precision], ppp.share);
    else
        *out = ppp;
    return ppp.workloads && ppp.share <= 1;
}

void orch_prior_set_ppp(struct orch_prior *prior, double share)
{
    use_whole_peak(prior);
    prior->device.compute_share = prior->device.memory_share = share;
}
