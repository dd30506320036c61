/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The artifact `labels`: what each label that is learned consists of. */
#include "plugins/sourcesel/sourcesel.h"

#include "lib/base/text.h"

/* Counts the images of each label (rows) and true class (columns). Caller frees. */
static int64_t *count_classes(const struct orch_subset *subset)
{
    const int classes = subset->dataset->classes;
    int64_t *counts = g_new0(int64_t, (gsize)subset->classes * (gsize)classes + 1);
    for (int64_t i = 0; i < subset->count; i++)
        counts[(gsize)orch_subset_label(subset, i) * (gsize)classes +
               (gsize)subset->dataset->labels[subset->rows[i]]]++;
    return counts;
}

bool orch_sourcesel_write_labels(const struct orch_session *session, GError **error)
{
    const struct orch_subset *subset = session->train;
    const struct orch_image_set *set = subset->dataset;
    g_autofree int64_t *counts = count_classes(subset);
    g_autofree int64_t *images = orch_subset_counts(subset);
    g_autoptr(GString) csv = g_string_new("label,images,most frequent class,share of it\n");
    int64_t pure = 0;
    for (int label = 0; label < subset->classes; label++) {
        const int64_t *row = counts + (gsize)label * (gsize)set->classes;
        int most = 0;
        for (int c = 1; c < set->classes; c++)
            most = row[c] > row[most] ? c : most;
        pure += row[most];
        orch_csv_append(csv, orch_subset_class_name(subset, label));
        g_string_append_printf(csv, ",%" G_GINT64_FORMAT ",", images[label]);
        orch_csv_append(csv, set->class_names ? set->class_names[most] : "?");
        g_string_append_printf(csv, ",%.4f\n", (double)row[most] / (double)MAX(1, images[label]));
    }
    session->host->result(session->host, "label_purity", (double)pure / (double)subset->count);
    if (!g_file_set_contents("labels.csv", csv->str, (gssize)csv->len, error))
        return false;
    session->host->artifact(session->host, "labels", "labels.csv");
    return true;
}
