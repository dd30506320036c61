/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps in parts: losses of the caller's, shards of batches, several outputs, gradients in
 * buckets, blended weights, and several models in a process. */
#include "plugins/common/comm/buckets.h"
#include "plugins/common/torch/torch.h"

#include "lib/base/error.h"
#include "lib/net/build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { COUNT = 6, SIDE = 8, CLASSES = 5, PIXELS = COUNT * SIDE * SIDE, SCORES = COUNT * CLASSES };

static const struct orch_torch *torch;
static const int64_t LABELS[COUNT] = {0, 3, 4, 1, 1, 2};

static void stop_on(GError *error)
{
    if (error)
        fail_msg("%s", error->message);
}

static void need(bool ok, GError *error)
{
    stop_on(error);
    assert_true(ok);
}

/* Checks that a call failed with a text in its message. */
static void refused(bool ok, GError **error, const char *text)
{
    assert_false(ok);
    assert_non_null(*error);
    if (!strstr((*error)->message, text))
        fail_msg("'%s' is not in '%s'", text, (*error)->message);
    g_clear_error(error);
}

/* conv, relu, (dropout,) and then a classifier, or a classifier, boxes and a value. Without batch
 * norm: a batch's gradient is the mean of its parts'. */
static struct orch_net *make_net(double dropout, bool has_heads)
{
    struct orch_net_builder b;
    GError *error = NULL;
    orch_net_builder_init(&b, "small", "small", (struct orch_net_shape){1, SIDE, SIDE}, CLASSES);
    struct orch_conv conv = {6, 3, 1, 1, 1, true, ORCH_CONV_DEFAULT};
    struct orch_conv box = {4, 1, 1, 0, 1, true, ORCH_CONV_DEFAULT};
    int body = orch_net_relu(&b, orch_net_conv(&b, 0, conv, "conv"));
    int x = orch_net_flatten(&b, orch_net_avgpool(&b, body, 2, 2));
    if (dropout > 0)
        x = orch_net_dropout(&b, x, dropout);
    int hidden = orch_net_relu(&b, orch_net_linear(&b, x, 16, 0, "hidden"));
    int boxes = has_heads ? orch_net_conv(&b, body, box, "boxes") : -1;
    int value = has_heads ? orch_net_linear(&b, hidden, 1, 0, "value") : -1;
    int scores = orch_net_linear(&b, hidden, CLASSES, 0, "scores");
    if (has_heads) {
        orch_net_declare_output(&b, scores);
        orch_net_declare_output(&b, boxes);
        orch_net_declare_output(&b, value);
    }
    struct orch_net *net = orch_net_builder_finish(&b, &error);
    stop_on(error);
    return net;
}

static struct orch_torch_model *make_model(const struct orch_net *net)
{
    GError *error = NULL;
    struct orch_torch_setup setup = {"cpu", ORCH_TORCH_FP32, true};
    struct orch_torch_optimizer optimizer = {.method = ORCH_TORCH_SGD, .momentum = 0.9};
    struct orch_torch_model *model = torch->model_new(net, &setup, &error);
    stop_on(error);
    need(orch_torch_init(torch, model, net, 7, &error), error);
    need(torch->optimizer_set(model, &optimizer, &error), error);
    torch->rate_set(model, 0.1);
    return model;
}

static const float *images(void)
{
    static float values[PIXELS];
    for (int i = 0; i < PIXELS; i++)
        values[i] = (float)sin((double)i * 0.7);
    return values;
}

static struct orch_torch_batch batch_of(int first, int count)
{
    return (struct orch_torch_batch){
        .images = images() + first * SIDE * SIDE, .labels = LABELS + first, .count = count};
}

static float *weights_of(const struct orch_torch_model *model, size_t *out_count)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(float));
    for (size_t i = 0; i < torch->tensor_count(model); i++) {
        struct orch_torch_tensor t;
        torch->tensor_describe(model, i, &t);
        g_array_set_size(all, all->len + (guint)t.count);
        assert_true(torch->tensor_get(model, i,
                                      &g_array_index(all, float, all->len - (guint)t.count), NULL));
    }
    *out_count = all->len;
    return (float *)(void *)g_array_free(all, FALSE);
}

