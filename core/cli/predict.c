/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/predict.h"

#include "core/cli/limits.h"
#include "core/cli/nets.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/data/catalogue.h"
#include "predictors/from_net.h"

#include <math.h>
#include <string.h>

static bool is_paleo(const struct predict_options *o)
{
    return o->model && strcmp(o->model, "paleo") == 0;
}

/* ---- assumptions -------------------------------------------------------------------------------
 */

static void free_assumption(gpointer data)
{
    struct assumption *a = data;
    g_free(a->what);
    g_free(a->value);
    g_free(a);
}

void question_assume(struct question *q, const char *what, const char *option, const char *format,
                     ...)
{
    struct assumption *a = g_new0(struct assumption, 1);
    va_list args;
    va_start(args, format);
    a->value = g_strdup_vprintf(format, args);
    va_end(args);
    a->what = g_strdup(what);
    a->option = option;
    g_ptr_array_add(q->assumptions, a);
}

void question_say_assumptions(const struct question *q)
{
    int width = 0;
    for (guint i = 0; i < q->assumptions->len; i++) {
        const struct assumption *a = q->assumptions->pdata[i];
        width = MAX(width, (int)strlen(a->what));
    }
    printf("assumed, as nothing else was said:\n");
    for (guint i = 0; i < q->assumptions->len; i++) {
        const struct assumption *a = q->assumptions->pdata[i];
        printf("  %-*s  %s%s%s%s\n", width, a->what, a->value, a->option ? "  (" : "",
               a->option ? a->option : "", a->option ? ")" : "");
    }
}

json_t *question_assumptions_json(const struct question *q)
{
    json_t *list = json_array();
    for (guint i = 0; i < q->assumptions->len; i++) {
        const struct assumption *a = q->assumptions->pdata[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s*}", "what", a->what, "value",
                                              a->value, "option", a->option));
    }
    return list;
}

/* ---- numbers -----------------------------------------------------------------------------------
 */

/* "1,2,4" */
static bool read_list(const char *text, const char *option, int64_t *out, int *out_count,
                      GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    int count = 0;
    for (; words[count]; count++) {
        int64_t value = 0;
        if (count == PREDICT_LIST_MAX || !orch_int_parse(g_strstrip(words[count]), &value) ||
            value < 1 || value > 1 << 24) {
            orch_error_set(
                error, ORCH_ERROR_USAGE, "whole numbers of at least 1, for example 1,2,4,8",
                "option '%s': '%s' will not do", option, words[count] ? words[count] : "");
            return false;
        }
        out[count] = value;
    }
    *out_count = count;
    if (!count)
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "option '%s' is empty", option);
    return count > 0;
}

/* Data sets by what a forecast needs of them; training images as published. */
struct dataset {
    const char *name;
    int64_t images;
    const char *input;
    int classes;
    int epochs; /* of the usual training, 0: none is usual */
    const char *epochs_of;
};
static const struct dataset DATASETS[] = {
    {"imagenet", 1281167, NULL, 1000, 90, "He et al. 2015"},
    {"cifar10", 50000, "3x32x32", 10, 164, "He et al. 2015, 64,000 steps of 128"},
    {"cifar100", 50000, "3x32x32", 100, 164, "He et al. 2015, 64,000 steps of 128"},
    {"fashion-mnist", 60000, "1x28x28", 10, 0, NULL},
    {"mnist", 60000, "1x28x28", 10, 0, NULL},
    {"svhn", 73257, "3x32x32", 10, 0, NULL},
    {.name = NULL},
};

static const struct dataset *find_dataset(const char *name)
{
    for (const struct dataset *d = DATASETS; d->name; d++)
        if (orch_data_set_is_named(d->name, name))
            return d;
    return NULL;
}

/* A number of images, "50000" or "50000 images". */
static bool read_images(const char *text, int64_t *out)
{
    g_autofree char *number = g_strndup(text, strcspn(text, " "));
    return orch_int_parse(number, out) && *out >= 1;
}

static bool settle_images(struct question *q, const struct dataset **out, GError **error)
{
    const char *name = q->o->dataset;
    *out = name ? find_dataset(name) : NULL;
    if (!name || *out || read_images(name, &q->images))
        return true;
    const char *names[G_N_ELEMENTS(DATASETS)] = {NULL};
    for (size_t i = 0; DATASETS[i].name; i++)
        names[i] = DATASETS[i].name;
    g_autofree char *near = orch_suggest_hint(name, names);
    orch_error_set(
        error, ORCH_ERROR_USAGE,
        near ? near
             : "imagenet, cifar10, cifar100, fashion-mnist, mnist, svhn, or a number of images",
        "option '--dataset': '%s' is unknown", name);
    return false;
}

