/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The adapter: every network learns a step, optimizers do their arithmetic, a resumed training goes
 * on bit by bit, and torchvision's resnet18 gives torchvision's output. */
#include "tests/unit/checkpoint_file.h"
#include "tests/unit/tensor_find.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static const struct orch_torch *torch;

static void stop_on(GError *error)
{
    if (error)
        fail_msg("%s", error->message);
}

static struct orch_net *make_net(const char *name, int64_t c, int64_t side, int64_t classes)
{
    GError *error = NULL;
    struct orch_net_options options = {
        .name = name, .channels = c, .height = side, .width = side, .classes = classes};
    struct orch_net *net = orch_net_make(&options, &error);
    stop_on(error);
    return net;
}

static struct orch_torch_model *make_empty(const struct orch_net *net)
{
    GError *error = NULL;
    struct orch_torch_setup setup = {"cpu", ORCH_TORCH_FP32, true};
    struct orch_torch_model *model = torch->model_new(net, &setup, &error);
    stop_on(error);
    return model;
}

static struct orch_torch_model *make_model(const struct orch_net *net)
{
    GError *error = NULL;
    struct orch_torch_model *model = make_empty(net);
    assert_true(orch_torch_init(torch, model, net, 7, &error));
    return model;
}

static float *make_images(int64_t count)
{
    float *images = g_new(float, count);
    for (int64_t i = 0; i < count; i++)
        images[i] = (float)sin((double)i * 0.7);
    return images;
}

static void set_sgd(struct orch_torch_model *model, double momentum, bool nesterov, double decay,
                    int frozen)
{
    GError *error = NULL;
    struct orch_torch_optimizer optimizer = {.method = ORCH_TORCH_SGD,
                                             .momentum = momentum,
                                             .nesterov = nesterov,
                                             .weight_decay = decay,
                                             .frozen_groups = frozen};
    assert_true(torch->optimizer_set(model, &optimizer, &error));
}

/* Smaller than its own where the network allows: the test is about layers, not about size. */
static struct orch_net *make_small(const struct orch_net_family *f)
{
    const char *name = strcmp(f->pattern, "mlp:SIZES") == 0               ? "mlp:16"
                       : strcmp(f->pattern, "resnet-cifar:N") == 0        ? "resnet-cifar:8"
                       : strcmp(f->pattern, "airbench:WIDTHS") == 0       ? "airbench:4,6,8"
                       : strcmp(f->pattern, "airbench-relu:WIDTHS") == 0  ? "airbench-relu:4,6,8"
                       : strcmp(f->pattern, "airbench-small:WIDTHS") == 0 ? "airbench-small:4,6"
                                                                          : f->pattern;
    const int64_t sides[] = {16, 32, 64, 96, 160, 224};
    for (unsigned i = 0; i < G_N_ELEMENTS(sides) && sides[i] < f->input.h; i++) {
        struct orch_net_options options = {.name = name,
                                           .channels = f->input.c,
                                           .height = sides[i],
                                           .width = sides[i],
                                           .classes = 7};
        struct orch_net *net = orch_net_make(&options, NULL);
        if (net)
            return net;
    }
    return make_net(name, f->input.c, f->input.h, 7);
}

/* Weights as orch_torch_init's in size, which repeat in large tensors: most networks have tens of
 * millions, and drawing them takes longer than a step. */
static void init_quickly(struct orch_torch_model *model, const struct orch_net *net)
{
    enum { PERIOD = 1 << 12 };
    for (guint i = 0; i < net->tensors->len; i++) {
        const struct orch_net_tensor *tensor = orch_net_tensor(net, (int)i);
        g_autofree float *values = g_new(float, tensor->count);
        for (int64_t j = 0; j < tensor->count; j++)
            values[j] = j >= PERIOD                          ? values[j - PERIOD]
                        : tensor->init == ORCH_NET_INIT_ZERO ? 0
                        : tensor->init == ORCH_NET_INIT_ONE
                            ? 1
                            : (float)(1.4 * sin((double)(j * j) * 0.7 + i) * tensor->init_scale);
        assert_true(torch->tensor_set(model, i, values, NULL));
    }
}

static void learn_a_step(const struct orch_net *net)
{
    struct orch_torch_model *model = make_empty(net);
    int64_t size = net->input.c * net->input.h * net->input.w;
    g_autofree float *images = make_images(2 * size);
    const int64_t labels[] = {1, 6};
    struct orch_torch_batch batch = {.images = images, .labels = labels, .count = 2};
    struct orch_torch_totals totals;
    GError *error = NULL;
    init_quickly(model, net);
    set_sgd(model, 0.9, false, 1e-4, 0);
    torch->rate_set(model, 0.01);
    assert_true(torch->train(model, &batch, &error) || (stop_on(error), false));
    assert_true(torch->totals_take(model, &totals, &error));
    assert_int_equal(totals.images, 2);
    /* 0 may be: without batch norm the first logits are so far apart that both labels may be met */
    if (!isfinite(totals.loss) || totals.loss < 0)
        fail_msg("%s: loss %g", net->name, totals.loss);
    torch->model_free(model);
}