/* Largest difference of two models' weights. */
static double apart(const struct orch_torch_model *a, const struct orch_torch_model *b)
{
    size_t count, other;
    g_autofree float *of_a = weights_of(a, &count), *of_b = weights_of(b, &other);
    double most = 0;
    assert_int_equal(count, other);
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)of_a[i] - (double)of_b[i]));
    return most;
}

/* d mean cross-entropy / d scores: (softmax - target) / count. */
static void cross_entropy_gradient(const float *scores, const int64_t *labels, int count,
                                   float *out)
{
    for (int i = 0; i < count; i++) {
        double most = -INFINITY, sum = 0;
        for (int c = 0; c < CLASSES; c++)
            most = fmax(most, (double)scores[i * CLASSES + c]);
        for (int c = 0; c < CLASSES; c++)
            sum += exp((double)scores[i * CLASSES + c] - most);
        for (int c = 0; c < CLASSES; c++)
            out[i * CLASSES + c] =
                (float)((exp((double)scores[i * CLASSES + c] - most) / sum - (c == labels[i])) /
                        count);
    }
}

/* Forward and backward with the loss computed here. */
static void backward_own(struct orch_torch_model *model, int first, int count)
{
    GError *error = NULL;
    struct orch_torch_batch batch = batch_of(first, count);
    struct orch_torch_array scores;
    float gradient[SCORES];
    need(torch->forward(model, &batch, ORCH_TORCH_TRAIN, false, &scores, &error), error);
    assert_string_equal(scores.name, "scores");
    assert_int_equal(scores.rank, 2);
    assert_int_equal(scores.shape[0], count);
    assert_int_equal(scores.shape[1], CLASSES);
    cross_entropy_gradient(scores.data, batch.labels, count, gradient);
    struct orch_torch_array given = scores;
    given.data = gradient;
    need(torch->backward(model, &given, 1, &error), error);
}

static void test_own_loss_is_the_built_in_one(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_net *net = make_net(0, false);
    struct orch_torch_model *built_in = make_model(net), *own = make_model(net);
    struct orch_torch_batch batch = batch_of(0, COUNT);
    for (int step = 0; step < 3; step++) {
        need(torch->train(built_in, &batch, &error), error);
        backward_own(own, 0, COUNT);
        need(torch->update(own, &error), error);
        double difference = apart(built_in, own);
        if (!(difference <= 1e-6))
            fail_msg("step %d: weights differ by %g", step, difference);
    }
    assert_int_equal(torch->steps_get(own), 3);
    torch->model_free(built_in);
    torch->model_free(own);
    orch_net_free(net);
}

static void test_gradients_accumulate_until_update(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_net *net = make_net(0, false);
    struct orch_torch_model *twice = make_model(net), *once = make_model(net);
    torch->rate_set(once, 0.2);
    backward_own(once, 0, COUNT);
    need(torch->update(once, &error), error);
    backward_own(twice, 0, COUNT);
    backward_own(twice, 0, COUNT);
    need(torch->update(twice, &error), error);
    assert_true(apart(once, twice) <= 1e-6);
    refused(torch->update(twice, &error), &error, "update needs gradients");
    backward_own(twice, 0, COUNT);
    torch->gradients_drop(twice);
    refused(torch->update(twice, &error), &error, "update needs gradients");
    torch->model_free(twice);
    torch->model_free(once);
    orch_net_free(net);
}

/* ---- smoothing, shards ------------------------------------------------------------------------
 */

/* The loss that evaluate finds. */
static double loss_of(struct orch_torch_model *model, const struct orch_torch_batch *batch)
{
    GError *error = NULL;
    struct orch_torch_totals totals;
    need(torch->evaluate(model, batch, &error), error);
    need(torch->totals_take(model, &totals, &error), error);
    assert_int_equal(totals.images, batch->count);
    return totals.loss / (double)batch->count;
}

