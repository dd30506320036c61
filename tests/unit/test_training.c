/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The training loop and the model's files, on tests/plugins/tiny_torch.c in place of LibTorch: what
 * is reported at each step and epoch, where a resumed training begins, and which error of which
 * part ends it. */
#include "plugins/common/torch/torch.h"
#include "plugins/common/training/epochs.h"
#include "plugins/common/training/training.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/net/net.h"
#include "plugins/common/weights/weights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TRAIN = 80, TEST = 40, SIDE = 28 };

static char *folder;

/* ---- a host that remembers --------------------------------------------------------------------
 */

struct record {
    struct orch_host host;
    GHashTable *results; /* name -> double * */
    GHashTable *series;  /* name -> GArray of double */
    GString *notes, *failure, *artifacts, *inputs;
    const char *checkpoints;
    bool is_smoke;
    int cancel_after; /* calls of progress; 0: never */
    int progress_calls;
};

static struct record *of(const struct orch_host *host)
{
    return host->ctx;
}

static void on_metric(const struct orch_host *host, const char *name, int64_t step, double value)
{
    GArray *series = g_hash_table_lookup(of(host)->series, name);
    (void)step;
    if (!series) {
        series = g_array_new(FALSE, FALSE, sizeof(double));
        g_hash_table_insert(of(host)->series, g_strdup(name), series);
    }
    g_array_append_val(series, value);
}

static void on_result(const struct orch_host *host, const char *name, double value)
{
    g_hash_table_insert(of(host)->results, g_strdup(name), g_memdup2(&value, sizeof value));
}

static void on_progress(const struct orch_host *host, double done, double total)
{
    assert_true(done <= total);
    of(host)->progress_calls++;
}

static void on_phase(const struct orch_host *host, const char *name)
{
    (void)host;
    (void)name;
}

static void on_artifact(const struct orch_host *host, const char *name, const char *path)
{
    assert_int_equal(access(path, R_OK), 0);
    g_string_append_printf(of(host)->artifacts, "%s ", name);
}

static void on_note(const struct orch_host *host, const char *text)
{
    g_string_append_printf(of(host)->notes, "%s\n", text);
}

static void on_fail(const struct orch_host *host, const char *text)
{
    g_string_assign(of(host)->failure, text);
}

static bool on_cancelled(const struct orch_host *host)
{
    return of(host)->cancel_after && of(host)->progress_calls >= of(host)->cancel_after;
}

static uint64_t on_derive_seed(const struct orch_host *host, const char *stream)
{
    (void)host;
    return g_str_hash(stream);
}

static void on_slot(const struct orch_host *host, struct orch_slot *out)
{
    (void)host;
    out->threads = 1;
}

static const char *on_checkpoint_dir(const struct orch_host *host)
{
    return of(host)->checkpoints;
}

static void on_input(const struct orch_host *host, const char *name, const char *sha256)
{
    assert_int_equal(strlen(sha256), 64);
    g_string_append_printf(of(host)->inputs, "%s ", name);
}

static bool on_smoke(const struct orch_host *host)
{
    return of(host)->is_smoke;
}

static const char *on_file_digest(const struct orch_host *host, const char *path)
{
    (void)host;
    (void)path;
    return "0000000000000000000000000000000000000000000000000000000000000000";
}

static void record_init(struct record *r)
{
    *r = (struct record){.host = {.struct_bytes = sizeof r->host,
                                  .ctx = r,
                                  .metric = on_metric,
                                  .result = on_result,
                                  .progress = on_progress,
                                  .phase = on_phase,
                                  .artifact = on_artifact,
                                  .note = on_note,
                                  .fail = on_fail,
                                  .cancelled = on_cancelled,
                                  .derive_seed = on_derive_seed,
                                  .checkpoint_dir = on_checkpoint_dir,
                                  .input = on_input,
                                  .slot = on_slot,
                                  .smoke = on_smoke,
                                  .file_digest = on_file_digest},
                         .results = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                         .series = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                                         (GDestroyNotify)g_array_unref),
                         .notes = g_string_new(NULL),
                         .failure = g_string_new(NULL),
                         .artifacts = g_string_new(NULL),
                         .inputs = g_string_new(NULL)};
}

static void record_clear(struct record *r)
{
    g_hash_table_unref(r->results);
    g_hash_table_unref(r->series);
    g_string_free(r->notes, TRUE);
    g_string_free(r->failure, TRUE);
    g_string_free(r->artifacts, TRUE);
    g_string_free(r->inputs, TRUE);
}

static double result_of(const struct record *r, const char *name)
{
    const double *value = g_hash_table_lookup(r->results, name);
    if (!value)
        fail_msg("no result '%s'", name);
    return value ? *value : -1;
}

static guint points_of(const struct record *r, const char *name)
{
    const GArray *series = g_hash_table_lookup(r->series, name);
    return series ? series->len : 0;
}

static double point_of(const struct record *r, const char *name, guint at)
{
    assert_true(at < points_of(r, name));
    return g_array_index((GArray *)g_hash_table_lookup(r->series, name), double, at);
}