/* The data set that a network's own input speaks of. */
static const struct dataset *guess_dataset(const struct question *q)
{
    if (!q->net)
        return NULL;
    struct orch_net_shape in = q->net->input;
    if (in.c == 3 && in.h >= 128)
        return find_dataset("imagenet");
    if (in.c == 3 && in.h == 32)
        return find_dataset("cifar10");
    return in.c == 1 && in.h == in.w && in.h <= 32 && in.h > 1 ? find_dataset("fashion-mnist")
                                                               : NULL;
}

static bool settle_work(struct question *q, const struct dataset *set, GError **error)
{
    const struct predict_options *o = q->o;
    if (!set && !q->images) {
        set = guess_dataset(q);
        if (set)
            question_assume(q, "data set", "--dataset",
                            "%s, %" G_GINT64_FORMAT " images a training epoch", set->name,
                            set->images);
    }
    if (set)
        q->images = set->images;
    if (!q->images)
        question_assume(q, "data set", "--dataset",
                        "none is usual for this input: no epoch, total or cost; name one, or the "
                        "number of its images");
    q->epochs = set && set->epochs ? set->epochs : 1;
    if (o->epochs &&
        (!orch_int_parse(o->epochs, &q->epochs) || q->epochs < 1 || q->epochs > 1000000)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "a whole number from 1 to 1000000",
                       "option '--epochs': '%s' will not do", o->epochs);
        return false;
    }
    if (!o->epochs && q->images && !is_paleo(o)) {
        if (set && set->epochs)
            question_assume(q, "epochs", "--epochs", "%d (%s)", set->epochs, set->epochs_of);
        else
            question_assume(q, "epochs", "--epochs", "1");
    }
    return true;
}

/* ---- the network -------------------------------------------------------------------------------
 */

static bool is_table_name(const char *name)
{
    return name && g_str_has_suffix(name, ".csv");
}

/* The data set's images are too small for the network: they can be enlarged. */
static void say_larger_input(struct orch_net_request request, const struct dataset *set,
                             GError **error)
{
    request.input = NULL;
    struct orch_net *net = orch_cli_net(&request, NULL);
    if (!net)
        return;
    g_autofree char *hint =
        g_strdup_printf("images of %s, enlarged: --input %dx%dx%d", set->name, (int)net->input.c,
                        (int)net->input.h, (int)net->input.w);
    g_autofree char *what = g_strndup((*error)->message, strcspn((*error)->message, "\n"));
    int code = (*error)->code;
    g_clear_error(error);
    orch_error_set(error, code, hint, "%s", what);
    orch_net_free(net);
}

static bool settle_net(struct question *q, const struct dataset *set, GError **error)
{
    const struct predict_options *o = q->o;
    const char *path = o->net_table ? o->net_table : is_table_name(o->net) ? o->net : NULL;
    if (path) {
        q->table = orch_layer_table_read(path, o->net_table ? o->net : NULL, error);
        if (!q->table || !orch_layer_table_check(q->table, error))
            return false;
        q->net = !is_paleo(o) ? orch_net_from_layer_table(q->table, error) : NULL;
        q->costs = q->net ? orch_net_costs(q->net) : NULL;
        return is_paleo(o) ? q->table != NULL : q->net != NULL;
    }
    if (!o->net) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "for example --net resnet50; 'orch net ls' lists them", "which network?");
        return false;
    }
    const char *input = o->input ? o->input : set ? set->input : NULL;
    int64_t classes = set && set->input ? set->classes : 0;
    if (!orch_cli_count(o->classes, "--classes", 1 << 24, &classes, error))
        return false;
    bool is_file = g_str_has_suffix(o->net, ".onnx");
    struct orch_net_request request = {
        .name = o->net, .input = input, .classes = is_file ? 0 : (int)classes};
    q->net = orch_cli_net(&request, error);
    if (!q->net && error && *error && set && set->input && !o->input)
        say_larger_input(request, set, error);
    if (!q->net)
        return false;
    if (input && !o->input &&
        !orch_net_is_classifier(q->net)) { /* tokens, or a detector: its own */
        orch_net_free(q->net);
        request.input = input = NULL;
        request.classes = 0;
        q->net = orch_cli_net(&request, error);
    }
    q->costs = orch_net_costs(q->net);
    if (!o->input)
        question_assume(q, "input", "--input", "%dx%dx%d, %s", (int)q->net->input.c,
                        (int)q->net->input.h, (int)q->net->input.w,
                        input ? "the data set's" : "the network's own");
    return true;
}