/* The same by torch.h's definition, in double. */
static double defined_loss(const float *scores, double smoothing)
{
    double loss = 0;
    for (int i = 0; i < COUNT; i++) {
        double sum = 0;
        for (int c = 0; c < CLASSES; c++)
            sum += exp((double)scores[i * CLASSES + c]);
        for (int c = 0; c < CLASSES; c++) {
            double target = (1 - smoothing) * (c == LABELS[i]) + smoothing / CLASSES;
            loss -= target * ((double)scores[i * CLASSES + c] - log(sum));
        }
    }
    return loss / COUNT;
}

static void test_label_smoothing(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_net *net = make_net(0, false);
    struct orch_torch_model *model = make_model(net);
    float scores[SCORES];
    struct orch_torch_batch batch = batch_of(0, COUNT);
    need(torch->logits(model, &batch, scores, &error), error);
    for (int tenths = 0; tenths < 10; tenths += 3) {
        batch.label_smoothing = tenths / 10.0;
        double found = loss_of(model, &batch);
        double expected = defined_loss(scores, batch.label_smoothing);
        if (!(fabs(found - expected) <= 1e-6 * expected))
            fail_msg("smoothing 0.%d: loss %.9g, expected %.9g", tenths, found, expected);
    }
    torch->model_free(model);
    orch_net_free(net);
}

/* Of a step without momentum, which is linear in the gradient. */
static void test_shards_add_up(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_net *net = make_net(0, false);
    struct orch_torch_model *whole = make_model(net), *left = make_model(net),
                            *right = make_model(net), *start = make_model(net);
    struct orch_torch_batch all = batch_of(0, COUNT), first = batch_of(0, 2),
                            rest = batch_of(2, COUNT - 2);
    first.total_count = rest.total_count = COUNT;
    for (int i = 0; i < 3; i++)
        need(torch->blend(i == 0 ? whole : i == 1 ? left : right, start, 1, &error), error);
    need(torch->train(whole, &all, &error), error);
    need(torch->train(left, &first, &error), error);
    need(torch->train(right, &rest, &error), error);
    size_t count;
    g_autofree float *w = weights_of(whole, &count), *l = weights_of(left, &count),
                     *r = weights_of(right, &count), *s = weights_of(start, &count);
    for (size_t i = 0; i < count; i++)
        assert_true(fabs((double)(l[i] - s[i]) + (double)(r[i] - s[i]) - (double)(w[i] - s[i])) <=
                    1e-6);
    torch->model_free(whole);
    torch->model_free(left);
    torch->model_free(right);
    torch->model_free(start);
    orch_net_free(net);
}

static void test_bad_goals(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_net *net = make_net(0, false);
    struct orch_torch_model *model = make_model(net);
    struct orch_torch_batch batch = batch_of(0, COUNT);
    batch.total_count = -1;
    refused(torch->train(model, &batch, &error), &error, "total count -1");
    batch.total_count = 0;
    batch.label_smoothing = 1;
    refused(torch->train(model, &batch, &error), &error, "label smoothing 1");
    batch.label_smoothing = 0;
    batch.labels = NULL;
    refused(torch->train(model, &batch, &error), &error, "the batch has no labels");
    torch->model_free(model);
    orch_net_free(net);
}

/* ---- several outputs --------------------------------------------------------------------------
 */

/* Sum of squares of all outputs. */
static double squares(struct orch_torch_model *model)
{
    GError *error = NULL;
    struct orch_torch_batch batch = batch_of(0, COUNT);
    struct orch_torch_array outputs[3];
    double sum = 0;
    need(torch->forward(model, &batch, ORCH_TORCH_INFER, false, outputs, &error), error);
    for (int k = 0; k < 3; k++) {
        int64_t count = 1;
        for (int i = 0; i < outputs[k].rank; i++)
            count *= outputs[k].shape[i];
        for (int64_t i = 0; i < count; i++)
            sum += (double)outputs[k].data[i] * (double)outputs[k].data[i];
    }
    return sum;
}

