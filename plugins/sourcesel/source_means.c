/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/sourcesel/source_means.h"

#include "lib/base/error.h"
#include "plugins/sourcesel/source_divergence.h"

static void add_row(double *sums, const float *row, int64_t width)
{
    for (int64_t j = 0; j < width; j++)
        sums[j] += (double)row[j];
}

void orch_source_means_of(const float *features, int64_t count, int64_t width, double epsilon,
                          double *out)
{
    for (int64_t j = 0; j < width; j++)
        out[j] = 0;
    for (int64_t i = 0; i < count; i++)
        add_row(out, features + i * width, width);
    orch_sourcesel_distribution(out, (size_t)width, epsilon, out); /* the sum's scale is removed */
}

bool orch_source_means_compute(struct orch_source_means *out, const struct sourcesel *s,
                               const struct orch_extractor *e, const struct orch_subset *reference,
                               GError **error)
{
    const int count = (int)s->sets->len;
    const int64_t width = e->width;
    const double epsilon = s->params->epsilon;
    *out = (struct orch_source_means){.count = count,
                                      .width = width,
                                      .distributions = g_new0(double, count *width + 1),
                                      .together = g_new0(double, width + 1),
                                      .images = g_new0(int64_t, count + 1)};
    g_autofree float *features = orch_extractor_features(e, reference, error);
    if (!features)
        return false;
    for (int64_t i = 0; i < reference->count; i++) {
        const int source =
            orch_sourcesel_source_of(s, e->session, reference, orch_subset_label(reference, i));
        add_row(out->distributions + source * width, features + i * width, width);
        out->images[source]++;
    }
    for (int k = 0; k < count; k++) {
        if (!out->images[k] && !e->session->host->smoke(e->session->host)) {
            orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "source '%s' has no images",
                           ((const struct orch_source_set *)s->sets->pdata[k])->name);
            return false;
        }
        double *of_source = out->distributions + k * width;
        orch_sourcesel_distribution(of_source, (size_t)width, epsilon, of_source);
    }
    orch_source_means_of(features, reference->count, width, epsilon, out->together);
    return true;
}

void orch_source_means_clear(struct orch_source_means *means)
{
    g_free(means->distributions);
    g_free(means->together);
    g_free(means->images);
    *means = (struct orch_source_means){0};
}
