/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/predict_tiers.h"

#include "core/cli/nets.h"
#include "core/cli/training_rows.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/net/zoo.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define OTHER_RUNS_PULL 2.0 /* a shift by other networks counts n / (n + this) */
/* From public measurements, each GPU left out of what speaks of it (bench/distil.py --shifts):
 * 90 % of logarithms of what a run of the network on this GPU, at another batch or in another
 * framework, leaves unexplained; the same of a run on another GPU; and how much the latter counts,
 * so that it errs least. */
#define SAME_NET_ERROR 0.35
#define OTHER_GPU_ERROR 0.41
#define OTHER_GPU_WEIGHT 0.21
#define WHITE_ERROR 0.358 /* the same between networks */
#define FEW_ROWS 300      /* with so many rows a predictor is trained on the way */

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
    orch_error_set(error, ORCH_ERROR_RECIPE, "train it again: orch predictor train",
                   "it learned '%s', not " ORCH_PREDICTOR_STEP, trained->target);
    orch_trained_free(trained);
    return NULL;
}

/* The next question need not learn again; a store that cannot be written is no error. It may be
 * opened anew by this. */
static void keep_automatic(struct orch_cli *cli, struct orch_trained *t)
{
    if (!t->learned)
        return;
    t->is_automatic = true;
    g_autofree char *text = orch_trained_text(t);
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_WRITE, NULL);
    if (store)
        orch_store_put_predictor(store, t->name, text, NULL);
}

/* What was measured is asked of the store when there are runs that the predictor has not seen. */
static bool refresh(struct orch_cli *cli, struct orch_store *store, bool may_keep,
                    struct tiers *out, GError **error)
{
    int64_t last = 0, seen = out->trained ? out->trained->last_run : 0;
    if (!orch_store_newer_runs(store, seen, &out->newer, &last, error))
        return false;
    if (!out->newer)
        return true;
    if (out->trained && out->trained->is_automatic) {
        orch_trained_free(out->trained);
        out->trained = NULL;
    }
    struct training_request request = {.target = ORCH_PREDICTOR_STEP, .runs = true};
    struct orch_trained *fresh =
        training_measure(store, &request, !out->trained ? FEW_ROWS : 0, error);
    if (!fresh)
        return false;
    if (!out->trained) {
        out->trained = fresh;
        if (may_keep) /* not over one of a newer version */
            keep_automatic(cli, fresh);
        return true;
    }
    orch_cli_warn(cli,
                  "%" G_GINT64_FORMAT " runs are newer than the predictor: 'orch predictor train' "
                  "learns from them",
                  out->newer);
    training_take_known(out->trained, fresh);
    return true;
}

bool tiers_open(struct orch_cli *cli, const struct question *q, const char *const *calibrate,
                struct tiers *out, GError **error)
{
    *out = (struct tiers){.hardware = q->hardware};
    struct orch_workspace *workspace = orch_cli_workspace(cli, NULL, error);
    if (!workspace)
        return false;
    bool is_there = orch_store_exists(workspace->db_path);
    if (!is_there && !calibrate && !cli->db)
        return true;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    g_autoptr(GError) broken = NULL;
    if (!store)
        return false;
    if (!calibrate) {
        out->trained = load_trained(store, &broken);
        if (broken)
            orch_cli_warn(cli, "the trained predictor is not used: %s", broken->message);
        return refresh(cli, store, !broken, out, error);
    }
    struct training_request request = {
        .target = ORCH_PREDICTOR_STEP, .runs = true, .only = calibrate};
    struct orch_trained *chosen = training_measure(store, &request, 0, error);
    if (!chosen)
        return false;
    if (!chosen->known->len) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "'orch predictor rows' lists the runs with a step time",
                       "--calibrate: none of these runs declares its cost and has a step time");
        orch_trained_free(chosen);
        return false;
    }
    out->trained = chosen;
    return true;
}

void tiers_close(struct tiers *tiers)
{
    orch_trained_free(tiers->trained);
    if (tiers->nets)
        g_hash_table_unref(tiers->nets);
    g_free(tiers->whites);
    *tiers = (struct tiers){0};
}

void told_clear(struct told *told)
{
    g_free(told->why);
    *told = (struct told){0};
}

/* ---- the question as a row ---------------------------------------------------------------------
 */

static char *input_text(const struct orch_net *net)
{
    return g_strdup_printf("%dx%dx%d", (int)net->input.c, (int)net->input.h, (int)net->input.w);
}

const char *tiers_device_name(const struct orch_gpu_spec *gpu)
{
    return gpu->unit == ORCH_GPU_HOST && gpu->arch && *gpu->arch ? gpu->arch : gpu->name;
}

