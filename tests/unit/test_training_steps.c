/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps: a plugin's own, reduced gradients, the loss by step, and CUDA graphs. */
#include "tests/unit/training_fixture.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "plugins/common/torch/torch.h"
#include "plugins/common/training/epochs.h"
#include "tests/torch/recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---- parts of a plugin's own ------------------------------------------------------------------
 */

/* A step of a plugin's own: softmax cross-entropy, as the built-in loss. */
struct own_loss {
    int *calls;
    struct orch_torch_totals totals;
};

static bool cross_entropy(struct own_loss *own, const struct orch_torch_batch *batch,
                          const struct orch_torch_array *outputs, float *gradients, GError **error)
{
    int64_t classes = outputs[0].shape[1];
    if (++*own->calls < 0) {
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "the loss has no value");
        return false;
    }
    for (int64_t i = 0; i < batch->count; i++) {
        const float *scores = outputs[0].data + i * classes;
        double sum = 0;
        for (int64_t c = 0; c < classes; c++)
            sum += exp((double)scores[c]);
        for (int64_t c = 0; c < classes; c++)
            gradients[i * classes + c] =
                (float)((exp((double)scores[c]) / sum - (c == batch->labels[i])) /
                        (double)batch->count);
        own->totals.loss += log(sum) - (double)scores[batch->labels[i]];
    }
    own->totals.images += batch->count;
    return true;
}

static bool learn_own(void *ctx, const struct orch_session *s, const struct orch_torch_batch *batch,
                      GError **error)
{
    struct orch_torch_array output = {0};
    assert_int_equal(s->torch->output_count(s->model), 1);
    if (!s->torch->forward(s->model, batch, ORCH_TORCH_TRAIN, false, &output, error))
        return false;
    g_autofree float *values = g_new0(float, batch->count *output.shape[1]);
    struct orch_torch_array gradient = output;
    gradient.data = values;
    return cross_entropy(ctx, batch, &output, values, error) &&
           s->torch->backward(s->model, &gradient, 1, error) && s->torch->update(s->model, error);
}

static bool take_own(void *ctx, const struct orch_session *s, struct orch_torch_totals *out,
                     GError **error)
{
    struct own_loss *own = ctx;
    (void)s;
    (void)error;
    *out = own->totals;
    own->totals = (struct orch_torch_totals){0};
    return true;
}

static struct orch_step *own_step(void *ctx, const struct orch_session *session, GError **error)
{
    struct orch_step *step = g_new0(struct orch_step, 1);
    struct own_loss *own = g_new0(struct own_loss, 1);
    (void)session;
    (void)error;
    own->calls = ctx;
    *step = (struct orch_step){.ctx = own, .learn = learn_own, .take = take_own, .free = g_free};
    return step;
}

static bool pass_on(void *ctx, const struct orch_torch_bucket *bucket, GError **error)
{
    (void)error;
    *(int64_t *)ctx += bucket->elements;
    return true;
}

struct reduction {
    size_t bucket_bytes;
    int64_t elements; /* reduced so far */
};

static struct orch_step *reduced_step(void *ctx, const struct orch_session *session, GError **error)
{
    struct reduction *reduction = ctx;
    struct orch_torch_bucket_calls calls = {.ready = pass_on, .ctx = &reduction->elements};
    return orch_step_reduced(orch_step_classify(), session, reduction->bucket_bytes,
                             reduction->bucket_bytes, &calls, error);
}

