/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/memory_layout.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/hw/machine.h"
#include "lib/net/net.h"
#include "plugins/common/training/notes.h"
#include "plugins/common/training/optimizer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/** Timed steps of each layout at most; channels-last must be faster by this factor. */
enum { ROUNDS = 4 };
static const double FASTER = 0.97;
/** No further round begins after so long. */
static const double SECONDS_MAX = 4;
/** Largest file of answers that is read. */
enum { ANSWERS_BYTES_MAX = 1 << 20 };

/* ---- measuring --------------------------------------------------------------------------------
 */

/* A model of its own with constant images; only its time matters. */
struct subject {
    const struct orch_torch *torch;
    struct orch_torch_model *model;
    float *images;
    int64_t *labels;
    struct orch_torch_batch batch;
    struct orch_torch_array *outputs; /* of a network that is no classifier; NULL: of one that is */
    double best_s;                    /* fastest step */
};

static void subject_clear(struct subject *subject)
{
    if (subject->model)
        subject->torch->model_free(subject->model);
    g_free(subject->images);
    g_free(subject->labels);
    g_free(subject->outputs);
}

static bool subject_init(const struct orch_session *s, const struct orch_torch_setup *setup,
                         bool channels_last, struct subject *out, GError **error)
{
    const struct orch_session_data *data = &s->data;
    int64_t count = MIN(s->batch, data->images);
    size_t values = (size_t)(count * data->channels * data->height) * (size_t)data->width;
    struct orch_torch_setup own = *setup;
    own.channels_last = channels_last;
    *out = (struct subject){.torch = s->torch,
                            .model = s->torch->model_new(s->net, &own, error),
                            .images = g_new(float, values),
                            .labels = g_new0(int64_t, count),
                            .best_s = G_MAXDOUBLE};
    if (out->model && orch_net_output_count(s->net) > 1)
        out->outputs = g_new0(struct orch_torch_array, s->torch->output_count(out->model));
    for (size_t i = 0; i < values; i++)
        out->images[i] = (float)(i % 17) / 17;
    out->batch =
        (struct orch_torch_batch){.images = out->images, .labels = out->labels, .count = count};
    return out->model && orch_torch_init(s->torch, out->model, s->net, 1, error) &&
           orch_training_optimizer(s, out->model, error);
}

/* A step. With several outputs their values serve as gradients: only the time matters. */
static bool learn(struct subject *subject, GError **error)
{
    const struct orch_torch *torch = subject->torch;
    struct orch_torch_model *model = subject->model;
    if (!subject->outputs)
        return torch->train(model, &subject->batch, error);
    return torch->forward(model, &subject->batch, ORCH_TORCH_TRAIN, true, subject->outputs,
                          error) &&
           torch->backward(model, subject->outputs, torch->output_count(model), error) &&
           torch->update(model, error);
}

static bool time_step(struct subject *subject, GError **error)
{
    struct orch_torch_totals totals;
    int64_t begin = orch_mono_ns();
    subject->torch->rate_set(subject->model, 0);
    if (!learn(subject, error) ||
        !subject->torch->totals_take(subject->model, &totals, error)) /* waits for the device */
        return false;
    subject->best_s = MIN(subject->best_s, (double)(orch_mono_ns() - begin) / 1e9);
    return true;
}

/* Times steps of both in turn; the first of each prepares its kernels and does not count. */
static bool time_both(struct subject subjects[2], GError **error)
{
    int64_t begin = orch_mono_ns();
    bool ok = true;
    for (int round = 0; ok && round <= ROUNDS; round++) {
        for (int i = 0; ok && i < 2; i++) {
            ok = time_step(&subjects[i], error);
            if (round == 0)
                subjects[i].best_s = G_MAXDOUBLE;
        }
        if (round > 0 && (double)(orch_mono_ns() - begin) / 1e9 > SECONDS_MAX)
            break;
    }
    return ok;
}

