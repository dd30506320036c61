/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/describe.h"

#include "lib/base/text.h"
#include "lib/net/net.h"
#include "plugins/common/data/picture.h"
#include "plugins/common/training/optimizer.h"

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

static int64_t trained_params(const struct orch_session *s)
{
    int64_t trained = 0;
    for (guint i = 0; i < s->net->tensors->len; i++) {
        if (orch_training_learns(s, (int)i))
            trained += orch_net_tensor(s->net, (int)i)->count;
    }
    return trained;
}

bool orch_training_describe(const struct orch_session *s, GError **error)
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
    host->result(host, "trained_params", (double)trained_params(s));
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
    if (!write_classes(s, counts, error) ||
        !orch_picture_samples(s->train, 2, 4, 112, "samples.png", error))
        return false;
    host->artifact(host, "samples", "samples.png");
    return true;
}