/* ---- data and parameters ----------------------------------------------------------------------
 */

/* Image i is of class i % 10, whose pixels are those with that index modulo 10. */
static void write_split(const char *images, const char *labels, int count)
{
    size_t bytes = 16 + (size_t)count * SIDE * SIDE;
    g_autofree uint8_t *image = g_malloc0(bytes), *label = g_malloc0(8 + (size_t)count);
    g_autofree char *image_path = g_build_filename(folder, "mnist", images, NULL);
    g_autofree char *label_path = g_build_filename(folder, "mnist", labels, NULL);
    const uint8_t image_head[16] = {0, 0, 8, 3,    0, 0, 0, (uint8_t)count,
                                    0, 0, 0, SIDE, 0, 0, 0, SIDE};
    const uint8_t label_head[8] = {0, 0, 8, 1, 0, 0, 0, (uint8_t)count};
    memcpy(image, image_head, sizeof image_head);
    memcpy(label, label_head, sizeof label_head);
    for (int i = 0; i < count; i++) {
        label[8 + i] = (uint8_t)(i % 10);
        for (int j = i % 10; j < SIDE * SIDE; j += 10)
            image[16 + i * SIDE * SIDE + j] = 255;
    }
    assert_true(orch_file_write(image_path, image, bytes, false, NULL));
    assert_true(orch_file_write(label_path, label, 8 + (size_t)count, false, NULL));
}

static struct orch_training usual(void)
{
    static const char *const milestones[] = {"50%"};
    return (struct orch_training){.dataset = "mnist",
                                  .data_root = folder,
                                  .image_size = 8,
                                  .val_images = 20,
                                  .net = "mlp:10",
                                  .epochs = 4,
                                  .batch = 16,
                                  .lr = 1,
                                  .momentum = 0.9,
                                  .optimizer = "sgd",
                                  .schedule = "steps",
                                  .milestones = {1, milestones},
                                  .gamma = 0.1,
                                  .device = "auto",
                                  .precision = "fp32",
                                  .layout = "plain",
                                  .loader_threads = 1,
                                  .checkpoint_every = 30};
}

/* Runs the hooks; the record is the caller's. */
static int train(const struct orch_training *t, struct record *r)
{
    void *state = NULL;
    int status = orch_training_open(t, &r->host, &state);
    if (status != ORCH_OK)
        return status;
    status = orch_training_run(state, &r->host);
    orch_training_close(state);
    return status;
}

static void expect_failure(const struct orch_training *t, int status, const char *what)
{
    struct record r;
    record_init(&r);
    assert_int_equal(train(t, &r), status);
    if (!strstr(r.failure->str, what))
        fail_msg("'%s' lacks '%s'", r.failure->str, what);
    record_clear(&r);
}

/* ---- check and cost ---------------------------------------------------------------------------
 */

static void refused(const struct orch_training *t, const char *what)
{
    struct record r;
    record_init(&r);
    assert_int_equal(orch_training_check(t, &r.host), ORCH_FAILED);
    if (!strstr(r.failure->str, what))
        fail_msg("'%s' lacks '%s'", r.failure->str, what);
    record_clear(&r);
}

static void test_check_refuses(void **state)
{
    (void)state;
    static const char *const late[] = {"10", "20"}, *const odd[] = {"soon"};
    static const double rates[] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct orch_training t = usual();
    t.milestones = (struct orch_list){2, late};
    refused(&t, "milestones: all 2 learning-rate drops come after the last of 4 epochs");
    t.milestones = (struct orch_list){1, odd};
    refused(&t, "'soon'");
    t = usual();
    t.net = "resnet2O";
    refused(&t, "resnet2O");
    t = usual();
    t.freeze = 2;
    refused(&t, "freeze: 2, but network 'mlp:10' has layer groups 0 to 1, and the last must learn");
    t = usual();
    t.layer_rates = (struct orch_list){8, rates};
    refused(&t, "layer_rates: 8 factors for the 2 layer groups of network 'mlp:10'");
    t = usual();
    t.feature_extractor = t.cache_features = t.flip = true;
    refused(&t, "features that are computed once cannot be augmented");
    static const char *const list[] = {"crop 2", "cutout 4"}, *const unknown[] = {"blur 3"};
    t = usual();
    t.transforms = (struct orch_list){2, list};
    t.crop_pad = 2;
    refused(&t, "crop_pad and flip cannot be used together with transforms");
    t.crop_pad = 0;
    t.feature_extractor = t.cache_features = true;
    refused(&t, "features that are computed once cannot be augmented");
    t = usual();
    t.transforms = (struct orch_list){1, unknown};
    refused(&t, "blur");
    t = usual();
    t.data_root = "/nowhere";
    refused(&t, "data set 'mnist' was not found");
}

static void test_check_names_the_inputs(void **state)
{
    (void)state;
    struct record r;
    struct orch_training t = usual();
    record_init(&r);
    assert_int_equal(orch_training_check(&t, &r.host), ORCH_OK);
    assert_string_equal(r.inputs->str, "train test ");
    g_string_truncate(r.inputs, 0);
    r.is_smoke = true; /* reads no data */
    assert_int_equal(orch_training_check(&t, &r.host), ORCH_OK);
    assert_string_equal(r.inputs->str, "");
    record_clear(&r);
}