static void test_heads(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_net *net = make_net(0, true);
    struct orch_torch_model *model = make_model(net);
    struct orch_torch_batch batch = batch_of(0, COUNT);
    struct orch_torch_array outputs[3];
    assert_int_equal(torch->output_count(model), 3);
    torch->output_describe(model, 1, &outputs[0]);
    assert_string_equal(outputs[0].name, "boxes");
    assert_int_equal(outputs[0].rank, 4);
    assert_int_equal(outputs[0].shape[1], 4);
    assert_int_equal(outputs[0].shape[3], SIDE);
    torch->rate_set(model, 1e-4);
    double before = squares(model);
    need(torch->forward(model, &batch, ORCH_TORCH_FIXED_NORMS, true, outputs, &error), error);
    assert_string_equal(outputs[2].name, "value");
    assert_int_equal(outputs[2].shape[1], 1);
    /* d (sum of squares / 2) / d output is the output itself */
    need(torch->backward(model, outputs, 3, &error), error);
    need(torch->update(model, &error), error);
    double after = squares(model);
    if (!(after < before && after > 0.5 * before))
        fail_msg("the sum of squares went from %g to %g", before, after);
    refused(torch->train(model, &batch, &error), &error, "does not expect output 'boxes' of 4x8x8");
    refused(torch->logits(model, &batch, NULL, &error), &error, "does not expect output 'boxes'");
    torch->model_free(model);
    orch_net_free(net);
}

static void test_bad_gradients(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_net *net = make_net(0, true);
    struct orch_torch_model *model = make_model(net);
    struct orch_torch_batch batch = batch_of(0, COUNT);
    struct orch_torch_array outputs[3], given[3];
    refused(torch->backward(model, outputs, 3, &error), &error, "needs its own forward");
    need(torch->forward(model, &batch, ORCH_TORCH_TRAIN, false, outputs, &error), error);
    memcpy(given, outputs, sizeof given);
    given[1].shape[2] = 3;
    refused(torch->backward(model, given, 3, &error), &error,
            "output 'boxes' has the shape 6x4x3x8, the output 6x4x8x8");
    refused(torch->backward(model, outputs, 2, &error), &error, "2 gradients");
    /* a gradient for one output only */
    outputs[0].data = outputs[1].data = NULL;
    need(torch->backward(model, outputs, 3, &error), error);
    refused(torch->backward(model, outputs, 3, &error), &error, "needs its own forward");
    need(torch->forward(model, &batch, ORCH_TORCH_INFER, false, outputs, &error), error);
    refused(torch->backward(model, outputs, 3, &error), &error, "needs its own forward");
    torch->model_free(model);
    orch_net_free(net);
}

static void test_ssd(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_net_options options = {
        .name = "ssd_mobilenet_v1", .channels = 3, .height = 96, .width = 96, .classes = 3};
    struct orch_net *net = orch_net_make(&options, &error);
    stop_on(error);
    struct orch_torch_model *model = make_model(net);
    g_autofree float *pixels = g_new0(float, 2 * 3 * 96 * 96);
    for (int i = 0; i < 2 * 3 * 96 * 96; i++)
        pixels[i] = (float)cos(i * 0.3);
    struct orch_torch_batch batch = {.images = pixels, .count = 2};
    struct orch_torch_array outputs[12];
    assert_int_equal(torch->output_count(model), 12);
    need(torch->forward(model, &batch, ORCH_TORCH_TRAIN, false, outputs, &error), error);
    assert_string_equal(outputs[0].name, "boxes.0");
    assert_int_equal(outputs[0].shape[1], 4 * 3);
    assert_string_equal(outputs[3].name, "scores.1");
    assert_int_equal(outputs[3].shape[1], 3 * 6);
    need(torch->backward(model, outputs, 12, &error), error);
    need(torch->update(model, &error), error);
    refused(torch->evaluate(model, &batch, &error), &error, "does not expect output");
    torch->model_free(model);
    orch_net_free(net);
}

