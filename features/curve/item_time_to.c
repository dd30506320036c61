/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `time_to`: training time to a given accuracy for several numbers of workers and
 * parameter servers. The number of steps comes from the predicted curve of the left-out network
 * and the family's relation between loss and accuracy. Steps per second come from Optimus'
 * synchronous speed model.
 *
 * The samples of that model are composed. Compute time is measured, in runs of the network at the
 * batch size of one worker, M/w. The exchange is computed from the network's bytes and a link
 * (Peng et al., equation 2). Each of w workers sends S/p bytes to each of p servers and receives
 * as many. A server's link therefore carries 2 w S / p bytes, which takes 2 w S / (p B). A message
 * each way between each pair adds the link's latency, 2 L (w + p). Measured scaling sweeps will
 * replace the computed part. */
#include "features/curve/curve_items.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/devices/hardware.h"

#include <math.h>
#include <string.h>

#define LIST_MAX 64

/* A measured batch size: the work of one of total / batch workers. */
struct share {
    double batch, workers, step_s; /* the mean over the runs that count */
    int net, variant;
    size_t runs, epochs, first_epoch; /* what the mean stands on; epochs of all runs */
    guint disturbed, left_out;        /* disturbed runs that count, and that do not */
};

/* The numbers of servers of the samples that the speed model is fitted to. */
static const int SAMPLE_SERVERS[] = {1, 2, 4, 8};

struct answer {
    const struct orch_report_item *item;
    bool counts_disturbed; /* also where undisturbed runs are there */
    double accuracy;       /* the target of the times */
    double asked;          /* what the item asks for */
    int64_t servers[LIST_MAX], workers[LIST_MAX];
    int server_count, worker_count;
    struct orch_hardware *hardware;
    const struct orch_link *link;
    struct orch_curve_set *set, *held, *speed;
    /* results */
    const struct orch_curve_set_network *net;
    const struct orch_run_curve *like; /* a run of the left-out network: its batch and images */
    struct orch_curve_set_law *law;
    struct orch_stages *curve;
    struct orch_isotonic *bridge;
    double loss, k, epochs, total_batch;
    const char *device;
    struct share shares[LIST_MAX];
    int share_count;
    struct orch_speed *model;
};

/* ---- options of the item --------------------------------------------------------------------- */

static int read_counts(const json_t *list, int64_t *out)
{
    int count = 0;
    if (json_is_string(list))
        count += orch_int_parse(json_string_value(list), &out[0]);
    for (size_t i = 0; i < json_array_size(list) && count < LIST_MAX; i++)
        count += orch_int_parse(json_string_value(json_array_get(list, i)), &out[count]);
    return count;
}

static bool read_item(struct answer *a, struct orch_plan *plan, GError **error)
{
    const json_t *spec = a->item->spec, *accuracy = json_object_get(spec, "accuracy");
    const char *profile = plan->expansion->profile;
    if (json_is_object(accuracy))
        accuracy = profile ? json_object_get(accuracy, profile) : NULL;
    if (!json_is_string(accuracy) || !orch_real_parse(json_string_value(accuracy), &a->accuracy)) {
        orch_error_set(
            error, ORCH_ERROR_NOT_FOUND, "add a target to the item: accuracy: { PROFILE: 0.9 }",
            "the item has no target accuracy for profile '%s'", profile ? profile : "none");
        return false;
    }
    a->asked = a->accuracy;
    a->server_count = read_counts(json_object_get(spec, "servers"), a->servers);
    a->worker_count = read_counts(json_object_get(spec, "workers"), a->workers);
    a->hardware = orch_hardware_load(error);
    a->link = a->hardware ? orch_hardware_link(a->hardware, orch_json_text(spec, "link", ""), error)
                          : NULL;
    return a->link;
}

/* ---- number of epochs ------------------------------------------------------------------------ */

/* Finds the first network of a set, and one of its runs. */
static bool find_net(struct answer *a, GError **error)
{
    for (guint i = 0; i < a->held->cells->len && !a->like; i++) {
        const struct orch_curve_set_cell *cell = a->held->cells->pdata[i];
        a->like = cell->curve;
        a->net = orch_curve_set_net(a->held, cell->net);
    }
    a->total_batch = a->like ? a->like->batch : 0;
    if (a->like && isfinite(a->like->k_per_epoch) && a->like->batch > 0 && a->like->images > 0 &&
        isfinite(a->net->params))
        return true;
    orch_error_set(
        error, ORCH_ERROR_NOT_FOUND,
        a->like ? "the plugin must declare these as its cost (see 'orch plugin show')" : NULL, "%s",
        a->like ? "the run of the network in 'held_out' does not declare its batch, images and "
                  "parameters"
                : "there is no run of the network that 'held_out' names");
    return false;
}