static void test_cost(void **state)
{
    (void)state;
    static const int64_t classes[] = {1, 2, 5};
    struct orch_training t = usual();
    struct orch_cost cost = {0};
    t.net = "MLP:10";
    assert_int_equal(orch_training_cost(&t, &cost), ORCH_OK);
    assert_string_equal(cost.network, "mlp:10");
    assert_string_equal(cost.input, "1x28x28");
    assert_int_equal(cost.images, 60000);
    assert_int_equal(cost.classes, 10);
    assert_int_equal(cost.training, 1);
    t.classes = (struct orch_list){3, classes};
    t.feature_extractor = true;
    assert_int_equal(orch_training_cost(&t, &cost), ORCH_OK);
    assert_int_equal(cost.images, 18000); /* 3 of 10 classes */
    assert_int_equal(cost.training, 0);
    t.per_class = 7;
    assert_int_equal(orch_training_cost(&t, &cost), ORCH_OK);
    assert_int_equal(cost.images, 21);
    /* a folder has what is asked for, and nobody has counted its classes */
    t = usual();
    t.dataset = "flowers";
    cost = (struct orch_cost){0};
    assert_int_equal(orch_training_cost(&t, &cost), ORCH_OK);
    assert_string_equal(cost.input, "3x8x8");
    assert_int_equal(cost.images, 0);
    assert_int_equal(cost.classes, 0);
    /* generated images have the size that is asked for, too */
    t.dataset = "synthetic";
    assert_int_equal(orch_training_cost(&t, &cost), ORCH_OK);
    assert_string_equal(cost.input, "3x8x8");
    assert_int_equal(cost.classes, 10);
}

/* ---- training ---------------------------------------------------------------------------------
 */

static void test_learns_and_reports(void **state)
{
    (void)state;
    struct record r;
    struct orch_training t = usual();
    record_init(&r);
    assert_int_equal(train(&t, &r), ORCH_OK);
    /* five steps an epoch, each a point; a point of the others each epoch */
    assert_int_equal(points_of(&r, "step_loss"), 20);
    const char *const by_epoch[] = {"train_loss", "train_accuracy", "val_loss",     "val_accuracy",
                                    "val_error",  "epoch_time",     "images_per_s", "lr"};
    for (unsigned i = 0; i < G_N_ELEMENTS(by_epoch); i++)
        assert_int_equal(points_of(&r, by_epoch[i]), 4);
    assert_true(fabs(point_of(&r, "lr", 1) - 1) < 1e-12);
    assert_true(fabs(point_of(&r, "lr", 2) - 0.1) < 1e-12); /* after the milestone at 50 % */
    assert_true(point_of(&r, "train_loss", 3) < point_of(&r, "train_loss", 0));
    assert_true(fabs(result_of(&r, "final_accuracy") - 1) < 1e-12); /* separable */
    assert_true(fabs(point_of(&r, "val_accuracy", 3) + point_of(&r, "val_error", 3) - 1) < 1e-12);
    /* the mean of the points is that of the epoch */
    double sum = 0;
    for (guint i = 0; i < 5; i++)
        sum += point_of(&r, "step_loss", i) / 5;
    assert_true(fabs(sum - point_of(&r, "train_loss", 0)) < 1e-9);
    assert_true(fabs(result_of(&r, "train_images") - TRAIN) < 1e-12);
    assert_true(fabs(result_of(&r, "epoch_val_images") - 20) < 1e-12);
    assert_true(fabs(result_of(&r, "val_images_total") - TEST) < 1e-12);
    assert_true(fabs(result_of(&r, "class_images_min") - 8) < 1e-12);
    assert_true(fabs(result_of(&r, "params") - (785 * 10 + 11 * 10)) < 1e-12);
    assert_true(fabs(result_of(&r, "trained_params") - result_of(&r, "params")) < 1e-12);
    assert_string_equal(r.artifacts->str, "classes samples weights ");
    record_clear(&r);
}

static void test_weights_begin_a_training(void **state)
{
    (void)state;
    struct record r;
    struct orch_training t = usual();
    record_init(&r);
    t.optimizer = "adam";
    t.schedule = "cosine";
    t.lr = 0.1;
    t.precision = "bf16";
    assert_int_equal(train(&t, &r), ORCH_OK);
    double before = result_of(&r, "final_loss");
    assert_int_equal(rename("weights.safetensors", "base.safetensors"), 0);
    record_clear(&r);
    /* the same network at a rate of 0: what the first had learnt is what this one has */
    record_init(&r);
    t.weights = "base.safetensors";
    t.lr = 0;
    t.epochs = 1;
    assert_int_equal(train(&t, &r), ORCH_OK);
    assert_true(fabs(result_of(&r, "final_loss") - before) < 1e-6);
    record_clear(&r);
    /* other classes: the body is taken, the head is new, and a note says so */
    static const int64_t classes[] = {1, 2, 5};
    record_init(&r);
    t.classes = (struct orch_list){3, classes};
    assert_int_equal(train(&t, &r), ORCH_OK);
    assert_non_null(strstr(r.notes->str, "the base network gave 2 tensors; the head is new (2 of "
                                         "other shape, 0 missing, 0 left over)"));
    record_clear(&r);
    t.net = "mlp:12";
    expect_failure(&t, ORCH_FAILED, "the weights do not fit network 'mlp:12': ");
    t.weights = "none.safetensors";
    expect_failure(&t, ORCH_FAILED, "none.safetensors");
}