static void test_own_steps(void **state)
{
    (void)state;
    struct orch_training t = training_fixture_usual();
    int calls = 0;
    struct reduction reduction = {.bucket_bytes = 64};
    const struct orch_training_parts parts[] = {
        {0}, {.ctx = &calls, .step = own_step}, {.ctx = &reduction, .step = reduced_step}};
    double losses[3];
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        struct recorder r;
        recorder_init(&r);
        assert_int_equal(recorder_train(&r, &t, &parts[i]), ORCH_OK);
        losses[i] = recorder_point(&r, "train_loss", 3);
        recorder_clear(&r);
    }
    assert_int_equal(calls, 20); /* 4 epochs of 5 batches */
    assert_true(fabs(losses[0] - losses[1]) < 1e-6);
    assert_true(losses[0] == losses[2]);
    assert_true(reduction.elements > 0);
    struct recorder r;
    recorder_init(&r);
    calls = -1000;
    assert_int_equal(recorder_train(&r, &t, &parts[1]), ORCH_FAILED);
    assert_non_null(strstr(r.failure->str, "the loss has no value"));
    reduction.bucket_bytes = 0;
    assert_int_equal(recorder_train(&r, &t, &parts[2]), ORCH_FAILED);
    assert_non_null(strstr(r.failure->str, "bucket"));
    recorder_clear(&r);
}

/* ---- the loss by step -------------------------------------------------------------------------
 */

/* 70 steps an epoch, eight a point on any device: points span the ends of epochs. */
enum { POINT_EPOCHS = 41, POINT_STEPS = 70, CANCELLED_STEPS = 173 };

static struct orch_training many_steps(const char *device)
{
    struct orch_training t = training_fixture_usual();
    t.device = device;
    t.epochs = POINT_EPOCHS;
    t.per_class = 7;
    t.batch = 1;
    t.lr = 0.01;
    t.checkpoint_every = 0;
    return t;
}

static GString *step_losses; /* "STEP BITS" for each point */

static void keep_step_loss(const struct recorder *r, const char *name, int64_t step, double value)
{
    (void)r;
    if (g_str_equal(name, "step_loss"))
        g_string_append_printf(step_losses, "%" G_GINT64_FORMAT " %a\n", step, value);
}

static int train_keeping(const struct orch_training *t, const struct orch_training_parts *parts,
                         int cancel_after, const char *checkpoints)
{
    struct recorder r;
    recorder_init(&r);
    r.on_number = keep_step_loss;
    r.cancel_after = cancel_after;
    r.checkpoints = checkpoints;
    int status = recorder_train(&r, t, parts);
    recorder_clear(&r);
    return status;
}

/* Cancels a training in the middle of its third epoch and resumes it. Returns the points of both
 * attempts; the caller frees. */
static char *interrupted_series(const char *device, const struct orch_training_parts *parts)
{
    struct orch_training t = many_steps(device);
    g_autofree char *path = g_build_filename(training_fixture_folder, "training.safetensors", NULL);
    step_losses = g_string_new(NULL);
    assert_int_equal(train_keeping(&t, parts, 15, training_fixture_folder), ORCH_CANCELLED);
    assert_non_null(strstr(step_losses->str, "\n168 0x"));
    assert_null(strstr(step_losses->str, "\n176 0x")); /* after CANCELLED_STEPS */
    g_string_append(step_losses, "resumed\n");
    assert_int_equal(train_keeping(&t, parts, 0, training_fixture_folder), ORCH_OK);
    assert_non_null(strstr(step_losses->str, "\n2870 0x"));
    unlink(path);
    return g_string_free(g_steal_pointer(&step_losses), FALSE);
}

/* The log names the reads of the totals by the steps before them: all lie at the ends of epochs, or
 * where the training was cancelled. */
static void expect_reads_after_epochs(const char *path)
{
    g_autofree char *text = NULL;
    int reads = 0;
    assert_true(orch_file_read(path, 1 << 20, &text, NULL, NULL));
    for (const char *at = text; (at = strstr(at, "totals_take ")); reads++) {
        at += strlen("totals_take ");
        int64_t steps = g_ascii_strtoll(at, NULL, 10);
        if (steps % POINT_STEPS && steps != CANCELLED_STEPS)
            fail_msg("the totals were read after step %d", (int)steps);
    }
    assert_true(reads > POINT_EPOCHS);
}

