/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hooks of a training plugin: a session, features if they are computed once, the epochs. */
#include "plugins/common/training/training.h"

#include "lib/base/text.h"
#include "lib/net/net.h"
#include "plugins/common/data/picture.h"
#include "plugins/common/training/data_path.h"
#include "plugins/common/training/epochs.h"
#include "plugins/common/training/notes.h"
#include "plugins/common/training/optimizer.h"
#include "plugins/common/training/session.h"

/* ---- what a run says of itself ------------------------------------------------------------------
 */

/* Writes the artifact `classes`: number of images per class. */
static bool write_classes(const struct orch_session *s, const int64_t *train, GError **error)
{
    g_autofree int64_t *val = orch_subset_counts(s->val);
    g_autoptr(GString) csv = g_string_new("class,training images,validation images\n");
    for (int i = 0; i < s->train->classes; i++) {
        orch_csv_append(csv, orch_subset_class_name(s->train, i));
        g_string_append_printf(csv, ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT "\n", train[i],
                               val[i]);
    }
    if (!g_file_set_contents("classes.csv", csv->str, (gssize)csv->len, error))
        return false;
    s->host->artifact(s->host, "classes", "classes.csv");
    return true;
}

static void note_classes(const struct orch_session *s, const int64_t *counts)
{
    g_autoptr(GString) text = g_string_new("training images a class:");
    for (int i = 0; i < MIN(s->train->classes, 100); i++)
        g_string_append_printf(text, "%s %s %d", i ? "," : "", orch_subset_class_name(s->train, i),
                               (int)counts[i]);
    s->host->note(s->host, text->str);
}

/* Reports the results and writes the artifacts that describe data and network before the first
 * step: counts, `classes` and `samples`, in the working folder. */
static bool training_describe(const struct orch_session *s, GError **error)
{
    const struct orch_host *host = s->host;
    g_autofree int64_t *counts = orch_subset_counts(s->train);
    int64_t least = counts[0], most = counts[0];
    for (int i = 0; i < s->train->classes; i++) {
        least = MIN(least, counts[i]);
        most = MAX(most, counts[i]);
    }
    note_classes(s, counts);
    host->result(host, "params", (double)orch_net_params(s->net));
    host->result(host, "trained_params", (double)orch_training_learned_params(s));
    if (s->training->whiten)
        host->result(host, "whitening_time", s->prepare_s);
    host->result(host, "class_count", s->train->classes);
    host->result(host, "train_images", (double)s->train->count);
    host->result(host, "epoch_val_images", (double)s->val_part->count);
    host->result(host, "val_images_total", (double)s->val->count);
    host->result(host, "image_channels", s->train->dataset->channels);
    host->result(host, "image_height", s->train->dataset->height);
    host->result(host, "image_width", s->train->dataset->width);
    host->result(host, "class_images_min", (double)least);
    host->result(host, "class_images_max", (double)most);
    g_autoptr(GString) samples = g_string_new("samples: "); /* so begins a note on an artifact */
    if (!write_classes(s, counts, error) ||
        !orch_picture_samples(s->train, 2, 4, 112, "samples.png", samples, error))
        return false;
    host->artifact(host, "samples", "samples.png");
    host->note(host, samples->str);
    return true;
}

/* ---- the training -------------------------------------------------------------------------------
 */

int orch_training_open(const struct orch_training *t, const struct orch_host *host,
                       void **out_state)
{
    struct orch_session *session = NULL;
    int status = orch_session_open(t, host, &session);
    *out_state = session;
    return status;
}

int orch_training_run_with(void *state, const struct orch_host *host,
                           const struct orch_training_parts *parts)
{
    struct orch_session *s = state;
    struct orch_features *features = NULL;
    GError *error = NULL;
    s->host = host;
    bool is_cached = s->training->feature_extractor && s->training->cache_features;
    bool ok = orch_data_path_choose(s, parts, &error) && training_describe(s, &error);
    if (ok && is_cached) {
        features = orch_features_compute(s, &error);
        ok = features != NULL;
    }
    int status = ok ? orch_epochs_run(s, features, parts, &error) : -1;
    orch_features_free(features);
    return status < 0 ? orch_training_fail(host, error) : status;
}

int orch_training_run(void *state, const struct orch_host *host)
{
    static const struct orch_training_parts usual;
    return orch_training_run_with(state, host, &usual);
}

void orch_training_close(void *state)
{
    orch_session_close(state);
}