const struct orch_layer_table *question_table(struct question *q)
{
    if (!q->table)
        q->table = orch_layer_table_from_net(q->net);
    return q->table;
}

/* ---- all of it ---------------------------------------------------------------------------------
 */

/* A share in (0, 1]; NaN where none is given. */
static bool read_share(const char *text, const char *option, double *out, GError **error)
{
    *out = NAN;
    if (!text || (orch_real_parse(text, out) && *out >= 1e-6 && *out <= 1))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "a share above 0 and at most 1, for example 0.62",
                   "option '%s': '%s' is out of range", option, text);
    return false;
}

static bool cloud_ok(const struct question *q, GError **error)
{
    GPtrArray *names = g_ptr_array_new();
    bool known = !q->o->cloud;
    for (guint i = 0; i < q->hardware->prices->len; i++)
        g_ptr_array_add(
            names,
            (gpointer)(uintptr_t)((const struct orch_price *)q->hardware->prices->pdata[i])->cloud);
    for (const struct orch_price *p = orch_prices(); p->gpu; p++)
        if (!g_ptr_array_find_with_equal_func(names, p->cloud, g_str_equal, NULL))
            g_ptr_array_add(names, (gpointer)(uintptr_t)p->cloud);
    g_ptr_array_add(names, NULL);
    for (guint i = 0; !known && names->pdata[i]; i++)
        known = orch_name_is_same(names->pdata[i], q->o->cloud);
    if (!known) {
        g_autofree char *all = g_strjoinv(", ", (char **)names->pdata);
        orch_error_set(error, ORCH_ERROR_USAGE, all, "option '--cloud': no prices of '%s'",
                       q->o->cloud);
    }
    g_ptr_array_unref(names);
    return known;
}

/* The training is taken to start now. */
static bool read_limits(struct question *q, GError **error)
{
    int64_t now_ns = orch_now_ns(), end_ns = now_ns;
    q->budget_usd = q->deadline_s = (double)NAN;
    if (q->o->budget && !cli_budget_read(q->o->budget, &q->budget_usd, error))
        return false;
    if (q->o->deadline && !cli_deadline_read(q->o->deadline, now_ns, &end_ns, error))
        return false;
    if (q->o->deadline)
        q->deadline_s = (double)(end_ns - now_ns) / 1e9;
    return true;
}

static bool settle_numbers(struct question *q, GError **error)
{
    const struct predict_options *o = q->o;
    static const char *const optimizers[] = {"sgd", "momentum", "adam"};
    bool paleo = is_paleo(o);
    if (!read_list(o->batches ? o->batches
                   : paleo    ? "128"
                              : "64",
                   "--batch", q->batches, &q->batch_count, error) ||
        !read_share(o->ppp_comp, "--ppp-comp", &q->ppp_comp, error) ||
        !read_share(o->ppp_comm, "--ppp-comm", &q->ppp_comm, error) ||
        !read_list(o->workers ? o->workers : "1", "--workers", q->workers, &q->worker_count, error))
        return false;
    if (!o->scaling || strcmp(o->scaling, "weak") == 0 || strcmp(o->scaling, "strong") == 0) {
        q->strong = o->scaling && *o->scaling == 's';
    } else {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "weak (each keeps its batch) or strong (they share it)",
                       "option '--scaling': unknown word '%s'", o->scaling);
        return false;
    }
    if (!o->batches)
        question_assume(q, "batch", "--batch", "%d images a worker", paleo ? 128 : 64);
    q->states_per_weight = o->optimizer ? -1 : 1;
    for (int i = 0; o->optimizer && i < 3; i++)
        q->states_per_weight =
            orch_name_is_same(optimizers[i], o->optimizer) ? i : q->states_per_weight;
    if (q->states_per_weight < 0) {
        orch_error_set(error, ORCH_ERROR_USAGE, "sgd, momentum, adam",
                       "option '--optimizer': unknown word '%s'", o->optimizer);
        return false;
    }
    q->price = (double)NAN;
    if (o->price_text &&
        !(orch_real_parse(o->price_text, &q->price) && q->price > 0 && q->price <= 1e6)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "dollars an hour of one device, above 0",
                       "option '--price': '%s' is out of range", o->price_text);
        return false;
    }
    if (!read_limits(q, error))
        return false;
    return orch_cli_count(o->per_node_text, "--per-node", 1 << 20, &q->per_node, error) &&
           orch_cli_count(o->threads, "--threads", 1 << 20, &q->threads, error) &&
           cloud_ok(q, error);
}