static void test_features_computed_once(void **state)
{
    (void)state;
    struct record once, each;
    static const double rates[] = {0.5, 2};
    struct orch_training t = usual();
    record_init(&once);
    record_init(&each);
    t.feature_extractor = t.cache_features = true;
    assert_int_equal(train(&t, &once), ORCH_OK);
    assert_non_null(
        strstr(once.notes->str, "the frozen body's 10 features an image were computed once"));
    assert_true(fabs(result_of(&once, "trained_params") - 110) < 1e-12);
    assert_true(result_of(&once, "feature_time") >= 0);
    t.cache_features = false;
    t.layer_rates = (struct orch_list){2, rates};
    assert_int_equal(train(&t, &each), ORCH_OK);
    assert_null(g_hash_table_lookup(each.results, "feature_time"));
    /* the batches are drawn by the same seed, so both train alike but for rounding */
    for (guint i = 0; i < 4; i++)
        assert_true(fabs(point_of(&once, "val_loss", i) - point_of(&each, "val_loss", i)) < 1e-3);
    assert_true(fabs(result_of(&once, "full_accuracy") - result_of(&each, "full_accuracy")) <
                1e-12);
    record_clear(&once);
    record_clear(&each);
}

static void test_smoke(void **state)
{
    (void)state;
    struct record r;
    struct orch_training t = usual();
    record_init(&r);
    r.is_smoke = true;
    t.data_root = "/nowhere"; /* not read */
    t.weights = "/nowhere/base.safetensors";
    t.epochs = 100;
    assert_int_equal(train(&t, &r), ORCH_OK);
    assert_int_equal(points_of(&r, "step_loss"), 2);
    assert_int_equal(points_of(&r, "val_loss"), 1);
    assert_true(fabs(result_of(&r, "image_channels") - 1) < 1e-12); /* as mnist's */
    assert_true(fabs(result_of(&r, "image_height") - 28) < 1e-12);
    record_clear(&r);
}

static void test_resumes(void **state)
{
    (void)state;
    struct record r;
    struct orch_training t = usual();
    GError *error = NULL;
    g_autofree char *path = g_build_filename(folder, "training.safetensors", NULL);
    const struct orch_torch *torch = orch_torch_load(&error);
    struct orch_net_options options = {"mlp:10", 1, SIDE, SIDE, 10};
    struct orch_net *net = orch_net_make(&options, &error);
    struct orch_torch_setup setup = {.device = "cpu"};
    struct orch_torch_model *model = torch->model_new(net, &setup, &error);
    struct orch_torch_optimizer sgd = {.momentum = 0.9};
    struct orch_torch_progress progress = {3, 0.75, 2};
    assert_true(torch->optimizer_set(model, &sgd, &error));
    assert_true(orch_torch_checkpoint_save(torch, model, &progress, path, &error));
    torch->model_free(model);
    orch_net_free(net);

    record_init(&r);
    r.checkpoints = folder;
    assert_int_equal(train(&t, &r), ORCH_OK);
    assert_non_null(strstr(r.notes->str, "an earlier attempt had finished 3 epochs"));
    assert_int_equal(points_of(&r, "val_loss"), 1); /* the fourth */
    record_clear(&r);
    /* all epochs are done: it only validates, and the best is the earlier attempt's */
    record_init(&r);
    r.checkpoints = folder;
    t.epochs = 3;
    assert_int_equal(train(&t, &r), ORCH_OK);
    assert_int_equal(points_of(&r, "val_loss"), 0);
    assert_true(fabs(result_of(&r, "best_accuracy") - 0.75) < 1e-12);
    assert_true(fabs(result_of(&r, "best_epoch") - 2) < 1e-12);
    assert_true(isfinite(result_of(&r, "final_loss")));
    record_clear(&r);
    /* of another network, and damaged */
    record_init(&r);
    r.checkpoints = folder;
    t.net = "mlp:9";
    assert_int_equal(train(&t, &r), ORCH_FAILED);
    assert_string_equal(r.failure->str,
                        "cannot resume: the checkpoint does not fit: 'fc1.weight' is of another "
                        "shape\n  hint: remove the checkpoint to begin anew");
    assert_true(orch_file_write(path, "{", 1, false, NULL));
    assert_int_equal(train(&t, &r), ORCH_FAILED);
    assert_true(g_str_has_prefix(r.failure->str, "cannot resume: "));
    assert_non_null(strstr(r.failure->str, path));
    record_clear(&r);
    unlink(path);
}