/* The highest accuracy that every run of the left-out network reached; infinite when none of them
 * recorded one. */
static double measured_best(const struct answer *a)
{
    double lowest = HUGE_VAL;
    for (guint i = 0; i < a->held->cells->len; i++) {
        const struct orch_run_curve *c =
            ((const struct orch_curve_set_cell *)a->held->cells->pdata[i])->curve;
        double best = -HUGE_VAL;
        for (size_t k = 0; c && k < c->accuracy_count; k++)
            best = fmax(best, c->accuracy[k]);
        if (isfinite(best))
            lowest = fmin(lowest, best);
    }
    return lowest;
}

/* The accuracy that fit and predicted curve give at the end of the left-out network's run. */
static double at_end_of_run(const struct answer *a)
{
    double end = a->like->k[a->like->count - 1];
    return orch_isotonic_at(a->bridge, orch_stages_loss(a->curve, end));
}

/* Lowers the target to hundredths that are reached. */
static void lower_to(struct answer *a, double reached)
{
    if (reached < a->accuracy)
        a->accuracy = floor(reached * 100 + 1e-9) / 100;
}

/* Finds the loss at which the target is reached, and where the predicted curve gets there. */
static bool find_steps(struct answer *a, GError **error)
{
    if (!orch_isotonic_cross(a->bridge, a->accuracy, &a->loss, error))
        return false;
    if (orch_stages_reach(a->curve, a->loss, &a->k, error))
        return true;
    g_prefix_error(error, "accuracy %g is reached at loss %.4g, but for %s ", a->accuracy, a->loss,
                   a->net->name);
    return false;
}

static bool find_epochs(struct answer *a, GError **error)
{
    g_autoptr(GPtrArray) family = g_ptr_array_new();
    for (guint i = 0; i < a->set->cells->len; i++) {
        struct orch_curve_set_cell *cell = a->set->cells->pdata[i];
        if (cell->curve)
            g_ptr_array_add(family, cell->curve);
    }
    a->law = orch_curve_set_law_fit(a->set, error);
    a->bridge = a->law ? orch_run_curves_bridge(family, error) : NULL;
    if (!a->bridge)
        return false;
    a->curve = orch_curve_set_law_curve(a->law, a->net->features, -1);
    if (!find_steps(a, NULL)) /* beyond the fit, or below the limit of the predicted curve */
        lower_to(a, at_end_of_run(a));
    lower_to(a, measured_best(a));
    if (!find_steps(a, error))
        return false;
    a->epochs = a->k / a->like->k_per_epoch;
    return true;
}

/* ---- speed ----------------------------------------------------------------------------------- */

/* Adds a run to the mean of its batch size. Runs of other settings with that batch do not count,
 * nor do disturbed ones (core/stats/disturbed.h) where another one is there. */
static void add_run(struct share *share, const struct orch_curve_set_cell *cell, bool counts_all)
{
    const struct orch_run_curve *c = cell->curve;
    const bool is_disturbed = c->is_disturbed && !counts_all;
    if (share->net != cell->net || share->variant != cell->variant)
        return;
    if (is_disturbed && share->runs > share->disturbed) {
        share->left_out++;
        return;
    }
    if (!is_disturbed && share->disturbed) { /* the first undisturbed one replaces them */
        share->left_out += share->disturbed;
        share->runs = share->epochs = share->first_epoch = share->disturbed = 0;
    }
    share->disturbed += is_disturbed;
    const double before = share->step_s * (double)share->runs;
    share->step_s = (before + c->batch / c->images_per_s) / (double)++share->runs;
    share->epochs += c->timed_epochs;
    share->first_epoch = MAX(share->first_epoch, c->timed_first);
}

static void add_share(struct answer *a, const struct orch_curve_set_cell *cell)
{
    const struct orch_run_curve *c = cell->curve;
    double workers = a->total_batch / c->batch;
    int at = 0;
    if (!(c->images_per_s > 0) || !(c->batch > 0) || workers < 1 || workers != floor(workers))
        return;
    while (at < a->share_count && a->shares[at].batch != c->batch)
        at++;
    if (at == LIST_MAX)
        return;
    if (at == a->share_count)
        a->shares[a->share_count++] = (struct share){
            .batch = c->batch, .workers = workers, .net = cell->net, .variant = cell->variant};
    add_run(&a->shares[at], cell, a->counts_disturbed);
}