/* A layer as the adapter sees it, whatever its size: its attributes, and what it reads. */
static char *layer_kind(const struct orch_net *net, const struct orch_net_node *n)
{
    const int groups = n->groups <= 1 ? 1 : n->groups == n->in_channels ? 3 : 2;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%d k%dx%d s%dx%d p%dx%d d%d g%d b%d c%d a%d:", n->op, n->kernel_h,
                           n->kernel_w, n->stride_h, n->stride_w, n->pad_h, n->pad_w, n->dilation,
                           groups, n->has_bias, n->ceil_mode, n->is_auxiliary);
    for (int i = 0; i < n->input_count; i++) {
        const struct orch_net_node *read = orch_net_node(net, n->inputs[i]);
        g_string_append_printf(text, " %d b%d", read->op, read->has_bias);
    }
    return g_string_free(text, FALSE);
}

/* Adds the kinds of the network's layers; false if all were there. */
static bool has_new_layers(const struct orch_net *net, GHashTable *kinds)
{
    bool is_new = false;
    for (guint i = 0; i < net->nodes->len; i++)
        is_new |= g_hash_table_add(kinds, layer_kind(net, orch_net_node(net, (int)i)));
    return is_new;
}

/* Deeper and wider siblings, whose layers the networks before them have, too, are left out: VGG19
 * after VGG11, which has 130 million weights. */
static void test_every_classifier_learns_a_step(void **state)
{
    (void)state;
    g_autoptr(GHashTable) kinds = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GString) left_out = g_string_new(NULL);
    for (const struct orch_net_family *f = orch_net_families(); f->pattern; f++) {
        struct orch_net *net = f->is_classifier ? make_small(f) : NULL;
        if (net && has_new_layers(net, kinds))
            learn_a_step(net);
        else if (net)
            g_string_append_printf(left_out, " %s", net->name);
        orch_net_free(net);
    }
    print_message("left out, as others have their layers:%s\n", left_out->str);
}

static void test_what_is_only_counted_is_refused(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_net *net = make_net("bert-base", 0, 0, 0);
    struct orch_torch_setup setup = {"cpu", ORCH_TORCH_FP32, false};
    assert_null(torch->model_new(net, &setup, &error));
    assert_non_null(strstr(error->message, "only be counted"));
    g_error_free(error);
    orch_net_free(net);
}

/* The first weights of a tensor. */
static float weight_of(struct orch_torch_model *model, const struct orch_net *net, const char *name)
{
    int index = tensor_find(net, name);
    g_autofree float *values = g_new(float, orch_net_tensor(net, index)->count);
    assert_true(torch->tensor_get(model, (size_t)index, values, NULL));
    return values[0];
}

/* With a rate so small that the gradient g stays what it is, three steps move a weight by
 * rate * g * sum: what the momentum makes of it is known by hand. Tolerance 2 %: float32. */
static double moved(double momentum, bool nesterov, double decay)
{
    struct orch_net *net = make_net("mlp:4", 1, 4, 3);
    struct orch_torch_model *model = make_model(net);
    g_autofree float *images = make_images(4 * 16);
    const int64_t labels[] = {0, 1, 2, 0};
    struct orch_torch_batch batch = {.images = images, .labels = labels, .count = 4};
    set_sgd(model, momentum, nesterov, decay, 0);
    torch->rate_set(model, 1e-3);
    float before = weight_of(model, net, "fc.weight");
    for (int i = 0; i < 3; i++)
        assert_true(torch->train(model, &batch, NULL));
    double change = (double)(weight_of(model, net, "fc.weight") - before);
    torch->model_free(model);
    orch_net_free(net);
    return change;
}

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 0.02 * fabs(expected)))
        fail_msg("found %g, expected %g", found, expected);
}

static void test_sgd(void **state)
{
    (void)state;
    double plain = moved(0, false, 0) / 3; /* -rate * g */
    assert_true(plain != 0);
    near(moved(0.9, false, 0), plain * (1 + 1.9 + 2.71));
    near(moved(0.9, true, 0), plain * (1.9 + 2.71 + 3.439));
    struct orch_net *net = make_net("mlp:4", 1, 4, 3);
    struct orch_torch_model *model = make_model(net);
    double weight = (double)weight_of(model, net, "fc.weight");
    near(moved(0, false, 0.5) - moved(0, false, 0), -3 * 1e-3 * 0.5 * weight);
    torch->model_free(model);
    orch_net_free(net);
}