static void test_ends_early(void **state)
{
    (void)state;
    struct record r;
    struct orch_training t = usual();
    record_init(&r);
    r.cancel_after = 1; /* told in the first epoch */
    assert_int_equal(train(&t, &r), ORCH_CANCELLED);
    assert_int_equal(points_of(&r, "val_loss"), 0);
    record_clear(&r);
    record_init(&r);
    g_setenv("TINY_TORCH_NAN", "1", TRUE);
    assert_int_equal(train(&t, &r), ORCH_DIVERGED);
    g_unsetenv("TINY_TORCH_NAN");
    assert_string_equal(r.failure->str, "the training loss is not finite");
    assert_int_equal(points_of(&r, "val_loss"), 1); /* of the epoch that diverged, and no more */
    record_clear(&r);
}

static void test_devices(void **state)
{
    (void)state;
    struct record r;
    struct orch_training t = usual();
    t.device = "cuda:1";
    expect_failure(&t, ORCH_SKIPPED, "no CUDA device");
    record_init(&r);
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    t.device = "auto";
    assert_int_equal(train(&t, &r), ORCH_OK);
    g_unsetenv("TINY_TORCH_CUDA");
    /* on a GPU a point is the mean of eight steps: two, and the last step's */
    assert_int_equal(points_of(&r, "step_loss"), 3);
    record_clear(&r);
}

/* An error of each function ends the trial with its own message. */
static void test_errors_of_the_library(void **state)
{
    (void)state;
    static const char *const plain[] = {
        "model_new",      "tensor_set",    "optimizer_set", "train:3",       "evaluate",
        "totals_take",    "totals_take:6", "totals_take:7", "totals_take:8", "totals_take:33",
        "totals_take:34", "evaluate:5",    "tensor_get"};
    static const char *const cached[] = {"features", "features:2", "features:3",
                                         "train:3",  "evaluate",   "totals_take:8"};
    struct orch_training t = usual();
    for (int caches = 0; caches < 2; caches++) {
        size_t count = caches ? G_N_ELEMENTS(cached) : G_N_ELEMENTS(plain);
        t.feature_extractor = t.cache_features = caches;
        for (size_t i = 0; i < count; i++) {
            const char *name = (caches ? cached : plain)[i];
            /* a zero before the number makes the count of calls begin anew */
            g_autofree char *what = g_strndup(name, strcspn(name, ":"));
            g_autofree char *text = g_strdup_printf("%s failed on purpose", what);
            g_autofree char *fault =
                g_strdup_printf("%s:%s%s", what, caches ? "0" : "",
                                name[strlen(what)] ? strchr(name, ':') + 1 : "1");
            g_setenv("TINY_TORCH_FAIL", fault, TRUE);
            expect_failure(&t, ORCH_FAILED, text);
        }
    }
    g_unsetenv("TINY_TORCH_FAIL");
}

static void test_bad_data(void **state)
{
    (void)state;
    static const int64_t classes[] = {1, 11};
    struct orch_training t = usual();
    t.classes = (struct orch_list){2, classes};
    expect_failure(&t, ORCH_FAILED, "11");
    t = usual();
    t.dataset = "flowers";
    expect_failure(&t, ORCH_FAILED, "'flowers' was not found");
}

/* ---- a model's files --------------------------------------------------------------------------
 */

struct model {
    const struct orch_torch *torch;
    struct orch_net *net;
    struct orch_torch_model *model;
};

static struct model make_model(const char *net, enum orch_torch_method method)
{
    GError *error = NULL;
    struct model m = {.torch = orch_torch_load(&error)};
    struct orch_net_options options = {net, 1, 4, 4, 3};
    struct orch_torch_setup setup = {.device = "cpu"};
    struct orch_torch_optimizer optimizer = {.method = method, .momentum = 0.9};
    m.net = orch_net_make(&options, &error);
    m.model = m.torch->model_new(m.net, &setup, &error);
    assert_true(orch_torch_init(m.torch, m.model, m.net, 7, &error));
    assert_true(m.torch->optimizer_set(m.model, &optimizer, &error));
    m.torch->rate_set(m.model, 0.1);
    return m;
}

static void free_model(struct model *m)
{
    m->torch->model_free(m->model);
    orch_net_free(m->net);
}

static void take_step(struct model *m)
{
    static const float images[2 * 16] = {[0] = 1, [5] = -2, [17] = 3, [30] = 0.5F};
    static const int64_t labels[] = {0, 2};
    struct orch_torch_batch batch = {.images = images, .labels = labels, .count = 2};
    assert_true(m->torch->train(m->model, &batch, NULL));
}

static float head_weight(const struct model *m)
{
    g_autofree float *values = g_new(float, 64);
    size_t index = (size_t)orch_net_head(m->net)->first_tensor;
    assert_true(m->torch->tensor_get(m->model, index, values, NULL));
    return values[1];
}

