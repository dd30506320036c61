/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/steps/near_steps.h"

#include "lib/base/interval.h"
#include "lib/net/net.h"
#include "predictors/numbers/dense.h"

#include <math.h>
#include <string.h>

/* Standard deviations of the logarithms of the factors. */
#define SD_ARCH 0.07      /* an architecture at a precision */
#define SD_CHIP 0.13      /* a chip */
#define SD_NEW_CHIP 0.20  /* of one that no measured step is of, besides */
#define SD_BOARD 0.075    /* a chip with so many multiprocessors, at a precision and mode */
#define SD_FAMILY 0.12    /* networks of a name */
#define SD_NET 0.055      /* a network at a precision and mode */
#define SD_STEP 0.075     /* a network on such a board, where batches are alike */
#define SD_SOURCE 0.032   /* who measured it */
#define SD_SOFTWARE 0.036 /* who measured it, at a precision and mode */
#define SD_HOST 0.06      /* the host of small batches: at one image */
#define SD_LAUNCHES 0.06  /* a network's launches on the source's hosts: at one image */
#define SD_OWN 0.2        /* the user's program and machine, at a network */
#define SD_SINGLE 0.046   /* one measurement */
#define SD_SMALL 0.19     /* the same of a small batch: at one image */
#define SD_OLD 0.12       /* the same of software from before 2018 */
#define BATCH_LENGTH 2.0  /* logarithms of batches that are alike */
#define OWN_LENGTH 8.0    /* the same of what the user's program and machine add */
#define LIKE_BATCHES 8.0  /* of one step, at most this factor apart */
#define LEAST_SHARE 0.002 /* of the question's variance: rows with less in common are not used */

/* How many images of 224 x 224 an image of this input is; to a transformer such an image is a
 * sequence of 14 x 14 patches. */
static double size_of(const char *input)
{
    struct orch_net_options o = {0};
    bool is_known = orch_net_input_parse(input, &o);
    double pixels = o.width == 1 ? 14 * 14 : 224 * 224;
    return is_known ? (double)o.height * (double)o.width / pixels : 1;
}

struct orch_near_step orch_near_step_of(const struct orch_gpu_spec *gpu, const char *net,
                                        const char *input, int64_t batch, const char *source)
{
    g_autofree char *base = g_str_has_suffix(net, "-v1") ? g_strndup(net, strlen(net) - 3) : NULL;
    g_autofree char *family = g_strndup(net, strcspn(net, "0123456789_-:"));
    return (struct orch_near_step){.gpu = gpu,
                                   .chip = g_intern_string(orch_gpu_spec_chip(gpu)),
                                   .net = g_intern_string(base ? base : net),
                                   .family = g_intern_string(family),
                                   .source = source ? g_intern_string(source) : NULL,
                                   .images = (double)batch * size_of(input),
                                   .batch = batch,
                                   .workers = 1};
}

/* The units that multiply: bf16 as fp16, and fp32 wherever it is not tf32. */
static enum orch_precision units(enum orch_precision precision)
{
    return precision == ORCH_BF16 ? ORCH_FP16 : precision == ORCH_FP32_IEEE ? ORCH_FP32 : precision;
}

static bool is_same_kind(const struct orch_near_step *a, const struct orch_near_step *b)
{
    return units(a->precision) == units(b->precision) && a->is_training == b->is_training;
}

/* Boards of a chip differ by the multiprocessors that are enabled. */
static bool is_same_board(const struct orch_near_step *a, const struct orch_near_step *b)
{
    return a->chip == b->chip && a->gpu->sms == b->gpu->sms;
}

static const struct orch_near_step *step_at(const GArray *steps, guint i)
{
    return &g_array_index(steps, struct orch_near_step, i);
}

static double square(double x)
{
    return x * x;
}

/* What both have in common where the host takes no time. `origin`: whose measurements of the
 * question's step have a factor of their own. */