/* A GPU has the processor's points, with the same bits, and is not waited for within an epoch. */
static void test_points_do_not_wait(void **state)
{
    (void)state;
    int calls = 0;
    struct reduction reduction = {.bucket_bytes = 64};
    const struct orch_training_parts parts[] = {
        {0}, {.ctx = &reduction, .step = reduced_step}, {.ctx = &calls, .step = own_step}};
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        g_autofree char *log = g_build_filename(training_fixture_folder, "points.log", NULL);
        g_autofree char *on_cpu = interrupted_series("cpu", &parts[i]);
        g_setenv("TINY_TORCH_LOG", log, TRUE);
        g_autofree char *on_gpu = interrupted_series("cuda", &parts[i]);
        g_unsetenv("TINY_TORCH_LOG");
        assert_string_equal(on_cpu, on_gpu);
        expect_reads_after_epochs(log);
        unlink(log);
    }
    g_unsetenv("TINY_TORCH_CUDA");
}

/* An epoch that fails reports the points until then, and its own error. */
static void test_points_of_an_epoch_that_fails(void **state)
{
    (void)state;
    static const struct {
        const char *fault, *last; /* the last point */
    } CASES[] = {{"train:100", "\n96 0x"}, {"totals_mark:5", "32 0x"}};
    struct orch_training t = many_steps("cuda");
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    for (unsigned i = 0; i < G_N_ELEMENTS(CASES); i++) {
        struct recorder r;
        recorder_init(&r);
        r.on_number = keep_step_loss;
        step_losses = g_string_new(NULL);
        g_setenv("TINY_TORCH_FAIL", CASES[i].fault, TRUE);
        assert_int_equal(recorder_train(&r, &t, NULL), ORCH_FAILED);
        g_unsetenv("TINY_TORCH_FAIL");
        assert_non_null(strstr(r.failure->str, "failed on purpose"));
        const char *last = strstr(step_losses->str, CASES[i].last);
        assert_non_null(last);
        assert_true(strchr(last + 1, '\n')[1] == '\0');
        g_string_free(g_steal_pointer(&step_losses), TRUE);
        recorder_clear(&r);
    }
    g_unsetenv("TINY_TORCH_CUDA");
}

/* Trains with graphs on a GPU; returns the result cuda_graphs. `note` is in the notes as often as
 * `count` says. */
static double train_with_graphs(const struct orch_training_parts *parts, const char *note,
                                int count)
{
    struct recorder r;
    struct orch_training t = training_fixture_usual();
    t.device = "cuda";
    t.graphs = "on";
    recorder_init(&r);
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    assert_int_equal(recorder_train(&r, &t, parts), ORCH_OK);
    g_unsetenv("TINY_TORCH_CUDA");
    const char *at = r.notes->str;
    for (; (at = strstr(at, note)); at++)
        count--;
    assert_int_equal(count, 0);
    double replayed = recorder_result(&r, "cuda_graphs");
    recorder_clear(&r);
    return replayed;
}

/* Steps are replayed where the usual step runs, and the reason why not is noted once. */
static void test_graphs(void **state)
{
    (void)state;
    const char *note = "without CUDA graphs: ";
    int calls = 0;
    struct reduction reduction = {.bucket_bytes = 64};
    const struct orch_training_parts own = {.ctx = &calls, .step = own_step},
                                     reduced = {.ctx = &reduction, .step = reduced_step};
    assert_true(train_with_graphs(NULL, note, 0) > 0);
    assert_false(train_with_graphs(&own, "the plugin has a step of its own", 1) > 0);
    assert_false(train_with_graphs(&reduced, "gradients are read in buckets", 1) > 0);
    g_setenv("TINY_TORCH_CAPTURE", "fail", TRUE);
    assert_false(train_with_graphs(NULL, note, 1) > 0);
    g_unsetenv("TINY_TORCH_CAPTURE");
    struct orch_training t = training_fixture_usual();
    t.graphs = "on";
    training_fixture_fails(&t, ORCH_FAILED,
                           "'graphs: on' needs a GPU, but 'device: auto' found none");
}

/* The same transforms in either spelling give the same losses; others do not; a normalisation with
 * values of its own holds for validation, too. */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_steps),
        cmocka_unit_test(test_points_do_not_wait),
        cmocka_unit_test(test_points_of_an_epoch_that_fails),
        cmocka_unit_test(test_graphs),
    };
    return cmocka_run_group_tests(tests, training_fixture_begin, training_fixture_end);
}