/* One step more after a checkpoint is the same step, before and after loading it. */
static void test_checkpoint_goes_on(void **state)
{
    (void)state;
    for (int method = 0; method < 2; method++) {
        GError *error = NULL;
        struct model one = make_model("mlp:8", (enum orch_torch_method)method);
        struct model two = make_model("mlp:8", (enum orch_torch_method)method);
        struct orch_torch_progress progress = {2, 0.5, 1}, loaded = {0};
        take_step(&one);
        take_step(&one);
        assert_true(orch_torch_checkpoint_save(one.torch, one.model, &progress, "one", &error));
        assert_true(orch_torch_checkpoint_load(two.torch, two.model, "one", &loaded, &error));
        assert_int_equal(loaded.epoch, 2);
        assert_int_equal(loaded.best_epoch, 1);
        assert_true(fabs(loaded.best - 0.5) < 1e-12);
        assert_int_equal(two.torch->steps_get(two.model), 2);
        assert_memory_equal(&(float){head_weight(&one)}, &(float){head_weight(&two)},
                            sizeof(float));
        take_step(&one);
        take_step(&two);
        assert_memory_equal(&(float){head_weight(&one)}, &(float){head_weight(&two)},
                            sizeof(float));
        free_model(&one);
        free_model(&two);
    }
}

static void test_checkpoint_errors(void **state)
{
    (void)state;
    static const char *const saving[] = {"tensor_get", "slot_get", "random_get"};
    static const char *const loading[] = {"tensor_set", "slot_set", "random_set"};
    struct model m = make_model("mlp:8", ORCH_TORCH_SGD);
    struct orch_torch_progress progress = {1, 0.5, 1};
    g_autoptr(GError) error = NULL;
    take_step(&m);
    assert_false(orch_torch_checkpoint_load(m.torch, m.model, "none", &progress, &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_NOT_FOUND));
    g_clear_error(&error);
    assert_false(orch_torch_checkpoint_save(m.torch, m.model, &progress, "no/such/folder", &error));
    assert_non_null(strstr(error->message, "no/such/folder"));
    g_clear_error(&error);
    assert_true(orch_torch_checkpoint_save(m.torch, m.model, &progress, "two", &error));
    for (int i = 0; i < 6; i++) {
        const char *name = i < 3 ? saving[i] : loading[i - 3];
        g_autofree char *text = g_strdup_printf("%s failed on purpose", name);
        g_autofree char *fault = g_strdup_printf("%s:001", name);
        g_setenv("TINY_TORCH_FAIL", fault, TRUE);
        assert_false(i < 3
                         ? orch_torch_checkpoint_save(m.torch, m.model, &progress, "x", &error)
                         : orch_torch_checkpoint_load(m.torch, m.model, "two", &progress, &error));
        assert_string_equal(error->message, text);
        g_clear_error(&error);
    }
    g_unsetenv("TINY_TORCH_FAIL");
    free_model(&m);
    /* a deeper network misses tensors */
    struct model deep = make_model("mlp:8,8", ORCH_TORCH_SGD);
    assert_false(orch_torch_checkpoint_load(deep.torch, deep.model, "two", &progress, &error));
    assert_non_null(strstr(error->message, "the checkpoint does not fit: '"));
    free_model(&deep);
}

/* Without head_replaced nothing may differ; a report names everything that does. */
static void test_weights_that_do_not_fit(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct model m = make_model("mlp:8", ORCH_TORCH_SGD);
    struct orch_torch_load_report report = {0};
    struct orch_weights *weights = orch_torch_state_copy(m.torch, m.model, &error);
    const int64_t one = 1;
    const float value = 1;
    assert_true(
        orch_weights_add(weights, "other.weight", ORCH_DTYPE_FLOAT32, 1, &one, &value, NULL));
    assert_true(orch_weights_add(weights, "bn.num_batches_tracked", ORCH_DTYPE_FLOAT32, 1, &one,
                                 &value, NULL));
    assert_true(orch_torch_state_load(m.torch, m.model, m.net, weights, false, &report, &error));
    assert_int_equal(report.loaded, 4);
    assert_int_equal(report.extra->len, 1); /* PyTorch's counter is none of the model's */
    assert_string_equal(report.extra->pdata[0], "other.weight");
    orch_torch_load_report_clear(&report);
    orch_weights_free(weights);

    weights = orch_weights_new();
    assert_true(orch_weights_add(weights, "fc.bias", ORCH_DTYPE_FLOAT32, 1, &one, &value, NULL));
    assert_false(orch_torch_state_load(m.torch, m.model, m.net, weights, false, NULL, &error));
    assert_non_null(
        strstr(error->message, "the weights do not fit network 'mlp:8': missing fc1.weight"));
    assert_non_null(strstr(error->message, "fc.bias: [1] for [3]"));
    orch_weights_free(weights);
    free_model(&m);
    g_clear_error(&error);

    /* a long list is cut */
    struct model big = make_model("mlp:8,8,8,8,8,8,8,8,8,8,8,8,8", ORCH_TORCH_SGD);
    weights = orch_weights_new();
    assert_false(orch_torch_state_load(big.torch, big.model, big.net, weights, true, NULL, &error));
    assert_non_null(strstr(error->message, "..."));
    assert_null(strstr(error->message, "missing fc.weight")); /* the head may be another */
    orch_weights_free(weights);
    free_model(&big);
}