static int compare_shares(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    return (x->workers > y->workers) - (x->workers < y->workers);
}

/* Uses the speed runs of the device that has the most batch sizes. */
static void fill_shares(struct answer *a)
{
    int most = 0;
    struct share best[LIST_MAX];
    for (guint d = 0; d < a->speed->devices->len; d++) {
        const char *where = a->speed->devices->pdata[d];
        a->share_count = 0;
        for (guint i = 0; i < a->speed->cells->len; i++) {
            const struct orch_curve_set_cell *cell = a->speed->cells->pdata[i];
            if (cell->curve && strcmp(cell->curve->where, where) == 0)
                add_share(a, cell);
        }
        if (a->share_count > most) {
            most = a->share_count;
            memcpy(best, a->shares, sizeof best);
            a->device = where;
        }
    }
    a->share_count = most;
    memcpy(a->shares, best, (size_t)most * sizeof *best);
    qsort(a->shares, (size_t)most, sizeof *a->shares, compare_shares);
}

static double bytes_of(const struct answer *a)
{
    return 4 * a->net->params;
}

static double exchange_s(const struct answer *a, double servers, double workers)
{
    double bytes_per_s = a->link->gbit_s * 1e9 / 8, latency = a->link->latency_us * 1e-6;
    return 2 * workers * bytes_of(a) / (servers * bytes_per_s) + 2 * latency * (workers + servers);
}

static bool fit_speed(struct answer *a, GError **error)
{
    const int *servers = SAMPLE_SERVERS;
    fill_shares(a);
    if (a->share_count < 3) {
        orch_error_set(
            error, ORCH_ERROR_NOT_FOUND,
            "in the experiment of 'speed', sweep 3 batch sizes that divide the total batch",
            "speeds at 3 or more batch sizes per worker are needed, found %d", a->share_count);
        return false;
    }
    struct orch_speed_point points[LIST_MAX * G_N_ELEMENTS(SAMPLE_SERVERS)];
    size_t count = 0;
    for (int i = 0; i < a->share_count; i++)
        for (size_t p = 0; p < G_N_ELEMENTS(SAMPLE_SERVERS); p++) {
            const struct share *share = &a->shares[i];
            double seconds = share->step_s + exchange_s(a, servers[p], share->workers);
            points[count++] =
                (struct orch_speed_point){servers[p], (int)share->workers, 1 / seconds};
        }
    struct orch_speed_options options = {
        .mode = ORCH_SPEED_SYNC, .total_batch = a->total_batch, .is_relative = true};
    a->model = orch_speed_fit(points, count, &options, error);
    return a->model;
}

/* ---- output ---------------------------------------------------------------------------------- */

static bool has_times(const struct answer *a)
{
    return a->epochs > 0;
}

/* The most workers whose batch was measured: beyond, the speed model extrapolates. */
static double most_measured(const struct answer *a)
{
    return a->shares[a->share_count - 1].workers;
}

/* The most workers that are not extrapolated, where others are; infinite: none is. */
static double last_within(const struct answer *a)
{
    double last = -HUGE_VAL;
    bool any_beyond = false;
    for (int w = 0; w < a->worker_count; w++) {
        const bool is_beyond = (double)a->workers[w] > most_measured(a);
        any_beyond |= is_beyond;
        last = is_beyond ? last : fmax(last, (double)a->workers[w]);
    }
    return any_beyond ? last : HUGE_VAL;
}

/* Steps a second by workers and servers, with the times where the number of steps is known. */
static void add_times(struct orch_section *section, const struct answer *a)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(headers, g_strdup(">workers"));
    g_ptr_array_add(headers, g_strdup(">batch of a worker"));
    for (int p = 0; p < a->server_count; p++) {
        g_ptr_array_add(headers, g_strdup_printf(">steps/s, %d servers", (int)a->servers[p]));
        if (has_times(a))
            g_ptr_array_add(headers, g_strdup_printf(">time, %d servers", (int)a->servers[p]));
    }
    const double last = last_within(a);
    if (last < HUGE_VAL)
        g_ptr_array_add(headers, g_strdup("extrapolated"));
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    double steps = a->epochs * a->like->steps_per_epoch;
    for (int w = 0; w < a->worker_count; w++) {
        orch_table_add_int(table, a->workers[w]);
        orch_table_add_real(table, a->total_batch / (double)a->workers[w]);
        for (int p = 0; p < a->server_count; p++) {
            double speed = orch_speed_model(a->model, (int)a->servers[p], (int)a->workers[w]);
            orch_table_add_real(table, speed);
            if (!has_times(a))
                continue;
            g_autofree char *time = orch_duration_format(steps / speed);
            orch_table_add(table, time, orch_json_real(steps / speed));
        }
        if (last < HUGE_VAL)
            orch_table_add(table, (double)a->workers[w] > last ? "yes" : "no", NULL);
    }
    orch_section_table(section, table);
}