/* ---- buckets ----------------------------------------------------------------------------------
 */

struct watch {
    size_t next, finished;
    int64_t elements;
    struct orch_torch_bucket seen[16];
    const struct watch *other; /* average with its buckets */
    bool fails;
};

static bool on_ready(void *ctx, const struct orch_torch_bucket *bucket, GError **error)
{
    struct watch *w = ctx;
    if (w->fails) {
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "rank 3 is gone");
        return false;
    }
    assert_int_equal(bucket->index, w->next++);
    assert_true(bucket->count <= G_N_ELEMENTS(w->seen));
    assert_false(bucket->is_on_device);
    assert_null(bucket->stream);
    w->seen[bucket->index] = *bucket;
    w->elements += bucket->elements;
    for (int64_t i = 0; w->other && i < bucket->elements; i++) {
        float *theirs = &w->other->seen[bucket->index].data[i];
        bucket->data[i] = *theirs = (bucket->data[i] + *theirs) / 2;
    }
    return true;
}

static bool on_finish(void *ctx, void *stream, GError **error)
{
    struct watch *w = ctx;
    (void)error;
    assert_null(stream);
    w->finished++;
    return true;
}

static void watch(struct orch_torch_model *model, size_t bytes, struct watch *w)
{
    GError *error = NULL;
    struct orch_torch_bucket_calls calls = {on_ready, on_finish, w};
    need(torch->gradients_watch(model, bytes, &calls, &error), error);
}

static int64_t parameters_of(const struct orch_torch_model *model)
{
    int64_t count = 0;
    for (size_t i = 0; i < torch->tensor_count(model); i++) {
        struct orch_torch_tensor t;
        torch->tensor_describe(model, i, &t);
        count += t.is_parameter ? t.count : 0;
    }
    return count;
}

static void test_halves_equal_the_whole(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 400, 1 << 20};
    for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
        GError *error = NULL;
        struct orch_net *net = make_net(0, false);
        struct orch_torch_model *whole = make_model(net), *left = make_model(net),
                                *right = make_model(net);
        struct orch_torch_batch batch = batch_of(0, COUNT);
        struct watch of_left = {0}, of_right = {.other = &of_left};
        watch(left, sizes[s], &of_left);
        watch(right, sizes[s], &of_right);
        for (int step = 0; step < 3; step++) {
            of_left.next = of_right.next = 0;
            of_left.elements = 0;
            need(torch->train(whole, &batch, &error), error);
            backward_own(left, 0, COUNT / 2);
            backward_own(right, COUNT / 2, COUNT / 2);
            assert_int_equal(of_left.next, of_left.seen[0].count);
            assert_int_equal(of_left.elements, parameters_of(left));
            need(torch->update(left, &error), error);
            need(torch->update(right, &error), error);
            assert_int_equal(of_left.finished, step + 1);
        }
        assert_int_equal(of_left.seen[0].count, s == 0 ? 6 : s == 1 ? 3 : 1);
        assert_true(apart(left, right) == 0);
        double difference = apart(whole, left);
        if (!(difference <= 1e-6))
            fail_msg("buckets of %zu bytes: weights differ by %g", sizes[s], difference);
        torch->model_free(whole);
        torch->model_free(left);
        torch->model_free(right);
        orch_net_free(net);
    }
}

