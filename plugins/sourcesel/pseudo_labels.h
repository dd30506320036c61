/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pseudo-labels from distances to sources: an ordered triple of sources names an image's class
 * (Dube et al. 2019). */
#ifndef ORCH_PLUGINS_SOURCESEL_PSEUDO_LABELS_H
#define ORCH_PLUGINS_SOURCESEL_PSEUDO_LABELS_H

#include <glib.h>
#include <stdint.h>

struct orch_triple {
    int source[3];
};

/** The three nearest of `count` >= 3 sources in ascending distance. Of equal distances the source
 * with the lower index comes first. */
struct orch_triple orch_sourcesel_nearest(const double *distances, int count);

/** Area of the triangle with these sides (Heron); 0 where they make none. */
double orch_sourcesel_triangle_area(double a, double b, double c);

/** CFA: the closest source, the farthest one, and the one of the others whose triangle with these
 * two has the largest area. `distances` are the image's, `between` is the count x count matrix of
 * distances between the sources, the triangle's sides. Ties: the lower index. `count` >= 3. */
struct orch_triple orch_sourcesel_cfa(const double *distances, const double *between, int count);

/** The classes that triples make. */
struct orch_triple_labels {
    GArray *triples; /* struct orch_triple by label, in lexicographic order */
    GArray *images;  /* int64_t: images of each label */
};

/** Numbers the triples that occur at least `least` times in lexicographic order, from 0. */
struct orch_triple_labels *orch_sourcesel_labels_new(const struct orch_triple *triples,
                                                     int64_t count, int64_t least);
/** Returns the label of a triple, -1: it has none. */
int32_t orch_sourcesel_label_of(const struct orch_triple_labels *labels, struct orch_triple triple);
/** NULL is allowed. */
void orch_sourcesel_labels_free(struct orch_triple_labels *labels);

#endif
