/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps from fixed buffers against ordinary steps, on the same batches.
 *
 *   graphs cpu    buffers without a graph: losses and weights are equal to the last bit
 *   graphs cuda   captured and replayed: they are equal to a tolerance. Exit status 77, with
 *                 "skipped" and the reason, where there is no GPU
 *
 * Both also check how many steps were which, and everything that keeps a step from being captured.
 */
#include "plugins/common/torch/torch.h"

#include "lib/base/error.h"
#include "lib/net/net.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 20, CLASSES = 5, SKIPPED = 77 };
/** Relative, for losses and norms of weights on a GPU, whose sums are rounded in any order. */
static const double TOLERANCE_FP32 = 1e-3, TOLERANCE_HALF = 3e-2;

/* What a batch has beside its images. */
enum extra { PLAIN, SHARD, SMOOTHED, BYTES };

struct subject {
    const char *name, *net;
    int64_t side, batch;
    enum orch_torch_precision precision;
    enum orch_torch_method method;
    bool channels_last;
    enum extra extra;
    bool gpu_only;
};

static const struct subject SUBJECTS[] = {
    {.name = "resnet20, sgd",
     .net = "resnet20",
     .side = 8,
     .batch = 12,
     .precision = ORCH_TORCH_FP32,
     .method = ORCH_TORCH_SGD},
    {.name = "resnet20, channels-last",
     .net = "resnet20",
     .side = 8,
     .batch = 12,
     .precision = ORCH_TORCH_FP32,
     .method = ORCH_TORCH_SGD,
     .channels_last = true},
    {.name = "resnet20, bf16",
     .net = "resnet20",
     .side = 8,
     .batch = 12,
     .precision = ORCH_TORCH_BF16,
     .method = ORCH_TORCH_SGD,
     .channels_last = true},
    {.name = "resnet20, fp16",
     .net = "resnet20",
     .side = 8,
     .batch = 12,
     .precision = ORCH_TORCH_FP16,
     .method = ORCH_TORCH_SGD,
     .channels_last = true,
     .gpu_only = true},
    {.name = "dropout, adam",
     .net = "squeezenet1_1",
     .side = 32,
     .batch = 6,
     .precision = ORCH_TORCH_FP32,
     .method = ORCH_TORCH_ADAM},
    {.name = "mlp, muon",
     .net = "mlp:16,12",
     .side = 8,
     .batch = 10,
     .precision = ORCH_TORCH_FP32,
     .method = ORCH_TORCH_MUON},
    {.name = "shards of batches",
     .net = "mlp:16",
     .side = 8,
     .batch = 10,
     .precision = ORCH_TORCH_FP32,
     .method = ORCH_TORCH_SGD,
     .extra = SHARD},
    {.name = "label smoothing",
     .net = "mlp:16",
     .side = 8,
     .batch = 10,
     .precision = ORCH_TORCH_FP32,
     .method = ORCH_TORCH_SGD,
     .extra = SMOOTHED},
};

static const struct orch_torch *torch;
static const char *device;
static bool is_gpu;
static int failures;