/* ---- loading ----------------------------------------------------------------------------------
 */

/* Before anything else: what is loaded once stays. */
static void test_adapters_that_cannot_be_loaded(void **state)
{
    (void)state;
    g_autofree char *other =
        g_build_filename(g_getenv("ORCH_BUILD_DIR"), "tests", "plugins", "other-torch.so", NULL);
    g_autofree char *none =
        g_build_filename(g_getenv("ORCH_BUILD_DIR"), "plugins", "null.so", NULL);
    const struct {
        const char *path, *what;
    } bad[] = {
        {"/nowhere/torch.so", "there is no LibTorch adapter: '/nowhere/torch.so' was not built"},
        {none, "undefined symbol: orch_torch_v1"},
        {"/proc/self/maps", "cannot load the LibTorch adapter '/proc/self/maps': "},
        {other, "has interface version 7 ("}};
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_setenv("ORCH_TORCH", bad[i].path, TRUE);
        assert_null(orch_torch_load(&error));
        assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_PLUGIN));
        if (!strstr(error->message, bad[i].what))
            fail_msg("'%s' lacks '%s'", error->message, bad[i].what);
    }
    g_setenv("ORCH_TORCH", "/nowhere/torch.so", TRUE);
    struct orch_training t = usual();
    expect_failure(&t, ORCH_FAILED, "there is no LibTorch adapter");
    g_autofree char *tiny =
        g_build_filename(g_getenv("ORCH_BUILD_DIR"), "tests", "plugins", "tiny-torch.so", NULL);
    g_setenv("ORCH_TORCH", tiny, TRUE);
    assert_non_null(orch_torch_load(NULL));
}

static int begin(void **state)
{
    (void)state;
    g_log_set_always_fatal((GLogLevelFlags)(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING));
    folder = g_dir_make_tmp("orch-training-XXXXXX", NULL);
    g_setenv("XDG_CACHE_HOME", folder ? folder : "", TRUE);
    g_autofree char *mnist = folder ? g_build_filename(folder, "mnist", NULL) : NULL;
    if (!folder || !orch_dir_make(mnist, NULL) || chdir(folder) != 0)
        return 1;
    write_split("train-images-idx3-ubyte", "train-labels-idx1-ubyte", TRAIN);
    write_split("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", TEST);
    return 0;
}

static int end(void **state)
{
    (void)state;
    int moved = chdir("/");
    orch_tree_remove(folder, NULL);
    g_free(folder);
    return moved;
}

/* ---- parts of a plugin's own ------------------------------------------------------------------
 */

/* Softmax cross-entropy, as the built-in loss. */
static bool cross_entropy(void *ctx, const struct orch_torch_batch *batch,
                          const struct orch_torch_array *outputs, float *const *gradients,
                          size_t output_count, struct orch_torch_totals *totals, GError **error)
{
    int *calls = ctx;
    int64_t classes = outputs[0].shape[1];
    assert_int_equal(output_count, 1);
    if (++*calls < 0) {
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "the loss has no value");
        return false;
    }
    for (int64_t i = 0; i < batch->count; i++) {
        const float *scores = outputs[0].data + i * classes;
        double sum = 0;
        for (int64_t c = 0; c < classes; c++)
            sum += exp((double)scores[c]);
        for (int64_t c = 0; c < classes; c++)
            gradients[0][i * classes + c] =
                (float)((exp((double)scores[c]) / sum - (c == batch->labels[i])) /
                        (double)batch->count);
        totals->loss += log(sum) - (double)scores[batch->labels[i]];
    }
    totals->images += batch->count;
    return true;
}

static struct orch_step *own_step(void *ctx, const struct orch_session *session, GError **error)
{
    (void)session;
    (void)error;
    return orch_step_of_loss(&(struct orch_step_loss){.ctx = ctx, .loss = cross_entropy});
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
    return orch_step_reduced(orch_step_classify(), session, reduction->bucket_bytes, &calls, error);
}

static int train_with(const struct orch_training *t, const struct orch_training_parts *parts,
                      struct record *r)
{
    void *state = NULL;
    int status = orch_training_open(t, &r->host, &state);
    assert_int_equal(status, ORCH_OK);
    status = orch_training_run_with(state, &r->host, parts);
    orch_training_close(state);
    return status;
}

static void test_own_steps(void **state)
{
    (void)state;
    struct orch_training t = usual();
    int calls = 0;
    struct reduction reduction = {.bucket_bytes = 64};
    const struct orch_training_parts parts[] = {
        {0}, {.ctx = &calls, .step = own_step}, {.ctx = &reduction, .step = reduced_step}};
    double losses[3];
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        struct record r;
        record_init(&r);
        assert_int_equal(train_with(&t, &parts[i], &r), ORCH_OK);
        losses[i] = point_of(&r, "train_loss", 3);
        record_clear(&r);
    }
    assert_int_equal(calls, 20); /* 4 epochs of 5 batches */
    assert_true(fabs(losses[0] - losses[1]) < 1e-6);
    assert_true(losses[0] == losses[2]);
    assert_true(reduction.elements > 0);
    struct record r;
    record_init(&r);
    calls = -1000;
    assert_int_equal(train_with(&t, &parts[1], &r), ORCH_FAILED);
    assert_non_null(strstr(r.failure->str, "the loss has no value"));
    reduction.bucket_bytes = 0;
    assert_int_equal(train_with(&t, &parts[2], &r), ORCH_FAILED);
    assert_non_null(strstr(r.failure->str, "bucket"));
    record_clear(&r);
}

