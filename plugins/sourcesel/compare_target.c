/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The divergence of a target from its sources: KL(target || source) between the distributions of
 * their mean features. */
#include "plugins/sourcesel/sourcesel.h"

#include "lib/base/text.h"
#include "plugins/sourcesel/source_divergence.h"
#include "plugins/sourcesel/source_means.h"

/* Writes the artifact `sources`, the nearest source first. `divergences` NULL: not known. */
static bool write_sources(const struct sourcesel *s, const struct orch_session *session,
                          const double *divergences, GError **error)
{
    g_autoptr(GString) csv = g_string_new("source,classes,divergence (nats)\n");
    g_autofree bool *is_written = g_new0(bool, s->sets->len);
    for (guint rank = 0; rank < s->sets->len; rank++) {
        guint next = s->sets->len;
        for (guint k = 0; k < s->sets->len; k++)
            if (!is_written[k] &&
                (next == s->sets->len || (divergences && divergences[k] < divergences[next])))
                next = k;
        is_written[next] = true;
        const struct orch_source_set *set = s->sets->pdata[next];
        orch_csv_append(csv, set->name);
        g_string_append_printf(csv, ",%u,", set->classes->len);
        char number[ORCH_REAL_CHARS];
        g_string_append_printf(csv, "%s\n",
                               divergences ? orch_real_format(divergences[next], number) : "");
    }
    if (!g_file_set_contents("sources.csv", csv->str, (gssize)csv->len, error))
        return false;
    session->host->artifact(session->host, "sources", "sources.csv");
    return true;
}

static bool compare(const struct sourcesel *s, const struct orch_session *session,
                    const struct orch_extractor *e, const struct orch_source_means *means,
                    GError **error)
{
    const size_t width = (size_t)means->width;
    g_autofree double *target = g_new(double, width);
    g_autofree double *divergences = g_new(double, means->count);
    g_autofree float *features = orch_extractor_features(e, session->train, error);
    if (!features)
        return false;
    orch_source_means_of(features, session->train->count, means->width, s->params->epsilon, target);
    for (int k = 0; k < means->count; k++)
        divergences[k] = orch_sourcesel_kl(target, means->distributions + (size_t)k * width, width);
    session->host->result(session->host, "divergence",
                          orch_sourcesel_kl(target, means->together, width));
    return write_sources(s, session, divergences, error);
}

bool orch_sourcesel_write_sources(const struct sourcesel *s, const struct orch_session *session,
                                  GError **error)
{
    return write_sources(s, session, NULL, error);
}

bool orch_sourcesel_compare(void *ctx, struct orch_session *session, GError **error)
{
    const struct sourcesel *s = ctx;
    const struct sourcesel_params *p = s->params;
    struct orch_extractor extractor = {0};
    struct orch_source_means means = {0};
    if (!p->extractor && !session->host->smoke(session->host))
        return orch_sourcesel_write_sources(s, session, error);
    struct orch_subset *reference = orch_sourcesel_reference(s, session, error);
    session->host->phase(session->host, "comparing target and sources");
    bool ok =
        reference &&
        orch_extractor_open(&extractor, session, p->extractor_net ? p->extractor_net : p->t.net,
                            p->extractor, error) &&
        orch_source_means_compute(&means, s, &extractor, reference, error) &&
        compare(s, session, &extractor, &means, error);
    orch_extractor_clear(&extractor);
    orch_source_means_clear(&means);
    orch_subset_free(reference);
    return ok;
}