static void test_frozen_layers_stay(void **state)
{
    (void)state;
    struct orch_net *net = make_net("resnet-cifar:8", 1, 28, 5);
    struct orch_torch_model *model = make_model(net);
    g_autofree float *images = make_images(4 * 784);
    const int64_t labels[] = {0, 1, 2, 3};
    struct orch_torch_batch batch = {.images = images, .labels = labels, .count = 4};
    static const char *const still[] = {"conv1.weight", "layer3.0.conv2.weight",
                                        "bn1.running_mean"};
    float before[3], head = weight_of(model, net, "fc.weight");
    for (int i = 0; i < 3; i++)
        before[i] = weight_of(model, net, still[i]);
    set_sgd(model, 0.9, false, 1e-2, net->group_count - 1);
    torch->rate_set(model, 0.1);
    assert_true(torch->train(model, &batch, NULL));
    for (int i = 0; i < 3; i++)
        assert_true(weight_of(model, net, still[i]) == before[i]);
    assert_true(weight_of(model, net, "fc.weight") != head);
    /* the head trained on features gives what the frozen whole gives */
    g_autofree float *features = g_new(float, 4 * torch->feature_count(model));
    float direct[20], through[20];
    assert_true(torch->features(model, &batch, features, NULL));
    assert_true(torch->logits(model, &batch, direct, NULL));
    batch.input = ORCH_TORCH_FEATURES;
    batch.images = features;
    assert_true(torch->logits(model, &batch, through, NULL));
    for (int i = 0; i < 20; i++)
        assert_true(fabsf(direct[i] - through[i]) < 1e-5F);
    torch->model_free(model);
    orch_net_free(net);
}

/* Trains `steps` steps, saving after `save_after` and going on in a new model when that is > 0. */
static void train_and_copy(int steps, int save_after, const char *path, float *out)
{
    struct orch_net *net = make_net("resnet-cifar:8", 1, 12, 3);
    struct orch_torch_model *model = make_model(net);
    g_autofree float *images = make_images(6 * 144);
    const int64_t labels[] = {0, 1, 2, 0, 1, 2};
    struct orch_torch_batch batch = {.images = images, .labels = labels, .count = 6};
    struct orch_torch_progress progress = {3, 0.5, 2};
    GError *error = NULL;
    set_sgd(model, 0.9, true, 1e-3, 0);
    for (int i = 0; i < steps; i++) {
        if (i == save_after && i) {
            assert_true(checkpoint_save(torch, model, &progress, path, &error));
            torch->model_free(model);
            model = make_model(net);
            set_sgd(model, 0.9, true, 1e-3, 0);
            memset(&progress, 0, sizeof progress);
            assert_true(checkpoint_load(torch, model, path, &progress, &error));
            assert_int_equal(progress.epoch, 3);
            assert_int_equal(progress.best_epoch, 2);
        }
        torch->rate_set(model, 0.05);
        assert_true(torch->train(model, &batch, &error));
    }
    int index = tensor_find(net, "layer2.0.conv1.weight");
    assert_true(torch->tensor_get(model, (size_t)index, out, &error));
    torch->model_free(model);
    orch_net_free(net);
}

