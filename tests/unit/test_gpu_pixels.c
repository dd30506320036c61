/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPU's kernel makes the batches that the processor makes: every value of an epoch of
 * Fashion-MNIST (where it is installed) and of made-up images, for each list of transforms, in both
 * memory layouts. Needs a GPU; skipped, with the reason, where there is none. */
#include "plugins/common/torch/torch.h"

#include "lib/net/net.h"
#include "tests/unit/image_fixture.h"

#include <stdio.h>

enum { SKIPPED = 77, BATCH = 250, COPIES = 2 };

static const struct orch_torch *torch;
static struct orch_net *net;
static struct orch_torch_model *model;

static const struct {
    const char *texts[ORCH_TRANSFORM_KINDS];
    size_t count;
} LISTS[] = {
    {{NULL}, 0},
    {{"crop 4", "flip"}, 2},
    {{"cutout 8"}, 1},
    {{"erase 1"}, 1},
    {{"crop 4", "flip", "cutout 16", "erase 0.5", "normalise 0.5 0.25"}, 5},
};

/* Compares the next batch of both loaders. Returns its number of images, 0 at the end. */
static int64_t compare_batch(struct orch_loader *whole, struct orch_loader *plans,
                             struct orch_torch_images *images, int64_t values, bool channels_last,
                             float *made)
{
    struct orch_loader_batch a, b;
    struct orch_torch_batch batch;
    int64_t labels[BATCH * COPIES];
    GError *error = NULL;
    if (!orch_loader_next(whole, &a))
        return 0;
    assert_true(orch_loader_next(plans, &b));
    struct orch_torch_image_plans request = {.count = b.count,
                                             .rows = b.rows,
                                             .plans = b.plans,
                                             .table = orch_loader_table(plans),
                                             .labels = b.labels,
                                             .channels_last = channels_last};
    if (!torch->images_make(images, &request, &batch, &error) ||
        !torch->images_get(images, made, labels, &error))
        fail_msg("%s", error->message);
    assert_true(batch.is_on_device && batch.is_channels_last == channels_last);
    assert_memory_equal(labels, a.labels, sizeof *labels * (size_t)a.count);
    for (int64_t i = 0; i < a.count * values; i++)
        if (!(fabsf(made[i] - a.images[i]) <= 1e-6F))
            fail_msg("value %d of image %d of the batch: %g by the GPU, %g by the processor",
                     (int)(i % values), (int)(i / values), (double)made[i], (double)a.images[i]);
    return a.count;
}

static void compare_epoch(const struct orch_image_set *d, unsigned list, bool channels_last)
{
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    struct orch_loader_options options = {.batch = BATCH,
                                          .threads = 2,
                                          .shuffle = true,
                                          .channels_last = channels_last,
                                          .copies = COPIES,
                                          .seed = 3};
    assert_true(orch_transforms_parse(LISTS[list].texts, LISTS[list].count, d->width, d->height,
                                      &options.transforms, NULL));
    struct orch_loader *whole = loader_of(s, options);
    options.plans_only = true;
    struct orch_loader *plans = loader_of(s, options);
    struct orch_torch_image_bytes bytes = {
        .bytes = d->images, .count = d->count, .shape = {d->channels, d->height, d->width}};
    GError *error = NULL;
    struct orch_torch_images *images = torch->images_new(model, &bytes, &error);
    if (!images)
        fail_msg("%s", error->message);
    const int64_t values = (int64_t)d->channels * d->height * d->width;
    g_autofree float *made = g_new(float, BATCH *COPIES *values);
    int64_t done = 0, count;
    orch_loader_start(whole, 1);
    orch_loader_start(plans, 1);
    while ((count = compare_batch(whole, plans, images, values, channels_last, made)) > 0)
        done += count;
    assert_int_equal(done, COPIES * d->count);
    torch->images_free(images);
    orch_loader_free(whole);
    orch_loader_free(plans);
    orch_subset_free(s);
}

static void compare_set(struct orch_image_set *d)
{
    for (unsigned list = 0; list < G_N_ELEMENTS(LISTS); list++)
        for (int channels_last = 0; channels_last < 2; channels_last++)
            compare_epoch(d, list, channels_last);
    orch_image_set_free(d);
}

static void test_fashion_mnist(void **state)
{
    (void)state;
    struct orch_image_set_options options = {.name = "fashion-mnist"};
    struct orch_image_set *d = orch_image_set_open(&options, NULL);
    if (!d)
        skip();
    compare_set(d);
}

static void test_made_up_images(void **state)
{
    (void)state;
    static const int SIDES[] = {32, 64};
    for (unsigned i = 0; i < G_N_ELEMENTS(SIDES); i++) {
        struct orch_image_set_options options = {.name = "synthetic",
                                                 .channels = 3,
                                                 .height = SIDES[i],
                                                 .width = SIDES[i],
                                                 .synthetic_count = 2111,
                                                 .synthetic_classes = 10};
        compare_set(orch_image_set_open(&options, NULL));
    }
    compare_set(noise_set(3, 29, 43));
}

/* What cannot be made is refused, and the model still works. */
static void test_refusals(void **state)
{
    (void)state;
    struct orch_image_set *d = noise_set(1, 8, 8);
    struct orch_torch_image_bytes bytes = {
        .bytes = d->images, .count = d->count, .shape = {1, 8, 8}};
    struct orch_torch_images *images = torch->images_new(model, &bytes, NULL);
    const struct orch_transform_plan plan = {0};
    struct orch_transform_table table = {{{0}}};
    const int64_t row = d->count, label = 0;
    struct orch_torch_image_plans request = {
        .count = 1, .rows = &row, .plans = &plan, .table = &table, .labels = &label};
    struct orch_torch_batch batch;
    GError *error = NULL;
    float values[64];
    int64_t left = 0, total = 0;
    assert_non_null(images);
    assert_false(torch->images_get(images, values, NULL, &error));
    assert_refused(&error, ORCH_ERROR_TRIAL, "no batch was made");
    assert_false(torch->images_make(images, &request, &batch, &error));
    assert_refused(&error, ORCH_ERROR_TRIAL, "image 53 of a set of 53");
    assert_true(torch->gpu_memory(model, &left, &total, NULL));
    assert_true(left > 0 && left <= total);
    torch->images_free(images);
    orch_image_set_free(d);
}

static int skip_because(const char *reason)
{
    printf("skipped: %s\n", reason);
    return SKIPPED;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fashion_mnist),
        cmocka_unit_test(test_made_up_images),
        cmocka_unit_test(test_refusals),
    };
    GError *error = NULL;
    int64_t left, total;
    torch = orch_torch_load(&error);
    if (!torch)
        return skip_because(error->message);
    if (torch->cuda_count() == 0)
        return skip_because("no CUDA device");
    struct orch_net_options options = {
        .name = "mlp:8", .channels = 1, .height = 8, .width = 8, .classes = 10};
    net = orch_net_make(&options, &error);
    model = torch->model_new(net, &(struct orch_torch_setup){.device = "cuda"}, &error);
    if (!model || !torch->gpu_memory(model, &left, &total, &error))
        return skip_because(error->message);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    torch->model_free(model);
    orch_net_free(net);
    return failed;
}