/* A watched training is the same to the bit, also after its groups were frozen and with parts. */
static void test_watching_changes_nothing(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_net *net = make_net(0, false);
    struct orch_torch_model *plain = make_model(net), *watched = make_model(net);
    struct orch_torch_batch batch = batch_of(0, COUNT);
    struct watch w = {0};
    watch(watched, 400, &w);
    watch(watched, 100, &w); /* replaces it */
    need(torch->train(plain, &batch, &error), error);
    need(torch->train(watched, &batch, &error), error);
    assert_int_equal(w.next, w.seen[0].count);
    assert_true(apart(plain, watched) == 0);
    for (int i = 0; i < 2; i++) {
        struct orch_torch_model *model = i ? watched : plain;
        torch->gradients_hold(model, true);
        w.next = 0;
        backward_own(model, 0, COUNT / 2);
        assert_int_equal(w.next, 0);
        torch->gradients_hold(model, false);
        backward_own(model, COUNT / 2, COUNT / 2);
        need(torch->update(model, &error), error);
    }
    assert_int_equal(w.next, w.seen[0].count);
    assert_true(apart(plain, watched) == 0);
    need(torch->gradients_watch(watched, 0, NULL, &error), error);
    w.next = 0;
    need(torch->train(watched, &batch, &error), error);
    assert_int_equal(w.next, 0);
    torch->model_free(plain);
    torch->model_free(watched);
    orch_net_free(net);
}

/* LibTorch's buckets are those of the plan that simulated trainings follow. */
static void test_buckets_follow_the_plan(void **state)
{
    (void)state;
    const struct orch_comm_bucket_sizes sizes[] = {{1, 400}, {400, 1}, {100, 1000}, {1, 1 << 20}};
    GError *error = NULL;
    struct orch_net *net = make_net(0, false);
    struct orch_torch_model *model = make_model(net);
    struct orch_torch_batch batch = batch_of(0, COUNT);
    size_t bytes[64], count = 0;
    for (size_t i = torch->tensor_count(model); i-- > 0;) {
        struct orch_torch_tensor t;
        torch->tensor_describe(model, i, &t);
        if (t.is_parameter)
            bytes[count++] = sizeof(float) * (size_t)t.count;
    }
    for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
        struct orch_comm_bucket plan[64];
        struct watch w = {0};
        struct orch_torch_bucket_calls calls = {on_ready, on_finish, &w};
        const size_t planned = orch_comm_plan(bytes, count, &sizes[s], plan);
        need(torch->gradients_watch_from(model, sizes[s].first_bytes, sizes[s].bytes, &calls,
                                         &error),
             error);
        need(torch->train(model, &batch, &error), error);
        assert_int_equal(w.next, planned);
        for (size_t b = 0; b < planned; b++)
            assert_int_equal(sizeof(float) * (size_t)w.seen[b].elements, plan[b].bytes);
    }
    torch->model_free(model);
    orch_net_free(net);
}

/* Parameters that no gradient reaches are in the buckets, as zeros. */
static void test_unreached_parameters_are_zero(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_net *net = make_net(0, true);
    struct orch_torch_model *model = make_model(net);
    struct orch_torch_batch batch = batch_of(0, COUNT);
    struct orch_torch_array outputs[3];
    struct watch w = {0};
    watch(model, 1, &w);
    need(torch->forward(model, &batch, ORCH_TORCH_TRAIN, false, outputs, &error), error);
    outputs[0].data = outputs[2].data = NULL;
    need(torch->backward(model, outputs, 3, &error), error);
    assert_int_equal(w.next, 10);
    assert_int_equal(w.elements, parameters_of(model));
    assert_int_equal(w.seen[0].elements, CLASSES); /* scores.bias: the last parameter comes first */
    for (int i = 0; i < CLASSES; i++)
        assert_true(w.seen[0].data[i] == 0);
    assert_int_equal(w.seen[9].elements, 6 * 9); /* conv.weight */
    assert_true(w.seen[9].data[0] != 0);
    torch->model_free(model);
    orch_net_free(net);
}

static void test_bad_buckets(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_net *net = make_net(0, false);
    struct orch_torch_model *model = make_model(net);
    struct orch_torch_batch batch = batch_of(0, COUNT);
    struct watch w = {.fails = true};
    struct orch_torch_bucket_calls calls = {on_ready, on_finish, &w};
    refused(torch->gradients_watch(model, 0, &calls, &error), &error, "bucket size of 0");
    watch(model, 400, &w);
    refused(torch->train(model, &batch, &error), &error, "rank 3 is gone");
    torch->model_free(model);
    orch_net_free(net);
}

