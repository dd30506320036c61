/* SPDX-License-Identifier: GPL-3.0-or-later */
/* True labels are read here only to count what is right; of the weak labels they are the origin. */
#include "plugins/semisup/pretraining_set.h"

#include "lib/base/text.h"
#include "plugins/semisup/top_images.h"
#include "plugins/semisup/weak_labels.h"

#include <string.h>

/* ---- counts -----------------------------------------------------------------------------------
 */

/* `origin` is the subset that `positions` point into, with the true labels. */
static bool describe(struct orch_pretraining_set *set, const struct orch_subset *origin,
                     const int64_t *positions, const int32_t *labels, int64_t count, GError **error)
{
    g_autofree bool *is_seen = g_new0(bool, origin->count + 1);
    set->images = orch_subset_pick(origin, positions, count);
    set->count = g_new0(int64_t, origin->classes);
    set->correct = g_new0(int64_t, origin->classes);
    for (int64_t i = 0; i < count; i++) {
        set->count[labels[i]]++;
        set->correct[labels[i]] += labels[i] == orch_subset_label(origin, positions[i]);
        set->distinct += !is_seen[positions[i]];
        is_seen[positions[i]] = true;
    }
    return orch_subset_set_labels(set->images, labels, count, error);
}

static int32_t *labels_of(const struct orch_subset *subset)
{
    int32_t *labels = g_new(int32_t, subset->count + 1);
    for (int64_t i = 0; i < subset->count; i++)
        labels[i] = orch_subset_label(subset, i);
    return labels;
}

/* ---- by a teacher -----------------------------------------------------------------------------
 */

static bool fill_selected(struct orch_pretraining_set *set, const struct orch_semisup *semi,
                          const float *scores, GError **error)
{
    const struct orch_subset *from = semi->unlabelled;
    struct orch_top_images *s = orch_semisup_select(scores, from->rows, from->count, from->classes,
                                                    semi->params->p, semi->k, error);
    if (!s)
        return false;
    set->candidates = g_memdup2(s->candidates, sizeof *s->candidates * (gsize)s->classes);
    set->lowest_score = g_new0(float, s->classes);
    for (int64_t i = 0; i < s->count; i++)
        set->lowest_score[s->labels[i]] = s->scores[i]; /* in each class they fall */
    bool ok = describe(set, from, s->positions, s->labels, s->count, error);
    orch_top_images_free(s);
    return ok;
}

/* ---- by weak labels ---------------------------------------------------------------------------
 */

static double power_of(const char *resampling)
{
    return strcmp(resampling, "uniform") == 0       ? 0
           : strcmp(resampling, "square_root") == 0 ? 0.5
                                                    : 1;
}

/* Noise and resampling of the images of `tail`, whose labels are weak now. */
static bool fill_resampled(struct orch_pretraining_set *set, const struct orch_semisup *semi,
                           const struct orch_subset *tail, GError **error)
{
    const struct orch_semisup_params *p = semi->params;
    const struct orch_host *host = semi->session->host;
    g_autofree int32_t *weak = labels_of(tail);
    set->replaced_labels = orch_semisup_replace_labels(
        weak, tail->count, tail->classes, p->noise, host->derive_seed(host, "label noise"), error);
    if (set->replaced_labels < 0)
        return false;
    set->candidates = g_new0(int64_t, tail->classes);
    for (int64_t i = 0; i < tail->count; i++)
        set->candidates[weak[i]]++;
    struct orch_positions drawn =
        orch_semisup_resample(weak, tail->count, tail->classes, power_of(p->resampling),
                              host->derive_seed(host, "resampling"));
    g_autofree int32_t *labels = g_new(int32_t, drawn.count + 1);
    for (int64_t i = 0; i < drawn.count; i++)
        labels[i] = weak[drawn.items[i]];
    bool ok = describe(set, tail, drawn.items, labels, drawn.count, error);
    orch_positions_clear(&drawn);
    return ok;
}

static bool fill_weak(struct orch_pretraining_set *set, const struct orch_semisup *semi,
                      GError **error)
{
    const struct orch_subset *from = semi->unlabelled;
    const struct orch_host *host = semi->session->host;
    if (semi->params->tail == 0)
        return fill_resampled(set, semi, from, error);
    g_autofree int32_t *labels = labels_of(from);
    struct orch_positions kept =
        orch_semisup_long_tail(labels, from->count, from->classes, semi->params->tail,
                               host->derive_seed(host, "long tail"));
    struct orch_subset *tail = orch_subset_pick(from, kept.items, kept.count);
    bool ok = fill_resampled(set, semi, tail, error);
    orch_subset_free(tail);
    orch_positions_clear(&kept);
    return ok;
}

/* ---- by the labels ----------------------------------------------------------------------------
 */

static bool fill_labelled(struct orch_pretraining_set *set, const struct orch_semisup *semi,
                          GError **error)
{
    const struct orch_subset *from = semi->session->train;
    g_autofree int32_t *labels = labels_of(from);
    g_autofree int64_t *all = g_new(int64_t, from->count + 1);
    for (int64_t i = 0; i < from->count; i++)
        all[i] = i;
    set->candidates = orch_subset_counts(from);
    return describe(set, from, all, labels, from->count, error);
}

/* ---- all together -----------------------------------------------------------------------------
 */

struct orch_pretraining_set *orch_pretraining_set_new(const struct orch_semisup *semi,
                                                      const float *scores, GError **error)
{
    struct orch_pretraining_set *set = g_new0(struct orch_pretraining_set, 1);
    bool ok = semi->supervision == ORCH_SUPERVISION_SEMI   ? fill_selected(set, semi, scores, error)
              : semi->supervision == ORCH_SUPERVISION_WEAK ? fill_weak(set, semi, error)
                                                           : fill_labelled(set, semi, error);
    if (!ok)
        g_clear_pointer(&set, orch_pretraining_set_free);
    return set;
}

void orch_pretraining_set_free(struct orch_pretraining_set *set)
{
    if (!set)
        return;
    orch_subset_free(set->images);
    g_free(set->candidates);
    g_free(set->count);
    g_free(set->correct);
    g_free(set->lowest_score);
    g_free(set);
}

GString *orch_pretraining_set_csv(const struct orch_pretraining_set *set,
                                  const struct orch_semisup *semi)
{
    const struct orch_subset *train = semi->session->train;
    g_autofree int64_t *labelled = orch_subset_counts(train);
    g_autofree int64_t *unlabelled = orch_subset_counts(semi->unlabelled);
    GString *csv = g_string_new("class,labelled images,unlabelled images,candidates,images,"
                                "correct,precision,lowest score\n");
    for (int c = 0; c < train->classes; c++) {
        orch_csv_append(csv, orch_subset_class_name(train, c));
        g_string_append_printf(csv,
                               ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT
                               ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT,
                               labelled[c], unlabelled[c], set->candidates[c], set->count[c],
                               set->correct[c]);
        if (set->count[c])
            g_string_append_printf(csv, ",%.4f", (double)set->correct[c] / (double)set->count[c]);
        else
            g_string_append_c(csv, ',');
        if (set->lowest_score && set->count[c])
            g_string_append_printf(csv, ",%.4f\n", (double)set->lowest_score[c]);
        else
            g_string_append(csv, ",\n");
    }
    return csv;
}