/* The same transforms in either spelling give the same losses; others do not; a normalisation with
 * values of its own holds for validation, too. */
static void test_transforms(void **state)
{
    (void)state;
    static const char *const crop[] = {"crop 2", "flip"}, *const cutout[] = {"cutout 14"},
                             *const normalise[] = {"normalise 0.5 0.25"};
    const struct orch_list lists[] = {{0, NULL}, {2, crop}, {1, cutout}, {1, normalise}};
    double train_loss[4], val_loss[4];
    for (unsigned i = 0; i < G_N_ELEMENTS(lists); i++) {
        struct record r;
        struct orch_training t = usual();
        t.crop_pad = i == 0 ? 2 : 0;
        t.flip = i == 0;
        t.transforms = lists[i];
        t.lr = 0; /* nothing is learned: losses differ by the images alone */
        record_init(&r);
        assert_int_equal(train(&t, &r), ORCH_OK);
        train_loss[i] = point_of(&r, "train_loss", 0);
        val_loss[i] = point_of(&r, "val_loss", 0);
        record_clear(&r);
    }
    assert_true(train_loss[0] == train_loss[1] && val_loss[0] == val_loss[1]);
    assert_true(train_loss[0] != train_loss[2] && val_loss[0] == val_loss[2]);
    assert_true(val_loss[0] != val_loss[3]);
}

/* Trains for an epoch with layout auto; returns whether it was measured. */
static bool measured_layout(const struct orch_training *t, double *out_channels_last)
{
    struct record r;
    record_init(&r);
    assert_int_equal(train(t, &r), ORCH_OK);
    *out_channels_last = result_of(&r, "channels_last");
    bool is_measured = strstr(r.notes->str, "memory layout: ") != NULL;
    record_clear(&r);
    return is_measured;
}

static void test_layout_is_measured_once(void **state)
{
    (void)state;
    struct orch_training t = usual();
    g_autofree char *cache = g_build_filename(g_get_user_cache_dir(), "orch", NULL);
    g_autofree char *path = g_build_filename(cache, "layouts", NULL);
    g_autofree char *text = NULL;
    double first, second;
    assert_true(g_str_has_prefix(path, folder)); /* not the user's */
    t.layout = "auto";
    t.epochs = 1;
    t.milestones.count = 0;
    assert_true(measured_layout(&t, &first));
    assert_false(measured_layout(&t, &second));
    assert_true(first == second);
    t.batch = 8; /* the same answer: layouts are not mixed in a comparison of batch sizes */
    assert_false(measured_layout(&t, &second));
    assert_true(first == second);
    t.net = "mlp:9";
    assert_true(measured_layout(&t, &second));
    /* an answer that is there counts; lines that are none do not */
    assert_true(orch_file_read(path, 4096, &text, NULL, NULL));
    char *tab = strchr(text, '\t');
    assert_non_null(tab);
    g_autofree char *other =
        g_strdup_printf("junk\n\t\n%.*s\tmaybe\n%.*s\t%s\n", (int)(tab - text), text,
                        (int)(tab - text), text, first > 0 ? "plain" : "channels_last");
    assert_true(orch_file_write(path, other, strlen(other), false, NULL));
    t.net = "mlp:10";
    assert_false(measured_layout(&t, &second));
    assert_true(first != second);
    /* what was asked for is not measured; nor is a head alone, or a smoke run */
    t.layout = "channels_last";
    assert_false(measured_layout(&t, &second));
    assert_true(second > 0);
    /* no place to keep it: measured each time */
    assert_true(orch_tree_remove(cache, NULL));
    assert_true(orch_file_write(cache, "", 0, false, NULL));
    t.layout = "auto";
    assert_true(measured_layout(&t, &first));
    assert_true(measured_layout(&t, &first));
    unlink(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adapters_that_cannot_be_loaded),
        cmocka_unit_test(test_check_refuses),
        cmocka_unit_test(test_check_names_the_inputs),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_learns_and_reports),
        cmocka_unit_test(test_weights_begin_a_training),
        cmocka_unit_test(test_features_computed_once),
        cmocka_unit_test(test_smoke),
        cmocka_unit_test(test_resumes),
        cmocka_unit_test(test_ends_early),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_errors_of_the_library),
        cmocka_unit_test(test_bad_data),
        cmocka_unit_test(test_checkpoint_goes_on),
        cmocka_unit_test(test_checkpoint_errors),
        cmocka_unit_test(test_weights_that_do_not_fit),
        cmocka_unit_test(test_layout_is_measured_once),
        cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_own_steps),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