bool question_settle(struct question *q, const struct predict_options *o, GError **error)
{
    *q = (struct question){.o = o};
    q->assumptions = g_ptr_array_new_with_free_func(free_assumption);
    const struct dataset *set = NULL;
    q->hardware = orch_hardware_load(error);
    if (!q->hardware || !settle_images(q, &set, error) || !settle_net(q, set, error))
        return false;
    if (!settle_work(q, set, error) || !settle_numbers(q, error))
        return false;
    if (o->network && !is_paleo(o)) {
        q->link = orch_hardware_link(q->hardware, o->network, error);
        return q->link;
    }
    return true;
}

void question_release(struct question *q)
{
    orch_hardware_free(q->hardware);
    if (q->net)
        orch_net_free(q->net);
    g_free(q->costs);
    orch_layer_table_free(q->table);
    if (q->assumptions)
        g_ptr_array_unref(q->assumptions);
}

int64_t question_worker_batch(const struct question *q, int64_t batch, int64_t workers)
{
    return q->strong ? (batch + workers - 1) / workers : batch;
}

bool question_precision(const struct question *q, const struct orch_gpu_spec *gpu,
                        enum orch_precision *out, GError **error)
{
    const char *const *names = orch_precision_names();
    const char *wanted = q->o->precision;
    if (!wanted || strcmp(wanted, "auto") == 0) {
        *out = orch_gpu_peak(gpu, ORCH_TF32) > 0 ? ORCH_TF32 : ORCH_FP32;
        return true;
    }
    for (int i = 0; names[i]; i++) {
        if (orch_name_is_same(names[i], wanted)) {
            *out = (enum orch_precision)i;
            return true;
        }
    }
    orch_error_set(error, ORCH_ERROR_USAGE, "fp64, fp32, tf32, fp16, bf16, auto",
                   "option '--precision': unknown word '%s'", wanted);
    return false;
}

/* ---- money -------------------------------------------------------------------------------------
 */

static bool is_board(const char *gpu)
{
    return g_str_has_suffix(gpu, "-board");
}

struct rate question_rate(const struct question *q, const char *gpu)
{
    return question_rate_of(q, gpu, q->o->cloud);
}

const char *const PRICED_CLOUDS[] = {"aws", "azure", "gcp", "lambda", "runpod", "verda", NULL};

struct rate question_rate_of(const struct question *q, const char *gpu, const char *cloud)
{
    if (!isnan(q->price))
        return (struct rate){q->price, g_strdup("--price")};
    return rate_of(q->hardware, gpu, cloud, q->o->spot);
}

struct rate rate_of(const struct orch_hardware *hardware, const char *gpu, const char *cloud,
                    bool spot)
{
    int devices = is_board(gpu) ? 2 : 1; /* a board is paid as its two GPUs */
    g_autofree char *die = g_strndup(gpu, strlen(gpu) - (devices > 1 ? strlen("-board") : 0));
    struct orch_price_wish wish = {.gpu = die, .cloud = cloud, .spot = spot};
    const struct orch_price *price = orch_hardware_price(hardware, wish);
    if (!price)
        return (struct rate){0, NULL};
    return (struct rate){
        devices * orch_price_per_gpu(price, spot),
        g_strdup_printf("%s%s %s, %s, as of %s%s%s", devices > 1 ? "two GPUs at " : "",
                        price->cloud, price->instance, price->region, price->as_of,
                        spot ? ", spot" : "", price->is_fee ? ", the host billed apart" : "")};
}

bool pareto_step(double usd, double *inout_cheapest)
{
    bool is_cheaper = usd < *inout_cheapest;
    if (is_cheaper)
        *inout_cheapest = usd;
    return is_cheaper;
}

void rate_release(struct rate *rate)
{
    g_free(rate->from);
}

char *money_format(double usd)
{
    if (!(usd >= 0))
        return g_strdup("-");
    if (usd == 0)
        return g_strdup("$0.00");
    if (usd >= 1e9)
        return g_strdup_printf("$%.3g", usd);
    return usd < 0.1 ? g_strdup_printf("$%.2g", usd) : g_strdup_printf("$%.2f", usd);
}