static double device_covariance(const struct orch_near_step *a, const struct orch_near_step *b,
                                enum orch_near_origin origin)
{
    bool kind = is_same_kind(a, b), board = is_same_board(a, b), net = a->net == b->net;
    bool source = a->source && a->source == b->source;
    double small = 1 / pow(a->images * b->images, 0.25), sum = 0;
    if (units(a->precision) == units(b->precision) && strcmp(a->gpu->arch, b->gpu->arch) == 0)
        sum += square(SD_ARCH);
    sum += a->chip == b->chip ? square(SD_CHIP) : 0;
    sum += board && kind ? square(SD_BOARD) : 0;
    sum += a->family == b->family ? square(SD_FAMILY) : 0;
    sum += net && kind ? square(SD_NET) : 0;
    double apart = fabs(log(a->images / b->images));
    if (net && board && kind)
        sum += square(SD_STEP) * exp(-apart / BATCH_LENGTH);
    if (net && board && kind && origin && a->origin == origin && b->origin == origin)
        sum += square(SD_OWN) * exp(-apart / OWN_LENGTH);
    sum += source ? square(SD_SOURCE) : 0;
    sum += source && kind ? square(SD_SOFTWARE) : 0;
    if (source && a->is_training == b->is_training) {
        sum += a->gpu == b->gpu ? square(SD_HOST) * small : 0;
        sum += net ? square(SD_LAUNCHES) * small : 0;
    }
    return sum;
}

/* Steps that the host decides say little of those that the GPU does, and the other way round. */
static double covariance(const struct orch_near_step *a, const struct orch_near_step *b,
                         enum orch_near_origin origin)
{
    double host_a = a->host_share, host_b = b->host_share, gpu_a = 1 - host_a, gpu_b = 1 - host_b;
    double likeness =
        (host_a * host_b + gpu_a * gpu_b) / hypot(host_a, gpu_a) / hypot(host_b, gpu_b);
    return likeness * device_covariance(a, b, origin);
}

/* Variance of one measurement beside what it has in common with others. */
static double noise(const struct orch_near_step *step)
{
    return square(SD_SINGLE) + square(SD_SMALL) / step->images +
           (step->is_old ? square(SD_OLD) : 0);
}

/* Variance of the source's effects, which a source has that measured nothing else. */
static double of_new_source(const struct orch_near_step *step)
{
    double small = 1 / sqrt(step->images);
    return square(SD_SOURCE) + square(SD_SOFTWARE) +
           (square(SD_HOST) + square(SD_LAUNCHES)) * small;
}

struct near {
    guint at;
    double share; /* covariance with the question */
    enum orch_near_level nearness;
};

static gint by_share(gconstpointer a, gconstpointer b)
{
    const struct near *x = a, *y = b;
    if (x->share < y->share || x->share > y->share)
        return x->share < y->share ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

static enum orch_near_level nearness_of(const struct orch_near_step *question,
                                        const struct orch_near_step *step)
{
    if (question->chip != step->chip)
        return question->net == step->net ? ORCH_NEAR_NETWORK : ORCH_NEAR_NONE;
    double apart = fabs(log(question->images / step->images));
    bool is_it = is_same_board(question, step) && question->net == step->net &&
                 is_same_kind(question, step) && apart <= log(LIKE_BATCHES);
    return is_it ? ORCH_NEAR_STEP : ORCH_NEAR_CHIP;
}

/* The measured steps that have most in common with the question, each with its ratio. */
static void choose(const struct orch_near_step *question, const GArray *measured,
                   double (*log_ratio)(guint at, void *data), void *data,
                   struct orch_near_answer *out, struct near *chosen)
{
    double least = LEAST_SHARE * covariance(question, question, question->origin);
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(struct near));
    for (guint i = 0; i < measured->len; i++) {
        const struct orch_near_step *step = step_at(measured, i);
        struct near near = {i, device_covariance(question, step, question->origin),
                            nearness_of(question, step)};
        if (step->workers == question->workers && near.share > least)
            g_array_append_val(list, near);
    }
    g_array_sort(list, by_share);
    for (guint i = 0; i < list->len && out->count < ORCH_NEAR_STEPS_MAX; i++) {
        struct near near = g_array_index(list, struct near, i);
        double ratio = log_ratio(near.at, data);
        if (isnan(ratio))
            continue;
        near.share = covariance(question, step_at(measured, near.at), question->origin);
        out->nearness = MAX(out->nearness, near.nearness);
        out->used[out->count].at = near.at;
        out->used[out->count].nearness = near.nearness;
        out->used[out->count].log_ratio = ratio;
        chosen[out->count++] = near;
    }
}