/* ---- blend and several models -----------------------------------------------------------------
 */

static void test_blend(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_net *net = make_net(0, false), *other_net = make_net(0, true);
    struct orch_torch_model *a = make_model(net), *b = make_model(net), *c = make_model(other_net);
    struct orch_torch_batch batch = batch_of(0, COUNT);
    need(torch->train(b, &batch, &error), error);
    size_t count;
    g_autofree float *of_a = weights_of(a, &count), *of_b = weights_of(b, &count);
    need(torch->blend(a, b, 0.005, &error), error);
    g_autofree float *blended = weights_of(a, &count);
    for (size_t i = 0; i < count; i++)
        assert_true(
            fabs((double)blended[i] - (0.995 * (double)of_a[i] + 0.005 * (double)of_b[i])) <= 1e-7);
    need(torch->blend(a, b, 1, &error), error);
    assert_true(apart(a, b) == 0);
    refused(torch->blend(a, c, 0.5, &error), &error,
            "the destination has 'scores.weight' [5, 16], the source 'boxes.weight' [4, 6, 1, 1]");
    assert_true(apart(a, b) == 0);
    refused(torch->blend(a, b, 1.5, &error), &error, "alpha 1.5");
    torch->model_free(a);
    torch->model_free(b);
    torch->model_free(c);
    orch_net_free(net);
    orch_net_free(other_net);
}

/* Two models with dropout that train in turn get what each gets alone. */
static void test_models_in_turn(void **state)
{
    (void)state;
    GError *error = NULL;
    enum { MODELS = 2, STEPS = 4 };
    struct orch_net *net = make_net(0.5, false);
    struct orch_torch_model *alone[MODELS], *turn[MODELS];
    struct orch_torch_totals totals[MODELS][2];
    for (int k = 0; k < MODELS; k++) {
        struct orch_torch_batch batch = batch_of(k * 2, 2 + k);
        torch->seed(11);
        alone[k] = make_model(net);
        for (int step = 0; step < STEPS; step++)
            need(torch->train(alone[k], &batch, &error), error);
        need(torch->totals_take(alone[k], &totals[k][0], &error), error);
    }
    torch->seed(11);
    for (int k = 0; k < MODELS; k++)
        turn[k] = make_model(net);
    for (int step = 0; step < STEPS; step++)
        for (int k = 0; k < MODELS; k++) {
            struct orch_torch_batch batch = batch_of(k * 2, 2 + k);
            need(torch->train(turn[k], &batch, &error), error);
        }
    for (int k = 0; k < MODELS; k++) {
        need(torch->totals_take(turn[k], &totals[k][1], &error), error);
        assert_true(apart(alone[k], turn[k]) == 0);
        assert_memory_equal(&totals[k][0], &totals[k][1], sizeof totals[k][0]);
    }
    assert_true(apart(turn[0], turn[1]) > 0);
    for (int k = 0; k < MODELS; k++) {
        torch->model_free(alone[k]);
        torch->model_free(turn[k]);
    }
    orch_net_free(net);
}

static int load(void **state)
{
    (void)state;
    GError *error = NULL;
    torch = orch_torch_load(&error);
    if (!torch)
        print_error("%s\n", error->message);
    else
        torch->threads_set(1);
    return torch == NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_loss_is_the_built_in_one),
        cmocka_unit_test(test_gradients_accumulate_until_update),
        cmocka_unit_test(test_label_smoothing),
        cmocka_unit_test(test_shards_add_up),
        cmocka_unit_test(test_bad_goals),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_bad_gradients),
        cmocka_unit_test(test_ssd),
        cmocka_unit_test(test_halves_equal_the_whole),
        cmocka_unit_test(test_watching_changes_nothing),
        cmocka_unit_test(test_buckets_follow_the_plan),
        cmocka_unit_test(test_unreached_parameters_are_zero),
        cmocka_unit_test(test_bad_buckets),
        cmocka_unit_test(test_blend),
        cmocka_unit_test(test_models_in_turn),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
