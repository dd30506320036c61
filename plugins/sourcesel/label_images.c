/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels of a base network's images: their classes, their source, or a pseudo-label that is derived
 * from distances to the sources. The images whose source is known give the mean vectors and train
 * the extractor; all other images are labelled without it. */
#include "plugins/sourcesel/sourcesel.h"

#include "lib/base/error.h"
#include "plugins/common/training/notes.h"
#include "plugins/sourcesel/pseudo_labels.h"
#include "plugins/sourcesel/source_divergence.h"
#include "plugins/sourcesel/source_means.h"

#include <math.h>
#include <string.h>

struct labelling {
    const struct sourcesel *s;
    struct orch_session *session;
    bool is_smoke;
    struct orch_extractor extractor;
    struct orch_source_means means;
    double *between; /* sources x sources: distances, the square root of the JS divergence */
    struct orch_triple_labels *labels;
};

static const char *name_of(const struct sourcesel *s, int source)
{
    return ((const struct orch_source_set *)s->sets->pdata[source])->name;
}

/* ---- known labels -----------------------------------------------------------------------------
 */

static bool label_by_source(const struct sourcesel *s, const struct orch_session *session,
                            struct orch_subset *subset, GError **error)
{
    g_autofree int32_t *labels = g_new(int32_t, subset->count + 1);
    g_autofree const char **names = g_new(const char *, s->sets->len + 1);
    for (guint i = 0; i < s->sets->len; i++)
        names[i] = name_of(s, (int)i);
    for (int64_t i = 0; i < subset->count; i++)
        labels[i] = orch_sourcesel_source_of(s, session, subset, orch_subset_label(subset, i));
    return orch_subset_relabel(subset, labels, subset->count, names, (int)s->sets->len, error);
}

/* The reference images with the name of their source, in place of the pool. */
static bool train_on_reference(const struct sourcesel *s, struct orch_session *session,
                               GError **error)
{
    if (!session->host->smoke(session->host)) {
        struct orch_subset *reference = orch_sourcesel_reference(s, session, error);
        if (!reference)
            return false;
        orch_subset_free(session->train);
        session->train = reference;
    }
    return label_by_source(s, session, session->train, error) &&
           label_by_source(s, session, session->val, error) &&
           label_by_source(s, session, session->val_part, error);
}

/* Removes the rows of `reference` from `pool`, which has the same classes. */
static bool leave_out(struct orch_subset *pool, const struct orch_subset *reference, GError **error)
{
    g_autoptr(GHashTable) known = g_hash_table_new(g_int64_hash, g_int64_equal);
    g_autofree int32_t *labels = g_new(int32_t, pool->count + 1);
    g_autofree const char **names = g_new(const char *, pool->classes + 1);
    g_autofree int *class_of = g_memdup2(pool->class_of, sizeof(int) * (gsize)pool->classes);
    for (int64_t i = 0; i < reference->count; i++)
        g_hash_table_add(known, &reference->rows[i]);
    for (int64_t i = 0; i < pool->count; i++)
        labels[i] = g_hash_table_contains(known, &pool->rows[i]) ? -1 : orch_subset_label(pool, i);
    for (int i = 0; i < pool->classes; i++)
        names[i] = orch_subset_class_name(pool, i);
    bool ok = orch_subset_relabel(pool, labels, pool->count, names, pool->classes, error);
    if (ok) /* the labels are still those of the set's classes */
        memcpy(pool->class_of, class_of, sizeof(int) * (gsize)pool->classes);
    else
        g_prefix_error(error, "all images are reference images (reference_images): ");
    return ok;
}

/* ---- pseudo-labels ----------------------------------------------------------------------------
 */

static void measure_sources(struct labelling *l)
{
    const int count = l->means.count;
    const int64_t width = l->means.width;
    l->between = g_new0(double, count *count);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            l->between[i * count + j] =
                sqrt(orch_sourcesel_js(l->means.distributions + i * width,
                                       l->means.distributions + j * width, (size_t)width));
}

/* The triple of each image of the subset. Caller frees. NULL with an error. */
static struct orch_triple *triples_of(const struct labelling *l, const struct orch_subset *subset,
                                      GError **error)
{
    const int64_t width = l->means.width;
    const int count = l->means.count;
    const bool is_cfa = strcmp(l->s->params->labels, "cfa") == 0;
    g_autofree float *features = orch_extractor_features(&l->extractor, subset, error);
    if (!features)
        return NULL;
    struct orch_triple *triples = g_new(struct orch_triple, subset->count + 1);
    g_autofree double *image = g_new(double, width), *distances = g_new(double, count);
    for (int64_t i = 0; i < subset->count; i++) {
        orch_source_means_of(features + i * width, 1, width, l->s->params->epsilon, image);
        for (int k = 0; k < count; k++)
            distances[k] =
                orch_sourcesel_kl(image, l->means.distributions + k * width, (size_t)width);
        triples[i] = is_cfa ? orch_sourcesel_cfa(distances, l->between, count)
                            : orch_sourcesel_nearest(distances, count);
    }
    return triples;
}

