/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Synchronous data-parallel training on a cluster that is not there: SimGrid simulates the
 * communication of W workers on a platform file, with the all-reduce algorithms and the buckets of
 * the measured plugin `scaling`. Computing takes the time of the analytical model, or a measured
 * one. Its metrics are those of `scaling`, and every run has the result simulated = 1. */
#include "plugins/simcluster/smpirun.h"

#include "lib/base/error.h"
#include "plugins/common/comm/scaling_metrics.h"
#include "plugins/common/no_effect.h"

#include <math.h>
#include <orch/plugin.h>
#include <string.h>

#define STAR_FILE "platform.xml" /* of the working folder, where no platform is named */

struct params {
    const char *platform;
    double bandwidth, latency;
    int64_t workers, workers_per_host, workers_per_node;
    const char *net, *input, *gpu, *precision, *scaling, *algorithm;
    int64_t classes, batch, images, steps, bytes;
    double step_time, epochs, price;
    int64_t first_bucket_bytes, bucket_bytes, gradient_bytes;
    bool overlap;
};

static const char *const SCALINGS[] = {"strong", "weak", NULL};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, platform, ORCH_PATH, .label = "platform",
               .flags = ORCH_PARAM_OPTIONAL,
               .help = "SimGrid platform file; without it: a star of as many hosts as are needed"),
    ORCH_PARAM(struct params, bandwidth, ORCH_REAL, .label = "bandwidth", .def = "1.25",
               .min = "0.000001", .unit = "GB/s",
               .help = "without a platform: bandwidth of a host's link, in each direction"),
    ORCH_PARAM(struct params, latency, ORCH_REAL, .label = "latency", .def = "50", .min = "0",
               .unit = "us", .help = "without a platform: latency of a message from host to host"),
    ORCH_PARAM(struct params, workers, ORCH_INT, .label = "workers", .def = "2", .min = "1",
               .max = "4096", .help = "workers that train together"),
    ORCH_PARAM(struct params, workers_per_host, ORCH_INT, .label = "workers per host", .def = "1",
               .min = "1", .max = "4096",
               .help = "workers on a host of the platform (in recipes/platforms a host is a GPU)"),
    ORCH_PARAM(struct params, workers_per_node, ORCH_INT, .label = "workers per node", .def = "0",
               .min = "0", .max = "4096",
               .help = "hosts used in each zone of the platform; 0: all"),
    ORCH_PARAM(struct params, net, ORCH_STRING, .label = "network", .def = "resnet50",
               .help = "a network of 'orch net ls'"),
    ORCH_PARAM(struct params, input, ORCH_STRING, .label = "input", .def = "",
               .help = "size of one image, CxHxW; empty: the network's own"),
    ORCH_PARAM(struct params, classes, ORCH_INT, .label = "classes", .def = "0", .min = "0",
               .help = "outputs of the classifier; 0: the network's own"),
    ORCH_PARAM(struct params, gpu, ORCH_STRING, .label = "GPU", .def = "K80",
               .help = "GPU of a worker ('orch gpu ls'), for the time of computing"),
    ORCH_PARAM(struct params, precision, ORCH_STRING, .label = "precision", .def = "fp32",
               .help = "precision of computing: fp32, fp32-ieee, tf32, fp16, bf16"),
    ORCH_PARAM(
        struct params, step_time, ORCH_DURATION, .label = "step time", .def = "0", .min = "0",
        .help = "measured computing time of a worker's step; 0: predicted by the analytical model"),
    ORCH_PARAM(struct params, scaling, ORCH_ENUM, .label = "scaling", .def = "strong",
               .choices = SCALINGS,
               .help = "strong: the workers share a batch; weak: each has a batch"),
    ORCH_PARAM(struct params, batch, ORCH_INT, .label = "batch", .def = "128", .min = "1",
               .max = "1000000", .unit = "images", .help = "images of a step"),
    ORCH_PARAM(struct params, images, ORCH_INT, .label = "images", .def = "50000", .min = "1",
               .unit = "images", .help = "images of an epoch"),
    ORCH_PARAM(struct params, epochs, ORCH_REAL, .label = "epochs", .def = "1", .min = "0.001",
               .help = "epochs, for total time and cost"),
    ORCH_PARAM(struct params, algorithm, ORCH_ENUM, .label = "algorithm", .def = "ring",
               .choices = orch_comm_algorithm_names, .help = "algorithm of the all-reduce"),
    ORCH_PARAM(struct params, first_bucket_bytes, ORCH_BYTES, .label = "first bucket",
               .def = "1MiB", .min = "1",
               .help = "the first bucket of gradients is closed at this size"),
    ORCH_PARAM(struct params, bucket_bytes, ORCH_BYTES, .label = "bucket size", .def = "25MiB",
               .min = "1", .help = "size of the other buckets of gradients"),
    ORCH_PARAM(struct params, gradient_bytes, ORCH_INT, .label = "bytes of gradients", .def = "4",
               .min = "2", .max = "4", .unit = "bytes",
               .help = "bytes that are sent for each parameter: 4, or 2 for fp16 and bf16"),
    ORCH_PARAM(struct params, overlap, ORCH_BOOL, .label = "overlap", .def = "true",
               .help = "reduce buckets while the backward pass runs, else after it"),
    ORCH_PARAM(struct params, price, ORCH_MONEY, .label = "price", .def = "0", .min = "0",
               .help = "price of a worker for an hour; 0: no cost"),
    ORCH_PARAM(struct params, steps, ORCH_INT, .label = "steps", .def = "1", .min = "1",
               .max = "1000", .help = "steps to simulate; if several, the first is left out"),
    ORCH_PARAM(struct params, bytes, ORCH_BYTES, .label = "bytes", .def = "0", .min = "0",
               .max = "8GiB", .help = "instead of a network: size of the step's only all-reduce"),
};