/* Chooses seconds, minutes or hours by the longest time. */
static double time_unit(double longest_s, const char **out_name)
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{3600, "h"}, {60, "min"}, {1, "s"}};
    size_t i = 0;
    while (i + 1 < G_N_ELEMENTS(units) && longest_s < 3 * units[i].seconds)
        i++;
    *out_name = units[i].name;
    return units[i].seconds;
}

static double time_of(const struct answer *a, int p, int w)
{
    double steps = a->epochs * a->like->steps_per_epoch;
    return steps / orch_speed_model(a->model, (int)a->servers[p], (int)a->workers[w]);
}

/* Adds the points of some workers to a line: the time, or steps a second where that is unknown. */
static void add_line(struct orch_chart_series *series, const struct answer *a, int p, double least,
                     double most, double seconds)
{
    for (int w = 0; w < a->worker_count; w++)
        if ((double)a->workers[w] >= least && (double)a->workers[w] <= most)
            orch_chart_add(
                series, (double)a->workers[w],
                has_times(a) ? time_of(a, p, w) / seconds
                             : orch_speed_model(a->model, (int)a->servers[p], (int)a->workers[w]));
}

/* A curve for each number of servers, which goes on as another where the model extrapolates. */
static void draw_times(struct orch_section *section, const struct answer *a)
{
    const char *unit;
    double longest = 0;
    for (int p = 0; p < a->server_count; p++)
        for (int w = 0; w < a->worker_count; w++)
            longest = fmax(longest, time_of(a, p, w));
    double seconds = time_unit(longest, &unit);
    g_autofree char *title = has_times(a)
                                 ? g_strdup_printf("%s to accuracy %g", a->net->name, a->accuracy)
                                 : g_strdup_printf("speed of %s", a->net->name);
    g_autofree char *y = has_times(a) ? g_strdup_printf("time (%s)", unit) : g_strdup("steps/s");
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_LINE, title, "workers", y);
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    const double last = last_within(a);
    for (int p = 0; p < a->server_count; p++) {
        g_autofree char *name = g_strdup_printf("%d parameter server%s", (int)a->servers[p],
                                                orch_plural(a->servers[p]));
        add_line(orch_chart_series(panel, name, ORCH_SERIES_PREDICTED), a, p, -HUGE_VAL, last,
                 seconds);
    }
    for (int p = 0; p < a->server_count && last < HUGE_VAL; p++) {
        g_autofree char *name = g_strdup_printf("%d parameter server%s, extrapolated",
                                                (int)a->servers[p], orch_plural(a->servers[p]));
        add_line(orch_chart_series(panel, name, ORCH_SERIES_REFERENCE), a, p, last, HUGE_VAL,
                 seconds);
    }
    if (last < HUGE_VAL)
        chart->note =
            g_strdup_printf("grey and dotted: extrapolated, because with more than %g workers each "
                            "worker has fewer than %g images, the smallest measured batch",
                            most_measured(a), a->shares[a->share_count - 1].batch);
    orch_section_chart(section, chart);
}

/* "predicted time of resnet50 to accuracy 0.92, with 2 parameter servers: 5.2h with 1 worker. The
 * shortest time is 54min with 12 workers. With ..." */