static void complain(const char *name, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void complain(const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    printf("FAILED %s: %s\n", name, text);
    failures++;
}

static void need(bool ok, GError **error)
{
    if (ok)
        return;
    printf("FAILED: %s\n", *error ? (*error)->message : "without an error");
    exit(1);
}

/* ---- models and batches -----------------------------------------------------------------------
 */

struct bed {
    const struct subject *subject;
    struct orch_net *net;
    struct orch_torch_model *model;
};

static struct bed bed_new(const struct subject *s)
{
    GError *error = NULL;
    struct orch_net_options options = {.name = s->net,
                                       .channels = 3,
                                       .height = (int)s->side,
                                       .width = (int)s->side,
                                       .classes = CLASSES};
    struct orch_torch_setup setup = {device, s->precision, s->channels_last};
    struct orch_torch_optimizer optimizer = {.method = s->method,
                                             .momentum = 0.9,
                                             .weight_decay = 1e-3,
                                             .beta1 = 0.9,
                                             .beta2 = 0.999,
                                             .epsilon = 1e-8,
                                             .iterations = 5,
                                             .adamw_factor = 0.1};
    struct bed bed = {.subject = s, .net = orch_net_make(&options, &error)};
    need(bed.net, &error);
    torch->seed(3);
    bed.model = torch->model_new(bed.net, &setup, &error);
    need(bed.model && orch_torch_init(torch, bed.model, bed.net, 7, &error) &&
             torch->optimizer_set(bed.model, &optimizer, &error),
         &error);
    return bed;
}

static void bed_free(struct bed *bed)
{
    torch->model_free(bed->model);
    orch_net_free(bed->net);
}

/* Steps 6 and 13 have the smaller last batch of an epoch. */
static int64_t count_of(const struct subject *s, int step)
{
    return step % 7 == 6 ? s->batch / 2 : s->batch;
}

static double rate_of(const struct subject *s, int step)
{
    double base = s->method == ORCH_TORCH_SGD ? 0.05 : s->method == ORCH_TORCH_MUON ? 0.02 : 0.002;
    return base / (1 + step % 5);
}

/* Trains on batch `step`, in memory that is freed afterwards. */
static bool train(const struct bed *bed, int step, GError **error)
{
    const struct subject *s = bed->subject;
    int64_t count = count_of(s, step), values = count * 3 * s->side * s->side;
    g_autofree float *images = g_new(float, values);
    g_autofree uint8_t *bytes = g_new(uint8_t, values);
    g_autofree int64_t *labels = g_new(int64_t, count);
    static const float mean[] = {0.5F, 0.4F, 0.3F}, deviation[] = {0.2F, 0.3F, 0.25F};
    for (int64_t i = 0; i < values; i++) {
        images[i] = (float)sin((double)(i + 1000 * step) * 0.37);
        bytes[i] = (uint8_t)(127 + 120 * (double)images[i]);
    }
    for (int64_t i = 0; i < count; i++)
        labels[i] = (i + step) % CLASSES;
    struct orch_torch_batch batch = {.images = images, .labels = labels, .count = count};
    if (s->extra == BYTES)
        batch = (struct orch_torch_batch){.input = ORCH_TORCH_BYTES,
                                          .images = bytes,
                                          .labels = labels,
                                          .count = count,
                                          .mean = mean,
                                          .std = deviation};
    if (s->extra == SHARD)
        batch.total_count = 2 * count + step;
    if (s->extra == SMOOTHED)
        batch.label_smoothing = 0.1;
    torch->rate_set(bed->model, rate_of(s, step));
    return torch->train(bed->model, &batch, error);
}

static struct orch_torch_totals totals_of(const struct bed *bed)
{
    struct orch_torch_totals totals;
    GError *error = NULL;
    need(torch->totals_take(bed->model, &totals, &error), &error);
    return totals;
}

static struct orch_torch_totals trained(const struct bed *bed, int step)
{
    GError *error = NULL;
    need(train(bed, step, &error), &error);
    return totals_of(bed);
}

/* ---- comparisons ------------------------------------------------------------------------------
 */

static bool is_near(const struct subject *s, double a, double b)
{
    if (!is_gpu)
        return a == b;
    double tolerance = s->precision == ORCH_TORCH_FP32 ? TOLERANCE_FP32 : TOLERANCE_HALF;
    return fabs(a - b) <= tolerance * (fabs(a) + 1e-3);
}

static double norm_of(const struct bed *bed, size_t index)
{
    GError *error = NULL;
    int64_t count = orch_net_tensor(bed->net, (int)index)->count;
    g_autofree float *values = g_new(float, count);
    double sum = 0;
    need(torch->tensor_get(bed->model, index, values, &error), &error);
    for (int64_t i = 0; i < count; i++)
        sum += (double)values[i] * (double)values[i] * (1 + (double)(i % 13));
    return sqrt(sum);
}

static void compare_models(const struct bed *a, const struct bed *b, const char *name)
{
    for (size_t i = 0; i < torch->tensor_count(a->model); i++) {
        double first = norm_of(a, i), second = norm_of(b, i);
        if (!is_near(a->subject, first, second))
            complain(name, "tensor '%s' has the norm %.9g, with buffers %.9g",
                     orch_net_tensor(a->net, (int)i)->name, first, second);
    }
}

static void graphs_on(const struct bed *bed)
{
    GError *error = NULL;
    need(torch->graphs_set(bed->model, is_gpu ? ORCH_TORCH_GRAPHS_ON : ORCH_TORCH_GRAPHS_BUFFERS,
                           &error),
         &error);
}

static struct orch_torch_graphs_state state_of(const struct bed *bed)
{
    struct orch_torch_graphs_state state;
    torch->graphs_get(bed->model, &state);
    return state;
}

/* On a GPU three steps from buffers warm up before the capture. */
static void expect_counts(const struct bed *bed, const char *name, int64_t ordinary,
                          int64_t from_buffers)
{
    struct orch_torch_graphs_state state = state_of(bed);
    int64_t buffered = is_gpu ? MIN(3, from_buffers) : from_buffers;
    if (state.reason)
        complain(name, "no capture: %s", state.reason);
    if (state.ordinary != ordinary || state.buffered != buffered ||
        state.replayed != from_buffers - buffered)
        complain(name, "%d ordinary, %d buffered and %d replayed steps, not %d, %d and %d",
                 (int)state.ordinary, (int)state.buffered, (int)state.replayed, (int)ordinary,
                 (int)buffered, (int)(from_buffers - buffered));
}

static void compare_totals(const struct bed *fixed, const char *name, int step,
                           const struct orch_torch_totals *a)
{
    struct orch_torch_totals b = totals_of(fixed);
    if (a->images != b.images || !is_near(fixed->subject, a->loss, b.loss) ||
        llabs(a->correct - b.correct) > (is_gpu ? 1 : 0))
        complain(name, "step %d: loss %.9g of %d images (%d right), with buffers %.9g of %d (%d)",
                 step, a->loss, (int)a->images, (int)a->correct, b.loss, (int)b.images,
                 (int)b.correct);
}

/* Totals of a single step, except that steps 15 to 18 are taken together. With buffers those of
 * steps 5 to 9 are marked, and read after step 10. */
static void compare_steps(const struct bed *plain, const struct bed *fixed, const char *name)
{
    enum { MARKED = 5, READ = 10 };
    struct orch_torch_totals taken[STEPS];
    for (int step = 0; step < STEPS; step++) {
        GError *error = NULL;
        need(train(plain, step, &error), &error);
        need(train(fixed, step, &error), &error);
        if (step >= 15 && step < 18)
            continue;
        taken[step] = totals_of(plain);
        if (step >= MARKED && step < READ) {
            need(torch->totals_mark(fixed->model, &error), &error);
            continue;
        }
        for (int i = step == READ ? MARKED : step; i <= step; i++)
            compare_totals(fixed, name, i, &taken[i]);
    }
}

static void compare(const struct subject *s)
{
    if (s->gpu_only && !is_gpu)
        return;
    struct bed plain = bed_new(s), fixed = bed_new(s);
    graphs_on(&fixed);
    compare_steps(&plain, &fixed, s->name);
    compare_models(&plain, &fixed, s->name);
    /* the first batch, the smaller ones, and one that begins another form */
    expect_counts(&fixed, s->name, 3, STEPS - 3);
    bed_free(&plain);
    bed_free(&fixed);
    printf("%s\n", s->name);
}

/* ---- what is not captured ---------------------------------------------------------------------
 */

static bool ready(void *ctx, const struct orch_torch_bucket *bucket, GError **error)
{
    (void)bucket;
    (void)error;
    ++*(int *)ctx;
    return true;
}

/* Watched gradients; then no longer; then another optimizer, and parts of a step in between. */
static void test_refusals(void)
{
    const char *name = "refusals";
    const struct subject *s = &SUBJECTS[0];
    struct bed plain = bed_new(s), fixed = bed_new(s);
    GError *error = NULL;
    int calls = 0;
    struct orch_torch_bucket_calls watch = {.ready = ready, .ctx = &calls};
    graphs_on(&fixed);
    for (int step = 0; step < 5; step++)
        if (!is_near(s, trained(&plain, step).loss, trained(&fixed, step).loss))
            complain(name, "step %d differs", step);
    need(torch->gradients_watch(fixed.model, 1 << 20, &watch, &error), &error);
    for (int step = 7; step < 9; step++)
        if (!is_near(s, trained(&plain, step).loss, trained(&fixed, step).loss))
            complain(name, "watched step %d differs", step);
    const char *reason = state_of(&fixed).reason;
    if (calls < 2 || !reason || !strstr(reason, "buckets"))
        complain(name, "%d calls for buckets, reason %s", calls, reason ? reason : "none");
    need(torch->gradients_watch(fixed.model, 1, NULL, &error), &error);
    for (int step = 9; step < 12; step++)
        if (!is_near(s, trained(&plain, step).loss, trained(&fixed, step).loss))
            complain(name, "step %d after the watch differs", step);
    expect_counts(&fixed, name, 3, 7);
    compare_models(&plain, &fixed, name);
    bed_free(&plain);
    bed_free(&fixed);
}

static void test_other_optimizer(void)
{
    const char *name = "another optimizer";
    const struct subject *s = &SUBJECTS[0];
    struct bed plain = bed_new(s), fixed = bed_new(s);
    GError *error = NULL;
    graphs_on(&fixed);
    struct orch_torch_optimizer frozen = {.method = ORCH_TORCH_SGD, .frozen_groups = 2};
    for (int step = 0; step < 14; step++) {
        if (step == 6)
            need(torch->optimizer_set(plain.model, &frozen, &error) &&
                     torch->optimizer_set(fixed.model, &frozen, &error),
                 &error);
        if (!is_near(s, trained(&plain, step).loss, trained(&fixed, step).loss))
            complain(name, "step %d differs", step);
    }
    compare_models(&plain, &fixed, name);
    bed_free(&plain);
    bed_free(&fixed);
}

/* Two models, one after the other in each step: dropout draws from a stream of each. */
static void test_two_models(void)
{
    const char *name = "two models";
    const struct subject *s = &SUBJECTS[4];
    struct bed plain = bed_new(s), first = bed_new(s), second = bed_new(s);
    graphs_on(&first);
    graphs_on(&second);
    for (int step = 0; step < 9; step++) {
        double a = trained(&plain, step).loss, b = trained(&first, step).loss;
        double c = trained(&second, step).loss;
        if (!is_near(s, a, b) || !is_near(s, a, c))
            complain(name, "step %d: %.9g, %.9g, %.9g", step, a, b, c);
    }
    bed_free(&plain);
    bed_free(&first);
    bed_free(&second);
}

static void test_failed_capture(void)
{
    const char *name = "a capture that fails";
    const struct subject *s = &SUBJECTS[4];
    struct bed plain = bed_new(s), fixed = bed_new(s);
    graphs_on(&fixed);
    g_setenv("ORCH_TORCH_CAPTURE", "fail", true);
    compare_steps(&plain, &fixed, name);
    g_unsetenv("ORCH_TORCH_CAPTURE");
    compare_models(&plain, &fixed, name);
    struct orch_torch_graphs_state state = state_of(&fixed);
    if (!state.reason || state.replayed)
        complain(name, "%d replays, reason %s", (int)state.replayed,
                 state.reason ? state.reason : "none");
    else
        printf("%s: %s\n", name, state.reason);
    bed_free(&fixed);
    struct bed next = bed_new(s); /* another model can be captured all the same */
    graphs_on(&next);
    for (int step = 0; step < 6; step++)
        trained(&next, step);
    if (state_of(&next).reason || !state_of(&next).replayed)
        complain(name, "the next model is not captured");
    bed_free(&next);
    bed_free(&plain);
}

/* A CPU cannot capture; and a step of which an operation waits is found out. */
static void test_cpu(void)
{
    GError *error = NULL;
    struct bed bed = bed_new(&SUBJECTS[0]);
    if (torch->graphs_set(bed.model, ORCH_TORCH_GRAPHS_ON, &error))
        complain("cpu", "graphs on a CPU");
    else if (!strstr(error->message, "the model is on the CPU"))
        complain("cpu", "%s", error->message);
    g_clear_error(&error);
    bed_free(&bed);
    struct subject half = SUBJECTS[3];
    struct orch_torch_setup setup = {device, half.precision, half.channels_last};
    struct orch_net_options options = {.name = half.net,
                                       .channels = 3,
                                       .height = (int)half.side,
                                       .width = (int)half.side,
                                       .classes = CLASSES};
    struct orch_net *net = orch_net_make(&options, NULL);
    struct orch_torch_model *model = torch->model_new(net, &setup, NULL);
    if (model) { /* the scaler of fp16 is on the host here */
        bed = bed_new(&half);
        graphs_on(&bed);
        trained(&bed, 0);
        if (train(&bed, 1, &error))
            complain("fp16", "no operation was found to wait");
        else if (!strstr(error->message, "_local_scalar_dense"))
            complain("fp16", "%s", error->message);
        g_clear_error(&error);
        bed_free(&bed);
        torch->model_free(model);
    }
    orch_net_free(net);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    device = argc > 1 ? argv[1] : "cpu";
    is_gpu = strcmp(device, "cpu") != 0;
    torch = orch_torch_load(&error);
    need(torch, &error);
    torch->threads_set(1);
    if (is_gpu && torch->cuda_count() == 0) {
        printf("skipped: LibTorch %s finds no CUDA device\n", torch->version);
        return SKIPPED;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(SUBJECTS); i++)
        compare(&SUBJECTS[i]);
    test_refusals();
    test_other_optimizer();
    test_two_models();
    if (is_gpu)
        test_failed_capture();
    else
        test_cpu();
    printf("%d failures\n", failures);
    return failures > 0;
}