static bool measure(const struct orch_session *s, const struct orch_torch_setup *setup,
                    bool *out_channels_last, GError **error)
{
    struct subject subjects[2] = {{0}};
    s->host->phase(s->host, "choosing the memory layout");
    bool ok = subject_init(s, setup, false, &subjects[0], error) &&
              subject_init(s, setup, true, &subjects[1], error) && time_both(subjects, error);
    if (ok) {
        *out_channels_last = subjects[1].best_s < FASTER * subjects[0].best_s;
        orch_training_note(
            s->host,
            "memory layout: %s was faster (a step takes %.3g ms plain, %.3g ms channels-last)",
            *out_channels_last ? "channels-last" : "plain", 1e3 * subjects[0].best_s,
            1e3 * subjects[1].best_s);
    }
    subject_clear(&subjects[0]);
    subject_clear(&subjects[1]);
    return ok;
}

/* ---- kept answers -----------------------------------------------------------------------------
 */

/* What an answer holds for, without tabs or line ends. Caller frees. */
static char *question_of(const struct orch_session *s)
{
    const struct orch_session_data *data = &s->data;
    struct orch_machine *machine = orch_machine_probe();
    const struct orch_gpu_device *gpu = machine->gpus->len ? machine->gpus->pdata[0] : NULL;
    bool is_cpu = strcmp(s->device, "cpu") == 0;
    char *text = g_strdup_printf("LibTorch %s, %s, %s, %dx%dx%d, %s, %d frozen", s->torch->version,
                                 is_cpu || !gpu ? machine->cpu_model : gpu->model, s->net->name,
                                 data->channels, data->height, data->width, s->training->precision,
                                 orch_training_frozen_groups(s));
    orch_machine_free(machine);
    return g_strdelimit(text, "\t\n", ' ');
}

/* Looks an answer up: lines of "QUESTION<tab>plain" or "QUESTION<tab>channels_last". */
static bool look_up(const char *path, const char *question, bool *out_channels_last)
{
    g_autofree char *text = NULL;
    if (!orch_file_read(path, ANSWERS_BYTES_MAX, &text, NULL, NULL))
        return false;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    size_t length = strlen(question);
    for (char **line = lines; *line; line++) {
        const char *answer = *line + length + 1;
        if (strncmp(*line, question, length) != 0 || (*line)[length] != '\t')
            continue;
        *out_channels_last = strcmp(answer, "channels_last") == 0;
        if (*out_channels_last || strcmp(answer, "plain") == 0)
            return true;
    }
    return false;
}

static void keep(const char *path, const char *question, bool channels_last)
{
    g_autofree char *line =
        g_strdup_printf("%s\t%s\n", question, channels_last ? "channels_last" : "plain");
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line, strlen(line)) != (ssize_t)strlen(line))
        g_debug("cannot keep the layout in '%s': %s", path, g_strerror(errno));
    if (fd >= 0)
        close(fd);
}

/* Opens and locks the file beside the answers, so that only one trial measures; -1 where the cache
 * cannot be written: then each trial measures for itself. */
static int lock_answers(const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *lock = g_strconcat(path, ".lock", NULL);
    if (!orch_dir_make(folder, NULL))
        return -1;
    int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    while (fd >= 0 && flock(fd, LOCK_EX) != 0)
        if (errno != EINTR)
            break;
    return fd;
}

static bool look_up_or_measure(const struct orch_session *s, const struct orch_torch_setup *setup,
                               bool *out_channels_last, GError **error)
{
    g_autofree char *path = g_build_filename(g_get_user_cache_dir(), "orch", "layouts", NULL);
    g_autofree char *question = question_of(s);
    if (look_up(path, question, out_channels_last))
        return true;
    int lock = lock_answers(path);
    bool ok = look_up(path, question, out_channels_last);
    if (!ok) {
        ok = measure(s, setup, out_channels_last, error);
        if (ok)
            keep(path, question, *out_channels_last);
    }
    if (lock >= 0)
        close(lock);
    return ok;
}

bool orch_layout_choose(const struct orch_session *s, struct orch_torch_setup *setup,
                        GError **error)
{
    const struct orch_training *t = s->training;
    bool is_head_alone = t->feature_extractor && t->cache_features;
    setup->channels_last = strcmp(t->layout, "channels_last") == 0;
    if (strcmp(t->layout, "auto") == 0 && !is_head_alone && !s->host->smoke(s->host) &&
        !look_up_or_measure(s, setup, &setup->channels_last, error))
        return false;
    s->host->result(s->host, "channels_last", setup->channels_last);
    return true;
}
