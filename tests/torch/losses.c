/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints every metric and result of a few short trainings as hexadecimal floats, one a line: CASE
 * NAME STEP VALUE. The cases are those that a change of the training engine must not alter by a
 * bit: 20 steps on one thread in fp32 and plain layout, with crop and flip, three networks,
 * training and finetuning, whole and resumed half-way. A different bit in one step is different in
 * all later ones, so more steps would show nothing more.
 *
 * usage: losses FOLDER   (an empty folder for weights and checkpoints) */
#include "plugins/common/torch/torch.h"
#include "plugins/common/training/training.h"
#include "tests/torch/recorder.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Times differ from run to run. */
static bool is_time(const char *name)
{
    return g_str_has_suffix(name, "_time") || g_str_equal(name, "images_per_s");
}

static void print_number(const struct recorder *recorder, const char *name, int64_t step,
                         double value)
{
    if (is_time(name))
        return;
    if (step < 0)
        printf("%s %s - %a\n", recorder->name, name, value);
    else
        printf("%s %s %" G_GINT64_FORMAT " %a\n", recorder->name, name, step, value);
}

/* One attempt, which must end with `expected`; `checkpoints` NULL: none are written. */
static void train(const char *name, const struct orch_training *t, const char *checkpoints,
                  double cancel_at, int expected)
{
    struct recorder r;
    recorder_init(&r);
    r.name = name;
    r.checkpoints = checkpoints;
    r.cancel_at = cancel_at;
    r.on_number = print_number;
    int status = recorder_train(&r, t, NULL);
    if (status != expected) {
        fprintf(stderr, "losses: '%s' ended with status %d, not %d: %s\n", name, status, expected,
                r.failure->str);
        exit(1);
    }
    recorder_clear(&r);
}

/* 5 steps an epoch, 4 epochs. */
static struct orch_training usual(const char *net)
{
    static const char *const milestones[] = {"50%"};
    return (struct orch_training){.dataset = "fashion-mnist",
                                  .per_class = 8,
                                  .image_size = 28,
                                  .val_images = 64,
                                  .crop_pad = 2,
                                  .flip = true,
                                  .net = net,
                                  .epochs = 4,
                                  .batch = 16,
                                  .lr = 0.05,
                                  .momentum = 0.9,
                                  .weight_decay = 1e-4,
                                  .nesterov = true,
                                  .optimizer = "sgd",
                                  .schedule = "steps",
                                  .milestones = {1, milestones},
                                  .gamma = 0.1,
                                  .device = "cpu",
                                  .precision = "fp32",
                                  .layout = "plain",
                                  .data_path = "auto",
                                  .graphs = "auto",
                                  .threads = 1,
                                  .loader_threads = 1};
}

static void run_whole_and_resumed(const char *name, const struct orch_training *t)
{
    g_autofree char *resumed = g_strdup_printf("%s-resumed", name);
    g_autofree char *checkpoints = g_strdup_printf("%s/%s", g_get_current_dir(), resumed);
    g_mkdir(checkpoints, 0700);
    train(resumed, t, checkpoints, 2.2, ORCH_CANCELLED);
    train(resumed, t, checkpoints, 0, ORCH_OK);
    train(name, t, NULL, 0, ORCH_OK);
}

static void run_finetunings(void)
{
    static const double rates[] = {0.1, 0.5};
    struct orch_training t = usual("resnet20");
    t.weights = "base.safetensors";
    t.lr = 0.01;
    t.freeze = 1;
    t.layer_rates = (struct orch_list){2, rates};
    run_whole_and_resumed("finetune-full", &t);
    t.freeze = 0;
    t.layer_rates.count = 0;
    t.feature_extractor = true;
    train("finetune-feature", &t, NULL, 0, ORCH_OK);
    t.cache_features = true;
    t.crop_pad = 0;
    t.flip = false;
    train("finetune-cached", &t, NULL, 0, ORCH_OK);
}

/* The library of linear algebra: libblas.so.3 may be any of several. */
static void print_blas(void)
{
    g_autofree char *text = NULL;
    g_file_get_contents("/proc/self/maps", &text, NULL, NULL);
    static const char *const names[] = {"openblas", "mkl", "blis", "atlas"};
    for (unsigned i = 0; text && i < G_N_ELEMENTS(names); i++)
        if (strstr(text, names[i]))
            printf(", %s", names[i]);
}

/* Sums are rounded in the order that LibTorch chooses for a processor and its caches: equal bits
 * need equal ones. */
static void print_machine(const struct orch_torch *torch)
{
    static const char *const facts[] = {"model name", "cpu family", "model\t", "stepping",
                                        "cache size"};
    g_autofree char *text = NULL;
    g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL);
    printf("# LibTorch %s", torch->version);
    for (unsigned i = 0; text && i < G_N_ELEMENTS(facts); i++) {
        const char *line = strstr(text, facts[i]), *from = line ? strchr(line, ':') : NULL;
        printf(", %.*s", from ? (int)strcspn(from + 1, "\n") : 0, from ? from + 1 : "");
    }
    print_blas();
    printf("\n");
}

int main(int count, char **args)
{
    if (count != 2 || chdir(args[1])) {
        fprintf(stderr, "usage: losses FOLDER\n");
        return 2;
    }
    GError *error = NULL;
    const struct orch_torch *torch = orch_torch_load(&error);
    if (!torch) {
        fprintf(stderr, "losses: %s\n", error->message);
        return 1;
    }
    print_machine(torch);
    struct orch_training resnet = usual("resnet20"), mobile = usual("mobilenet_v2"),
                         small = usual("lenet5");
    run_whole_and_resumed("train-resnet20", &resnet);
    if (rename("weights.safetensors", "base.safetensors"))
        return 1;
    mobile.optimizer = "adam";
    mobile.schedule = "cosine";
    mobile.warmup_epochs = 1;
    mobile.lr = 0.002;
    run_whole_and_resumed("train-mobilenet", &mobile);
    small.full_validation = true; /* 10,000 images: by a network that is a hundred times faster */
    run_whole_and_resumed("train-lenet5", &small);
    run_finetunings();
    return 0;
}