static void add_answer(struct orch_section *section, const struct answer *a)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (int p = 0; p < a->server_count; p++) {
        int least = 0;
        for (int w = 1; w < a->worker_count; w++)
            least = time_of(a, p, w) < time_of(a, p, least) ? w : least;
        g_autofree char *first = orch_duration_format(time_of(a, p, 0));
        g_autofree char *best = orch_duration_format(time_of(a, p, least));
        g_string_append_printf(text, "%s%d parameter server%s: %s with %d worker%s",
                               p ? ". With " : "", (int)a->servers[p], orch_plural(a->servers[p]),
                               first, (int)a->workers[0], orch_plural(a->workers[0]));
        if (least)
            g_string_append_printf(text, ". The shortest time is %s with %d worker%s%s", best,
                                   (int)a->workers[least], orch_plural(a->workers[least]),
                                   (double)a->workers[least] > most_measured(a) ? " (extrapolated)"
                                                                                : "");
    }
    if (text->len)
        orch_section_answer(section, "predicted time of %s to accuracy %g, with %s", a->net->name,
                            a->accuracy, text->str);
}

static void add_epochs(struct orch_section *section, const struct answer *a)
{
    if (a->accuracy < a->asked)
        orch_section_note(section,
                          "the recipe asks for accuracy %g, which the fit, the predicted curve or "
                          "the runs of %s do not reach, so the target is %g",
                          a->asked, a->net->name, a->accuracy);
    orch_section_note(section,
                      "%s has accuracy %g when its loss is %.4g. The accuracy at a loss is read "
                      "from a line that never rises with the loss (isotonic regression), fitted to "
                      "%zu points of %d independent curves of %d networks. The predicted curve "
                      "reaches this loss after %.0f steps (%.2f epochs of %.0f images)",
                      a->net->name, a->accuracy, a->loss, a->bridge->count,
                      orch_curve_set_independent(a->set), (int)a->set->nets->len,
                      ceil(a->epochs * a->like->steps_per_epoch), a->epochs, a->like->images);
    for (size_t i = 0; i < a->like->accuracy_count; i++)
        if (a->like->accuracy[i] >= a->accuracy) {
            orch_section_note(section,
                              "measured: the network's own run reached this accuracy at epoch %.3g",
                              a->like->accuracy_k[i] / a->like->k_per_epoch);
            return;
        }
    orch_section_note(
        section, "measured: the network's own run did not reach this accuracy in its %.3g epochs",
        a->like->k[a->like->count - 1] / a->like->k_per_epoch);
}

/* States what the measured steps stand on: runs and epochs of each batch size. */
static void add_basis(struct orch_section *section, const struct answer *a)
{
    GString *text = g_string_new(NULL);
    int single = 0;
    for (int i = 0; i < a->share_count; i++) {
        const struct share *s = &a->shares[i];
        g_string_append_printf(text, "%s%zu epoch%s in %zu run%s with %g images", i ? ", " : "",
                               s->epochs, orch_plural((int64_t)s->epochs), s->runs,
                               orch_plural((int64_t)s->runs), s->batch);
        single += s->epochs <= 1;
    }
    orch_section_note(section, "each step time is a mean over timed epochs: %s%s", text->str,
                      a->shares[0].first_epoch > 1 ? " (the first epoch of a run is left out)"
                                                   : "");
    if (single)
        orch_section_text(
            section,
            "%d of %d steps %s timed in a single epoch, so their noise is unknown, and the times "
            "above are not reliable. Run more epochs or repeats of the speed runs",
            single, a->share_count, single == 1 ? "is" : "are");
    g_string_free(text, TRUE);
}

/* States what the speed model is fitted to: measured batch sizes, and servers whose exchange is
 * computed. */
static void add_fitted_samples(struct orch_section *section, const struct answer *a)
{
    GString *text = g_string_new(NULL);
    for (size_t p = 0; p < G_N_ELEMENTS(SAMPLE_SERVERS); p++)
        g_string_append_printf(text, "%s%d", p ? ", " : "", SAMPLE_SERVERS[p]);
    orch_section_note(section,
                      "the speed model is fitted to %zu samples: %d measured batch sizes, each "
                      "combined with %s parameter servers",
                      (size_t)a->share_count * G_N_ELEMENTS(SAMPLE_SERVERS), a->share_count,
                      text->str);
    g_string_free(text, TRUE);
}

static void add_samples(struct orch_section *section, const struct answer *a)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; i < a->share_count; i++)
        g_string_append_printf(text, "%s%.4g s for %g images", i ? ", " : "", a->shares[i].step_s,
                               a->shares[i].batch);
    orch_section_note(section,
                      "measured on %s: a worker's step (forward, backward, update, loading) takes "
                      "%s",
                      a->device, text->str);
    g_string_free(text, TRUE);
    add_basis(section, a);
    orch_section_note(
        section,
        "computed, not measured: the exchange of w workers with p servers takes 2 w S / (p B) + 2 "
        "L (w + p). Size S is %.4g MB (%.0f parameters in fp32). Bandwidth B is %g Gbit/s and "
        "latency L is %g us, as of the link %s (%s). All workers share the link of a server",
        bytes_of(a) / 1e6, a->net->params, a->link->gbit_s, a->link->latency_us, a->link->name,
        a->link->source);
    add_fitted_samples(section, a);
}

