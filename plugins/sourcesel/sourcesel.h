/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plugin sourcesel: what its parts share. */
#ifndef ORCH_PLUGINS_SOURCESEL_H
#define ORCH_PLUGINS_SOURCESEL_H

#include "plugins/common/training/session.h"
#include "plugins/sourcesel/source_sets.h"

struct sourcesel_params {
    struct orch_training t;
    const char *stage;         /* base, target */
    struct orch_list sources;  /* const char *: "shoes 5 7" */
    const char *target;        /* name of a set; NULL: none */
    struct orch_list use;      /* const char *: names of sets; empty: all but the target */
    const char *labels;        /* classes, sources, nearest3, cfa */
    const char *extractor;     /* file with weights; NULL: none */
    const char *extractor_net; /* NULL: t.net */
    int64_t reference_images;  /* of each class */
    double epsilon;            /* smoothing of distributions */
    int64_t min_images;        /* a pseudo-label with fewer images is dropped */
    const char *mode;          /* full, feature, scratch: stage target */
    double base_accuracy;      /* 0: unknown */
};

struct sourcesel {
    const struct sourcesel_params *params;
    struct orch_training training; /* params->t with the classes of the stage */
    GPtrArray *sets;               /* struct orch_source_set *: the sources */
    GPtrArray *target_sets;        /* the target alone; NULL: none */
    GArray *classes;               /* int64_t: training.classes */
    struct orch_session *session;  /* NULL until it is open */
};

/** True if the trial trains on a target, false if it trains a base network. */
bool orch_sourcesel_is_target(const struct sourcesel_params *params);

/** Resolves the sets and fills `out`. Fails with ORCH_ERROR_RECIPE for sets that do not exist or
 * overlap, and for settings that do not go together. Clear with sourcesel_clear, also after a
 * failure. `params` must outlive it. */
bool orch_sourcesel_settle(struct sourcesel *out, const struct sourcesel_params *params,
                           GError **error);
void orch_sourcesel_clear(struct sourcesel *sourcesel);

/** Training images an epoch of a base network, as a forecast: of `images` labelled ones. */
int64_t orch_sourcesel_images(const struct sourcesel *sourcesel, int64_t images);

/** Labels the images of a base network's session (orch_session_prepare; ctx: struct sourcesel). */
bool orch_sourcesel_label(void *ctx, struct orch_session *session, GError **error);

/** Writes the artifact `sources`; if there is an extractor, reports the target's divergence from
 * them (orch_session_prepare; ctx: struct sourcesel). */
bool orch_sourcesel_compare(void *ctx, struct orch_session *session, GError **error);

/** Writes the artifact `sources` without divergences. */
bool orch_sourcesel_write_sources(const struct sourcesel *sourcesel,
                                  const struct orch_session *session, GError **error);
/** Writes the artifact `labels` of an open session, and reports label_purity. */
bool orch_sourcesel_write_labels(const struct orch_session *session, GError **error);

/** Images whose source is known: reference_images of each class of `sets`, the same for a seed in
 * every trial. Free with orch_subset_free. */
struct orch_subset *orch_sourcesel_reference(const struct sourcesel *sourcesel,
                                             const struct orch_session *session, GError **error);
/** Returns the index of the source that class `label` of a subset belongs to. In a smoke run, whose
 * images are synthetic, the classes are dealt out to the sources. */
int orch_sourcesel_source_of(const struct sourcesel *sourcesel, const struct orch_session *session,
                             const struct orch_subset *subset, int label);

#endif