static const struct orch_metric METRICS[] = {
    ORCH_SCALING_METRICS,
    {.name = "simulated", .label = "simulated", .help = "1: SimGrid simulated this training"},
    {.name = "buckets", .label = "buckets", .help = "all-reduces of a step"},
    {.name = "formula_communication_time",
     .label = "formula communication time",
     .min = "0",
     .unit = "s",
     .help = "without a platform: communication time by the algorithm's formula"},
};

/* ---- settings ----------------------------------------------------------------------------------
 */

static bool is_strong(const struct params *p)
{
    return strcmp(p->scaling, "strong") == 0;
}

static int64_t worker_batch(const struct params *p)
{
    return is_strong(p) ? (p->batch + p->workers - 1) / p->workers : p->batch;
}

static int64_t effective_batch(const struct params *p)
{
    return is_strong(p) ? p->batch : p->batch * p->workers;
}

static bool has_platform(const struct params *p)
{
    return p->platform && *p->platform;
}

static bool make_plan(const struct params *p, struct sim_plan *out, GError **error)
{
    struct sim_request request = {.net = p->net,
                                  .input = p->input,
                                  .gpu = p->gpu,
                                  .precision = p->precision,
                                  .classes = p->classes,
                                  .worker_batch = worker_batch(p),
                                  .step_s = p->step_time,
                                  .all_reduce_bytes = p->bytes,
                                  .gradient_bytes = p->gradient_bytes,
                                  .first_bucket_bytes = p->first_bucket_bytes,
                                  .bucket_bytes = p->bucket_bytes};
    if (is_strong(p) && !p->bytes && p->workers > p->batch) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "use fewer workers",
                       "%" G_GINT64_FORMAT " workers cannot share a batch of %" G_GINT64_FORMAT
                       " images",
                       p->workers, p->batch);
        return false;
    }
    return orch_sim_plan_make(&request, out, error);
}