static void test_resume_goes_on_bit_by_bit(void **state)
{
    (void)state;
    torch->threads_set(1);
    g_autofree char *folder = g_dir_make_tmp("orch-torch-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "checkpoint", NULL);
    float whole[32 * 16 * 9], parts[32 * 16 * 9];
    train_and_copy(6, 0, path, whole);
    train_and_copy(6, 3, path, parts);
    assert_memory_equal(whole, parts, sizeof whole);
    GError *error = NULL;
    struct orch_torch_progress progress;
    struct orch_net *net = make_net("mlp:4", 1, 4, 3);
    struct orch_torch_model *model = make_model(net);
    assert_false(checkpoint_load(torch, model, path, &progress, &error));
    assert_non_null(strstr(error->message, "does not fit"));
    g_clear_error(&error);
    assert_false(checkpoint_load(torch, model, "/nowhere", &progress, &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_NOT_FOUND));
    g_clear_error(&error);
    torch->model_free(model);
    orch_net_free(net);
    orch_tree_remove(folder, NULL);
}

static void test_torchvision(void **state)
{
    (void)state;
    g_autofree char *folder = g_dir_make_tmp("orch-torch-XXXXXX", NULL);
    g_autofree char *script =
        g_build_filename(g_getenv("ORCH_SOURCE_DIR"), "tests/torch/reference.py", NULL);
    static const char *const pythons[] = {"python3", "/usr/bin/python3"};
    int status = -1;
    for (size_t i = 0; status != 0 && i < G_N_ELEMENTS(pythons); i++) {
        char *argv[] = {(char *)(uintptr_t)pythons[i], script, folder, NULL};
        if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL,
                          NULL, NULL, NULL, &status, NULL))
            status = -1;
    }
    if (status != 0) {
        print_message("skipped: no python3 with torchvision\n");
        orch_tree_remove(folder, NULL);
        skip();
    }
    GError *error = NULL;
    enum { SIDE = 96, COUNT = 2 };
    g_autofree char *weights_path = g_build_filename(folder, "weights.pth", NULL);
    g_autofree char *x_path = g_build_filename(folder, "x.bin", NULL);
    g_autofree char *y_path = g_build_filename(folder, "y.bin", NULL);
    g_autofree char *x = NULL, *y = NULL;
    assert_true(orch_file_read(x_path, 1 << 24, &x, NULL, &error));
    assert_true(orch_file_read(y_path, 1 << 24, &y, NULL, &error));
    struct orch_net *net = make_net("resnet18", 3, SIDE, 1000);
    struct orch_torch_model *model = make_model(net);
    struct orch_weights *weights = orch_weights_load(weights_path, &error);
    stop_on(error);
    struct orch_torch_load_report report;
    assert_true(orch_torch_state_load(torch, model, net, weights, false, &report, &error) ||
                (stop_on(error), false));
    assert_int_equal(report.missing->len + report.extra->len + report.mismatched->len, 0);
    orch_torch_load_report_clear(&report);
    struct orch_torch_batch batch = {.images = x, .count = COUNT};
    g_autofree float *out = g_new(float, COUNT * 1000);
    assert_true(torch->logits(model, &batch, out, &error));
    double worst = 0;
    for (int i = 0; i < COUNT * 1000; i++)
        worst = fmax(worst, fabs((double)out[i] - (double)((const float *)(const void *)y)[i]));
    if (worst > 1e-4)
        fail_msg("largest difference from torchvision: %g", worst);
    orch_weights_free(weights);
    torch->model_free(model);
    orch_net_free(net);
    orch_tree_remove(folder, NULL);
}

static void test_errors(void **state)
{
    (void)state;
    struct orch_net *net = make_net("mlp:4", 1, 4, 3);
    GError *error = NULL;
    struct orch_torch_setup setup = {"tpu7", ORCH_TORCH_FP32, false};
    assert_null(torch->model_new(net, &setup, &error));
    assert_non_null(error);
    g_clear_error(&error);
    struct orch_torch_model *model = make_model(net);
    g_autofree float *images = make_images(16);
    const int64_t labels[] = {3};
    struct orch_torch_batch batch = {.images = images, .labels = labels, .count = 1};
    set_sgd(model, 0, false, 0, 0);
    assert_false(torch->train(model, &batch, &error));
    assert_non_null(strstr(error->message, "label 3"));
    g_clear_error(&error);
    torch->model_free(model);
    orch_net_free(net);
}

static int load(void **state)
{
    (void)state;
    GError *error = NULL;
    torch = orch_torch_load(&error);
    if (!torch)
        print_error("%s\n", error->message);
    return torch == NULL;
}

/* A model on the processor has no use for images in a GPU's memory. */
static void test_images_need_a_gpu(void **state)
{
    (void)state;
    static const uint8_t bytes[2 * 16];
    struct orch_net *net = make_net("mlp:4", 1, 4, 3);
    struct orch_torch_model *model = make_model(net);
    struct orch_torch_image_bytes images = {.bytes = bytes, .count = 2, .shape = {1, 4, 4}};
    int64_t left = -7, total = -7;
    GError *error = NULL;
    assert_null(torch->images_new(model, &images, &error));
    assert_non_null(strstr(error->message, "the model is not on a GPU"));
    g_clear_error(&error);
    assert_false(torch->gpu_memory(model, &left, &total, &error));
    assert_non_null(strstr(error->message, "the model is not on a GPU"));
    assert_true(left == -7 && total == -7);
    g_clear_error(&error);
    torch->model_free(model);
    orch_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_classifier_learns_a_step),
        cmocka_unit_test(test_what_is_only_counted_is_refused),
        cmocka_unit_test(test_sgd),
        cmocka_unit_test(test_frozen_layers_stay),
        cmocka_unit_test(test_resume_goes_on_bit_by_bit),
        cmocka_unit_test(test_torchvision),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_images_need_a_gpu),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