static char *triple_name(const struct labelling *l, guint label)
{
    const struct orch_triple *t = &g_array_index(l->labels->triples, struct orch_triple, label);
    return g_strdup_printf("%s/%s/%s", name_of(l->s, t->source[0]), name_of(l->s, t->source[1]),
                           name_of(l->s, t->source[2]));
}

static bool relabel(const struct labelling *l, struct orch_subset *subset,
                    const struct orch_triple *triples, GError **error)
{
    g_autofree int32_t *labels = g_new(int32_t, subset->count + 1);
    g_auto(GStrv) names = g_new0(char *, l->labels->triples->len + 1);
    for (guint i = 0; i < l->labels->triples->len; i++)
        names[i] = triple_name(l, i);
    for (int64_t i = 0; i < subset->count; i++)
        labels[i] = orch_sourcesel_label_of(l->labels, triples[i]);
    return orch_subset_relabel(subset, labels, subset->count, (const char *const *)names,
                               (int)l->labels->triples->len, error);
}

static bool relabel_validation(const struct labelling *l, struct orch_subset *subset,
                               GError **error)
{
    g_autofree struct orch_triple *triples = triples_of(l, subset, error);
    bool ok = triples && relabel(l, subset, triples, error);
    if (!ok)
        g_prefix_error(error, "validation images: ");
    return ok;
}

/* How the nearest sources relate to the true ones, which the labelling does not see. */
static void report(const struct labelling *l, const struct orch_triple *triples)
{
    const struct orch_subset *pool = l->session->train;
    const struct orch_host *host = l->session->host;
    int64_t kept = 0, own = 0;
    for (int64_t i = 0; i < pool->count; i++) {
        const int source =
            orch_sourcesel_source_of(l->s, l->session, pool, orch_subset_label(pool, i));
        own += triples[i].source[0] == source;
        kept += orch_sourcesel_label_of(l->labels, triples[i]) >= 0;
    }
    host->result(host, "pseudo_labels", l->labels->triples->len);
    host->result(host, "dropped_images", (double)(pool->count - kept));
    host->result(host, "nearest_own", (double)own / (double)pool->count);
}

static bool make_labels(struct labelling *l, const struct orch_triple *triples, GError **error)
{
    const struct sourcesel_params *p = l->s->params;
    const int64_t least = l->is_smoke ? 1 : p->min_images;
    l->labels = orch_sourcesel_labels_new(triples, l->session->train->count, least);
    if (l->labels->triples->len >= (l->is_smoke ? 1 : 2))
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "lower 'min_images'",
                   "labels: %s gives only %u labels with at least %d images, but a classifier "
                   "needs two labels",
                   p->labels, l->labels->triples->len, (int)least);
    return false;
}

static bool pseudo_label(struct labelling *l, const struct orch_subset *reference, GError **error)
{
    const struct sourcesel_params *p = l->s->params;
    const char *net = p->extractor_net ? p->extractor_net : p->t.net;
    l->session->host->phase(l->session->host, "labelling images");
    if (!orch_extractor_open(&l->extractor, l->session, net, p->extractor, error) ||
        !orch_source_means_compute(&l->means, l->s, &l->extractor, reference, error))
        return false;
    measure_sources(l);
    g_autofree struct orch_triple *triples = triples_of(l, l->session->train, error);
    if (!triples || !make_labels(l, triples, error))
        return false;
    report(l, triples);
    return relabel_validation(l, l->session->val, error) &&
           relabel_validation(l, l->session->val_part, error) &&
           relabel(l, l->session->train, triples, error);
}

static void note_labels(const struct labelling *l)
{
    const struct sourcesel_params *p = l->s->params;
    orch_training_note(
        l->session->host,
        "pseudo-labels '%s': %u ordered triples of %d sources with at least %d images each",
        p->labels, l->labels->triples->len, l->means.count, (int)p->min_images);
}

static bool label_pool(struct labelling *l, GError **error)
{
    struct orch_subset *reference = orch_sourcesel_reference(l->s, l->session, error);
    bool ok = reference && (l->is_smoke || leave_out(l->session->train, reference, error));
    if (ok && strcmp(l->s->params->labels, "classes") != 0) {
        ok = pseudo_label(l, reference, error);
        if (ok)
            note_labels(l);
    }
    orch_subset_free(reference);
    return ok;
}

bool orch_sourcesel_label(void *ctx, struct orch_session *session, GError **error)
{
    struct labelling l = {
        .s = ctx, .session = session, .is_smoke = session->host->smoke(session->host)};
    if (!session->training->full_validation) /* the other images need no labels */
        orch_subset_limit(session->val, session->training->val_images,
                          session->host->derive_seed(session->host, "subset"));
    if (strcmp(l.s->params->labels, "sources") == 0)
        return train_on_reference(l.s, session, error);
    bool ok = label_pool(&l, error);
    orch_extractor_clear(&l.extractor);
    orch_source_means_clear(&l.means);
    orch_sourcesel_labels_free(l.labels);
    g_free(l.between);
    return ok;
}