/* Writes a star: a host's link has half of the latency, because a message crosses two of them. */
static bool write_star(const struct params *p, GError **error)
{
    char bandwidth[G_ASCII_DTOSTR_BUF_SIZE], latency[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(bandwidth, sizeof bandwidth, "%.6f", p->bandwidth * 1e9);
    g_ascii_formatd(latency, sizeof latency, "%.9f", p->latency / 2 * 1e-6);
    int64_t hosts = (p->workers + p->workers_per_host - 1) / p->workers_per_host;
    g_autofree char *text = g_strdup_printf(
        "<?xml version=\"1.0\"?>\n"
        "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
        "<platform version=\"4.1\">\n"
        "  <cluster id=\"star\" prefix=\"host-\" radical=\"0-%" G_GINT64_FORMAT
        "\" suffix=\"\" speed=\"1Gf\" bw=\"%sBps\" lat=\"%ss\" sharing_policy=\"SPLITDUPLEX\"/>\n"
        "</platform>\n",
        hosts - 1, bandwidth, latency);
    return g_file_set_contents(STAR_FILE, text, -1, error);
}

/* Where the workers are: `out_hosts` and `out_places`, which the caller unrefs. */
static bool place(const struct params *p, const char *platform, GArray **out_hosts,
                  GArray **out_places, GError **error)
{
    *out_hosts = orch_platform_hosts_read(platform, error);
    if (!*out_hosts)
        return false;
    *out_places = orch_platform_place(*out_hosts, p->workers, p->workers_per_host,
                                      p->workers_per_node, error);
    if (*out_places)
        return true;
    g_array_unref(*out_hosts);
    return false;
}

static int fail(const struct orch_host *host, GError *error)
{
    host->fail(host, error->message);
    g_error_free(error);
    return ORCH_FAILED;
}

static void report_no_effect(const struct params *p, const struct orch_host *host)
{
    /* the batch of a worker is the whole batch, and an all-reduce of one rank takes no time */
    static const char *const alone[] = {"scaling", "algorithm", "workers_per_host",
                                        "workers_per_node", NULL};
    static const char *const of_star[] = {"bandwidth", "latency", NULL};
    static const char *const of_net[] = {"net",
                                         "input",
                                         "classes",
                                         "gpu",
                                         "precision",
                                         "step_time",
                                         "scaling",
                                         "batch",
                                         "images",
                                         "epochs",
                                         "price",
                                         "gradient_bytes",
                                         "first_bucket_bytes",
                                         "bucket_bytes",
                                         NULL};
    if (p->workers == 1)
        orch_no_effect(host, alone);
    if (has_platform(p))
        orch_no_effect(host, of_star);
    if (p->bytes > 0)
        orch_no_effect(host, of_net);
}

static int check(const void *params, const struct orch_host *host)
{
    const struct params *p = params;
    report_no_effect(p, host);
    GError *error = NULL;
    GArray *hosts, *places;
    struct sim_plan plan = {0};
    if (!make_plan(p, &plan, &error))
        return fail(host, error);
    orch_sim_plan_clear(&plan);
    if (!has_platform(p))
        return ORCH_OK;
    if (!place(p, p->platform, &hosts, &places, &error))
        return fail(host, error);
    g_array_unref(hosts);
    g_array_unref(places);
    const char *digest = host->file_digest(host, p->platform);
    if (!digest)
        return ORCH_FAILED;
    host->input(host, "platform", digest);
    return ORCH_OK;
}

/* ---- results -----------------------------------------------------------------------------------
 */

/* The mean step; of several the first, which begins at the same moment on all workers, is left
 * out. */
static struct simulated_step mean_step(const struct simulated_step *steps, int64_t count)
{
    struct simulated_step mean = {0};
    int64_t first = count > 1;
    for (int64_t i = first; i < count; i++) {
        mean.step_s += steps[i].step_s / (double)(count - first);
        mean.busy_s += steps[i].busy_s / (double)(count - first);
        mean.exposed_s += steps[i].exposed_s / (double)(count - first);
    }
    return mean;
}

static void report_formula(const struct params *p, const struct sim_plan *plan,
                           const struct orch_comm_algorithm *algorithm,
                           const struct orch_host *host)
{
    struct orch_comm_shape shape = {.workers = (int)p->workers, .per_node = 1};
    double sum = 0;
    if (has_platform(p) || (p->workers > 1 && (p->workers_per_host > 1 || !algorithm->cost ||
                                               algorithm->is_hierarchical)))
        return;
    for (guint i = 0; p->workers > 1 && i < plan->buckets->len; i++)
        sum += orch_comm_seconds(algorithm, shape,
                                 (double)g_array_index(plan->buckets, struct sim_bucket, i).bytes,
                                 p->latency * 1e-6, 1 / (p->bandwidth * 1e9));
    host->result(host, "formula_communication_time", sum);
}

static void report_training(const struct params *p, double step_s, const struct orch_host *host)
{
    double epoch_s = ceil((double)p->images / (double)effective_batch(p)) * step_s;
    host->result(host, "throughput", (double)effective_batch(p) / step_s);
    host->result(host, "data_time", 0);
    host->result(host, "timed_epoch_time", epoch_s);
    host->result(host, "timed_epoch_time_without_data", epoch_s);
    host->result(host, "total_time", epoch_s * p->epochs);
    host->result(host, "effective_batch", (double)effective_batch(p));
    host->result(host, "worker_batch", (double)worker_batch(p));
    if (p->price > 0)
        host->result(host, "cost", epoch_s * p->epochs / 3600 * (double)p->workers * p->price);
}

static void report(const struct params *p, const struct sim_plan *plan,
                   const struct simulated_step *step, const struct orch_host *host)
{
    host->result(host, "simulated", 1);
    host->result(host, "step_time", step->step_s);
    host->result(host, "compute_time", plan->compute_s + plan->update_s);
    host->result(host, "communication_time", step->busy_s);
    host->result(host, "exposed_communication_time", step->exposed_s);
    if (p->workers > 1 && step->busy_s > 0)
        host->result(host, "overlap", 1 - step->exposed_s / step->busy_s);
    host->result(host, "worker_count", (double)p->workers);
    host->result(host, "parameter_bytes", (double)plan->parameter_bytes);
    host->result(host, "buckets", plan->buckets->len);
    if (!p->bytes)
        report_training(p, step->step_s, host);
    host->note(host,
               "the communication is simulated by SimGrid's model of the platform, not measured");
}

/* ---- running -----------------------------------------------------------------------------------
 */

static bool is_cancelled(const void *host)
{
    return ((const struct orch_host *)host)->cancelled(host);
}

static int simulate(const struct params *p, const struct sim_plan *plan, const char *platform,
                    const struct orch_host *host)
{
    GError *error = NULL;
    GArray *hosts, *places;
    int64_t steps = host->smoke(host) ? MIN(p->steps, 2) : p->steps;
    g_autofree struct simulated_step *out = g_new0(struct simulated_step, steps);
    if (!place(p, platform, &hosts, &places, &error))
        return fail(host, error);
    struct simulation simulation = {.platform = platform,
                                    .hosts = hosts,
                                    .places = places,
                                    .plan = plan,
                                    .algorithm = orch_comm_algorithm_find(p->algorithm),
                                    .steps = steps,
                                    .overlap = p->overlap,
                                    .is_cancelled = is_cancelled,
                                    .context = host};
    enum simulation_end end = orch_simulation_run(&simulation, out, &error);
    g_array_unref(places);
    g_array_unref(hosts);
    if (end == SIMULATION_FAILED)
        return fail(host, error);
    if (end == SIMULATION_CANCELLED)
        return ORCH_CANCELLED;
    struct simulated_step step = mean_step(out, steps);
    report(p, plan, &step, host);
    report_formula(p, plan, simulation.algorithm, host);
    return ORCH_OK;
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    const struct params *p = params;
    struct sim_plan plan = {0};
    GError *error = NULL;
    g_autofree char *missing = orch_simulation_missing();
    (void)state;
    if (missing) {
        host->fail(host, missing);
        return ORCH_SKIPPED;
    }
    if (!make_plan(p, &plan, &error) || (!has_platform(p) && !write_star(p, &error))) {
        orch_sim_plan_clear(&plan);
        return fail(host, error);
    }
    host->phase(host, "simulating");
    int status = simulate(p, &plan, has_platform(p) ? p->platform : STAR_FILE, host);
    orch_sim_plan_clear(&plan);
    return status;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "simcluster",
    .version = "1.0.0",
    .summary = "data-parallel training on a simulated cluster (SimGrid)",
    .licence = "GPL-3.0-or-later",
    .params_bytes = sizeof(struct params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    .check = check,
    .run = run,
};

ORCH_PLUGIN_EXPORT(PLUGIN)