static char *value_of(const struct tier_ask *ask, const char *column)
{
    if (strcmp(column, "gpu") == 0)
        return g_strdup(tiers_device_name(ask->gpu));
    if (strcmp(column, "net") == 0)
        return g_strdup(ask->q->net->name);
    if (strcmp(column, "batch") == 0)
        return g_strdup_printf("%" G_GINT64_FORMAT, ask->batch);
    if (strcmp(column, "workers") == 0)
        return g_strdup_printf("%" G_GINT64_FORMAT, ask->workers);
    if (strcmp(column, "precision") == 0)
        return g_strdup(orch_precision_names()[ask->precision]);
    if (strcmp(column, "mode") == 0)
        return g_strdup(ask->q->o->forward_only ? "infer" : "train");
    if (strcmp(column, "input") == 0)
        return input_text(ask->q->net);
    if (strcmp(column, "threads") == 0 && ask->q->threads)
        return g_strdup_printf("%" G_GINT64_FORMAT, ask->q->threads);
    return g_strdup("");
}

struct orch_csv *tiers_row(const struct orch_trained *trained, const struct tier_ask *ask,
                           GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    orch_csv_append(text, trained->target);
    for (int c = 0; trained->columns[c]; c++) {
        g_string_append_c(text, ',');
        orch_csv_append(text, trained->columns[c]);
    }
    g_string_append(text, "\n1");
    for (int c = 0; trained->columns[c]; c++) {
        g_autofree char *value = value_of(ask, trained->columns[c]);
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

static const struct orch_known *find_known(const struct tiers *tiers, const struct tier_ask *ask)
{
    char *values[G_N_ELEMENTS(ASKED)] = {NULL};
    for (int i = 0; ASKED[i]; i++)
        values[i] = value_of(ask, ASKED[i]);
    const struct orch_known *known =
        orch_trained_find(tiers->trained, ASKED, (const char *const *)values);
    /* rows that name neither GPU nor network agree with everything: they are no measurement of it
     */
    if (known && (!*orch_known_value(tiers->trained, known, "gpu") ||
                  !*orch_known_value(tiers->trained, known, "net")))
        known = NULL;
    /* nor are rows that do not say their mode a measurement of inference */
    if (known && ask->q->o->forward_only && !*orch_known_value(tiers->trained, known, "mode"))
        known = NULL;
    for (int i = 0; ASKED[i]; i++)
        g_free(values[i]);
    return known;
}

/* "28 runs of the store and 60 rows of data set 'timm'". */
static char *rows_text(const struct orch_trained *t, size_t rows, size_t runs)
{
    g_autoptr(GString) text = g_string_new(NULL);
    if (runs || !rows)
        g_string_append_printf(text, "%zu run%s of the store", runs, runs == 1 ? "" : "s");
    if (rows <= runs)
        return g_strdup(text->str);
    GString *sets = g_string_new(NULL);
    int count = 0;
    for (int i = 0; t->sources[i]; i++)
        if (strcmp(t->sources[i], "runs") != 0)
            g_string_append_printf(sets, "%s'%s'", count++ ? ", " : " ", t->sources[i]);
    g_string_append_printf(text, "%s%zu row%s of data set%s%s", runs ? " and " : "", rows - runs,
                           rows - runs == 1 ? "" : "s", count == 1 ? "" : "s", sets->str);
    g_string_free(sets, TRUE);
    return g_strdup(text->str);
}

/* Of a data set that a measurement is of, its name is known. */
static char *known_text(const struct orch_trained *t, const struct orch_known *known)
{
    const char *s = known->count == 1 ? "" : "s";
    if (known->runs == known->count)
        return g_strdup_printf("%d run%s of this configuration, the newest %s", known->count, s,
                               orch_cli_short_key(known->newest));
    if (!known->runs && *known->newest)
        return g_strdup_printf("%d row%s of data set '%s', of this configuration", known->count, s,
                               known->newest);
    g_autofree char *rows = rows_text(t, (size_t)known->count, (size_t)known->runs);
    return g_strdup_printf("%s, of this configuration", rows);
}

static void tell_measured(const struct tiers *tiers, const struct orch_known *known,
                          struct told *out)
{
    out->tier = "measured";
    out->own = (struct orch_prior_own){known->median / 1e3, known->low / 1e3, known->high / 1e3};
    out->whole = true;
    g_autofree char *what = known_text(tiers->trained, known);
    out->why = g_strdup_printf("%s; single measurements spread by %.1f %%", what,
                               100 * tiers->trained->repeat_spread);
}

/* ---- fitted ------------------------------------------------------------------------------------
 */

/* Is this value of a column among what was measured? */
static bool was_seen(const struct orch_trained *t, const char *column, const char *value)
{
    for (guint i = 0; i < t->known->len; i++)
        if (g_ascii_strcasecmp(orch_known_value(t, t->known->pdata[i], column), value) == 0)
            return true;
    return false;
}

/* Has the column values at all, and is this one not among them? Rows without a mode trained. */
static bool is_new(const struct orch_trained *t, const struct tier_ask *ask, const char *column)
{
    g_autofree char *value = value_of(ask, column);
    bool any = false;
    for (guint i = 0; i < t->known->len && !any; i++)
        any = *orch_known_value(t, t->known->pdata[i], column);
    if (!any)
        return strcmp(column, "mode") == 0 && strcmp(value, "train") != 0;
    return !was_seen(t, column, value);
}

static bool tell_fitted(const struct tiers *tiers, const struct tier_ask *ask, struct told *out,
                        GError **error)
{
    const struct orch_trained *t = tiers->trained;
    if (!t->learned || !t->is_used || !was_seen(t, "gpu", tiers_device_name(ask->gpu)) ||
        is_new(t, ask, "precision") || is_new(t, ask, "mode"))
        return true;
    g_autofree char *workers = value_of(ask, "workers");
    struct tier_ask alone = *ask;
    out->whole = was_seen(t, "workers", workers);
    alone.workers = out->whole ? ask->workers : 1;
    struct orch_csv *csv = tiers_row(t, &alone, error);
    struct orch_rows_options options = {.target = t->target};
    struct orch_rows *rows = csv ? orch_rows_of_table(csv, &options, error) : NULL;
    orch_csv_free(csv);
    if (!rows)
        return false;
    struct orch_answer answer;
    orch_learned_predict(t->learned, rows, &answer);
    orch_rows_free(rows);
    if (!(answer.low > 0 && answer.low <= answer.value && answer.value <= answer.high &&
          isfinite(answer.high))) {
        orch_load_fail("members", "cannot be read", error);
        return false;
    }
    out->extrapolates = answer.extrapolates;
    if (answer.extrapolates && log(answer.high / answer.low) / 2 > WHITE_ERROR)
        return true; /* the white box knows better */
    out->tier = "fitted";
    out->own = (struct orch_prior_own){answer.value / 1e3, answer.low / 1e3, answer.high / 1e3};
    g_autofree char *rows_learned = rows_text(t, t->rows, t->run_rows);
    out->why = g_strdup_printf("learned from %s (%.1f %% mean relative error on %s left out)%s",
                               rows_learned, 100 * orch_learned_error(t->learned, answer.question),
                               answer.question ? "networks" : "rows",
                               answer.extrapolates ? "; beyond what it has seen" : "");
    return true;
}

bool tiers_tell(const struct tiers *tiers, const struct tier_ask *ask, struct told *out,
                GError **error)
{
    *out = (struct told){0};
    if (!tiers->trained || ask->q->o->calibrate)
        return true;
    const struct orch_known *known = find_known(tiers, ask);
    if (known) {
        tell_measured(tiers, known, out);
        return true;
    }
    return tell_fitted(tiers, ask, out, error);
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

static const struct known_net *net_of(struct tiers *tiers, const struct orch_known *known)
{
    const char *name = orch_known_value(tiers->trained, known, "net");
    const char *input = orch_known_value(tiers->trained, known, "input");
    g_autofree char *key = g_strdup_printf("%s %s", name, input);
    struct known_net *k = g_hash_table_lookup(tiers->nets, key);
    if (k)
        return k;
    struct orch_net_request request = {.name = name, .input = *input ? input : NULL};
    k = g_new0(struct known_net, 1);
    k->net = strpbrk(name, "/.") ? NULL : orch_cli_net(&request, NULL);
    k->costs = k->net ? orch_net_costs(k->net) : NULL;
    g_hash_table_insert(tiers->nets, g_steal_pointer(&key), k);
    return k;
}

/* False: a name that no peak goes by ("amp", "half"): it is not guessed at. */
static bool precision_of(const struct orch_trained *t, const struct orch_known *known,
                         enum orch_precision *out)
{
    const char *precision = orch_known_value(t, known, "precision");
    *out = ORCH_FP32;
    for (int i = 0; orch_precision_names()[i]; i++) {
        if (strcmp(orch_precision_names()[i], precision) == 0) {
            *out = (enum orch_precision)i;
            return true;
        }
    }
    return !*precision;
}

/* The white box's time of a measured configuration; NaN where it cannot say. */
static double estimate(struct tiers *tiers, const struct orch_known *known, bool transfers)
{
    const struct orch_trained *t = tiers->trained;
    const struct orch_gpu_spec *gpu =
        orch_hardware_gpu(tiers->hardware, orch_known_value(t, known, "gpu"), NULL);
    const struct known_net *k = net_of(tiers, known);
    enum orch_precision precision;
    bool is_named = precision_of(t, known, &precision);
    struct orch_prior prior;
    struct orch_prior_step step;
    struct orch_exchange alone = {
        .workers = 1, .node_workers = 1, .bandwidth = 1, .node_bandwidth = 1};
    struct orch_roofline_work work = {.element_bytes = orch_precision_bytes(precision),
                                      .training =
                                          strcmp(orch_known_value(t, known, "mode"), "infer") != 0,
                                      .states_per_weight = 1};
    if (!gpu || !k->net || !is_named ||
        !orch_int_parse(orch_known_value(t, known, "batch"), &work.batch) ||
        !orch_prior_for(gpu, precision, &prior, NULL) ||
        (transfers && !orch_prior_transfer(gpu, precision, &prior)) ||
        !orch_prior_predict(k->net, k->costs, &prior, &work, &alone, NULL, &step, NULL))
        return (double)NAN;
    return step.own.total_s;
}

static double white_of(struct tiers *tiers, guint at, bool transfers)
{
    const GPtrArray *known = tiers->trained->known;
    if (!tiers->whites) {
        tiers->whites = g_new0(double, 2 * (size_t)known->len + 1);
        tiers->nets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_known_net);
    }
    double *white = &tiers->whites[2 * (size_t)at + transfers];
    if (!isnan(*white) && !(*white > 0))
        *white = estimate(tiers, known->pdata[at], transfers);
    return *white;
}

static bool is_one_worker(const struct orch_trained *t, const struct orch_known *known)
{
    const char *workers = orch_known_value(t, known, "workers");
    return !*workers || strcmp(workers, "1") == 0;
}

/* A processor's runs tell nothing of a GPU. */
static bool is_processor(const struct tiers *tiers, const struct orch_known *known)
{
    const struct orch_gpu_spec *spec =
        orch_hardware_gpu(tiers->hardware, orch_known_value(tiers->trained, known, "gpu"), NULL);
    return spec && spec->unit == ORCH_GPU_HOST;
}

static bool is_same_precision(const struct orch_trained *t, const struct orch_known *known,
                              const struct tier_ask *ask)
{
    const char *is = orch_known_value(t, known, "precision");
    return !*is || strcmp(is, orch_precision_names()[ask->precision]) == 0;
}

/* Mean of log(measured / white box) over what was measured. */
struct shift {
    double sum;
    int count, run_here; /* configurations, and those of which there are runs */
};

static void add_shift(struct shift *s, double log_ratio, const struct orch_known *known)
{
    s->sum += log_ratio;
    s->count++;
    s->run_here += known->runs > 0;
}

/* "3 configurations run here", "2 configurations of data sets". */
static char *shift_text(const struct shift *s)
{
    const char *plural = s->count == 1 ? "" : "s";
    if (s->run_here == s->count)
        return g_strdup_printf("%d configuration%s run here", s->count, plural);
    if (!s->run_here)
        return g_strdup_printf("%d configuration%s of data sets", s->count, plural);
    return g_strdup_printf("%d configuration%s (%d run here, %d of data sets)", s->count, plural,
                           s->run_here, s->count - s->run_here);
}

void tiers_shift(struct tiers *tiers, const struct tier_ask *ask, struct orch_prior *prior,
                 char **why)
{
    const struct orch_trained *t = tiers->trained;
    struct shift own = {0}, net = {0}, gpu = {0}, any = {0};
    bool is_host = ask->gpu->unit == ORCH_GPU_HOST;
    g_autofree char *mode = value_of(ask, "mode");
    for (guint i = 0; t && i < t->known->len && i < 2000; i++) {
        const struct orch_known *known = t->known->pdata[i];
        bool same_gpu =
            g_ascii_strcasecmp(orch_known_value(t, known, "gpu"), tiers_device_name(ask->gpu)) == 0;
        bool same_net = strcmp(orch_known_value(t, known, "net"), ask->q->net->name) == 0;
        const char *is = orch_known_value(t, known, "mode");
        if (!is_one_worker(t, known) || (*is && strcmp(is, mode) != 0) ||
            (!same_gpu && (is_host || is_processor(tiers, known))))
            continue;
        double white = white_of(tiers, i, prior->is_transferred);
        if (!(white > 0))
            continue;
        double ratio = log(known->median / 1e3 / white);
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
    bool borrowed = best == &net && prior->is_transferred && !ask->q->o->calibrate;
    double weight = best == &any ? any.count / (any.count + OTHER_RUNS_PULL)
                    : borrowed   ? OTHER_GPU_WEIGHT
                                 : 1;
    prior->shift = exp(weight * best->sum / best->count);
    if (best == &own && prior->is_transferred)
        prior->error_90 = MIN(prior->error_90, SAME_NET_ERROR);
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