static void add_model(struct orch_section *section, const struct answer *a)
{
    GString *text = g_string_new(NULL);
    const double *theta = orch_speed_theta(a->model);
    for (int i = 0; i < orch_speed_terms(ORCH_SPEED_SYNC); i++) {
        const char *term = orch_speed_term_name(ORCH_SPEED_SYNC, i);
        bool is_constant = strcmp(term, "1") == 0;
        g_string_append_printf(text, "%s%.4g%s%s", i ? " + " : "", theta[i], is_constant ? "" : " ",
                               is_constant ? "" : term);
    }
    orch_section_note(section,
                      "speed model of synchronous training with w workers, p servers and a batch "
                      "of M = %g: seconds per step = %s (Peng et al. 2018, equation 4)",
                      a->total_batch, text->str);
    g_string_free(text, TRUE);
    const char *warning = orch_speed_warning(a->model);
    if (warning)
        orch_section_note(section, "%s", warning);
}

/* The disturbed runs of the steps, for the section's sentence on times. */
static void count_disturbed(struct orch_section *section, const struct answer *a)
{
    for (int i = 0; i < a->share_count; i++) {
        section->disturbed_left_out += a->shares[i].left_out;
        section->disturbed_kept += a->shares[i].disturbed;
    }
}

static bool fill(struct orch_section_context *ctx, GError **error)
{
    (void)error;
    GError *problem = NULL;
    struct orch_section *section = ctx->section;
    struct orch_plan *plan = ctx->plan;
    struct answer a = {.item = ctx->item, .counts_disturbed = ctx->options->counts_disturbed};
    bool ok = read_item(&a, plan, &problem);
    a.set = orch_curve_set_gather(plan, a.item, "experiments");
    a.held = orch_curve_set_gather(plan, a.item, "held_out");
    a.speed = orch_curve_set_gather(plan, a.item, "speed");
    ok = ok && find_net(&a, &problem);
    bool knows_epochs = ok && find_epochs(&a, &problem);
    if (knows_epochs)
        add_epochs(section, &a);
    if (ok && fit_speed(&a, problem ? NULL : &problem)) {
        add_times(section, &a);
        draw_times(section, &a);
        if (knows_epochs)
            add_answer(section, &a);
        add_samples(section, &a);
        add_model(section, &a);
        count_disturbed(section, &a);
    }
    if (problem) {
        static const char *const keys[] = {"experiments", "held_out", "speed", NULL};
        g_autofree char *hint = orch_section_hint(ctx, keys);
        orch_section_missing(section, hint, "%s", problem->message);
    }
    orch_curve_set_note(a.set, ctx, "experiments");
    orch_curve_set_note(a.held, ctx, "held_out");
    orch_curve_set_note(a.speed, ctx, "speed");
    g_clear_error(&problem);
    orch_speed_free(a.model);
    orch_stages_free(a.curve);
    orch_isotonic_free(a.bridge);
    orch_curve_set_law_free(a.law);
    orch_curve_set_free(a.set);
    orch_curve_set_free(a.held);
    orch_curve_set_free(a.speed);
    orch_hardware_free(a.hardware);
    return true;
}

static const struct orch_report_key KEYS[] = {
    {.name = "accuracy", .shape = ORCH_SHAPE_BY_PROFILE, .is_required = true},
    {.name = "held_out", .shape = ORCH_SHAPE_OTHER_EXPERIMENTS, .is_required = true},
    {.name = "speed", .shape = ORCH_SHAPE_OTHER_EXPERIMENTS, .is_required = true},
    {.name = "servers", .shape = ORCH_SHAPE_COUNTS, .is_required = true},
    {.name = "workers", .shape = ORCH_SHAPE_COUNTS, .is_required = true},
    {.name = "link", .shape = ORCH_SHAPE_TEXT, .is_required = true},
    {.name = "value", .shape = ORCH_SHAPE_SERIES},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {0}};

const struct orch_report_kind ORCH_REPORT_TIME_TO = {
    .name = "time_to",
    .keys = KEYS,
    .is_slow = true,
    .place = "gpu",
    .fill = fill,
};