/* The process, given the chosen steps. */
static void krige(const struct orch_near_step *question, const GArray *measured,
                  const struct near *chosen, struct orch_near_answer *out)
{
    size_t n = (size_t)out->count;
    double matrix[ORCH_NEAR_STEPS_MAX * ORCH_NEAR_STEPS_MAX], weights[ORCH_NEAR_STEPS_MAX];
    for (size_t i = 0; i < n; i++) {
        const struct orch_near_step *a = step_at(measured, chosen[i].at);
        for (size_t j = 0; j <= i; j++)
            matrix[i * n + j] = covariance(a, step_at(measured, chosen[j].at), question->origin);
        matrix[i * n + i] += noise(a);
        weights[i] = chosen[i].share;
    }
    if (!orch_cholesky(matrix, n)) { /* impossible: each diagonal has a variance of its own */
        out->nearness = ORCH_NEAR_NONE;
        return;
    }
    orch_cholesky_solve(matrix, n, weights);
    double variance = covariance(question, question, question->origin) + noise(question);
    if (!question->source)
        variance += of_new_source(question);
    if (out->nearness == ORCH_NEAR_NETWORK)
        variance += square(SD_NEW_CHIP);
    for (size_t i = 0; i < n; i++) {
        out->used[i].weight = weights[i];
        out->log_ratio += weights[i] * out->used[i].log_ratio;
        const struct orch_near_step *step = step_at(measured, chosen[i].at);
        bool is_same = question->precision == ORCH_BF16
                           ? step->precision == ORCH_BF16
                           : units(step->precision) == units(question->precision);
        out->has_precision |= is_same && chosen[i].nearness >= MIN(out->nearness, ORCH_NEAR_CHIP);
        variance -= weights[i] * chosen[i].share;
    }
    out->half = ORCH_NORMAL_90 * sqrt(variance);
    /* at least the scatter between sources and software: each measurement of the step is inside,
     * one at another batch as far as the batches are alike, but none that the origin outweighs */
    for (size_t i = 0; i < n; i++) {
        const struct orch_near_step *step = step_at(measured, chosen[i].at);
        double apart = fabs(log(question->images / step->images));
        double off = fabs(out->used[i].log_ratio - out->log_ratio) * exp(-apart / BATCH_LENGTH);
        if (chosen[i].nearness == ORCH_NEAR_STEP && step->origin >= question->origin)
            out->half = fmax(out->half, off);
    }
}

void orch_near_steps_predict(const struct orch_near_step *asked, const GArray *measured,
                             double (*log_ratio)(guint at, void *data), void *data,
                             struct orch_near_answer *out)
{
    struct near chosen[ORCH_NEAR_STEPS_MAX];
    struct orch_near_step question = *asked;
    for (guint i = 0; i < measured->len; i++) {
        const struct orch_near_step *step = step_at(measured, i);
        if (step->origin > question.origin && step->workers == asked->workers &&
            nearness_of(asked, step) == ORCH_NEAR_STEP && !isnan(log_ratio(i, data)))
            question.origin = step->origin;
    }
    *out = (struct orch_near_answer){0};
    choose(&question, measured, log_ratio, data, out, chosen);
    if (out->nearness != ORCH_NEAR_NONE)
        krige(&question, measured, chosen, out);
}
