/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/semisup/split.h"

#include "lib/base/error.h"
#include "plugins/common/data/random.h"
#include "plugins/semisup/top_images.h"

#include <stdlib.h>

bool orch_semisup_split_fits(const struct orch_semisup_params *p, enum orch_supervision supervision,
                             int64_t classes, int64_t images, GError **error)
{
    if (supervision == ORCH_SUPERVISION_LABELS || classes == 0 || images == 0)
        return true;
    const int64_t left = images - p->labelled * classes;
    if (left < 1) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "label fewer, or raise per_class",
                       "labelled: %" G_GINT64_FORMAT " images of each of %" G_GINT64_FORMAT
                       " classes leave none of the %" G_GINT64_FORMAT " training images unlabelled",
                       p->labelled, classes, images);
        return false;
    }
    return supervision != ORCH_SUPERVISION_SEMI ||
           orch_semisup_select_fits(p->unlabelled ? MIN(p->unlabelled, left) : left, (int)classes,
                                    p->p, p->k, error);
}

/* How many images of each class are labelled. In a smoke run there may be few. */
static bool labelled_counts(const struct orch_semisup *semi, int64_t *out, GError **error)
{
    const struct orch_session *s = semi->session;
    const bool is_smoke = s->host->smoke(s->host);
    for (int c = 0; c < s->train->classes; c++) {
        if (out[c] < semi->params->labelled && !is_smoke) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "label fewer, or leave the class out",
                           "class '%s' of '%s' has %" G_GINT64_FORMAT
                           " images, fewer than labelled: %" G_GINT64_FORMAT,
                           orch_subset_class_name(s->train, c), s->train_set->name, out[c],
                           semi->params->labelled);
            return false;
        }
        out[c] = MIN(semi->params->labelled, is_smoke ? MAX(1, out[c] / 2) : out[c]);
    }
    return true;
}

/* Positions of the labelled images, then of the others, both ascending; each class's are drawn. */
static int64_t *divide(const struct orch_subset *train, const int64_t *labelled, uint64_t seed,
                       int64_t *out_labelled)
{
    g_autofree int64_t *order = g_new(int64_t, train->count + 1);
    g_autofree int64_t *taken = g_new0(int64_t, train->classes);
    g_autofree bool *is_labelled = g_new0(bool, train->count + 1);
    int64_t *positions = g_new(int64_t, train->count + 1), at = 0;
    for (int64_t i = 0; i < train->count; i++)
        order[i] = i;
    orch_random_shuffle(order, train->count, seed);
    for (int64_t i = 0; i < train->count; i++) {
        const int32_t label = orch_subset_label(train, order[i]);
        is_labelled[order[i]] = taken[label] < labelled[label];
        taken[label] += is_labelled[order[i]];
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < train->count; i++)
            if (is_labelled[i] == (pass == 0))
                positions[at++] = i;
        if (pass == 0)
            *out_labelled = at;
    }
    return positions;
}

bool orch_semisup_split(struct orch_semisup *semi, GError **error)
{
    struct orch_session *s = semi->session;
    const struct orch_semisup_params *p = semi->params;
    const bool is_smoke = s->host->smoke(s->host);
    g_autofree int64_t *labelled = orch_subset_counts(s->train);
    if ((!is_smoke && !orch_semisup_split_fits(p, semi->supervision, s->train->classes,
                                               s->train->count, error)) ||
        !labelled_counts(semi, labelled, error))
        return false;
    int64_t count = 0;
    g_autofree int64_t *positions =
        divide(s->train, labelled, s->host->derive_seed(s->host, "labelled"), &count);
    struct orch_subset *all = s->train;
    s->train = orch_subset_pick(all, positions, count);
    semi->unlabelled = orch_subset_pick(all, positions + count, all->count - count);
    orch_subset_free(all);
    orch_subset_limit(semi->unlabelled, p->unlabelled, s->host->derive_seed(s->host, "unlabelled"));
    semi->k = is_smoke ? MIN(p->k, semi->unlabelled->count) : p->k;
    return true;
}
