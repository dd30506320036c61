/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts and tables of the report item `search`. */
#ifndef ORCH_FEATURES_SEARCH_SEARCH_PARTS_H
#define ORCH_FEATURES_SEARCH_SEARCH_PARTS_H

#include "core/render/document.h"
#include "features/search/searched.h"
#include "predictors/search/param_importance.h"

/** Adds charts of the best value so far by points and by device time: of one search with its
 * points, of several as a line each and their median. `searches`: struct orch_searched *. */
void orch_search_add_progress(struct orch_section *section, const GPtrArray *searches,
                              const char *name);

/** Returns the sentence that names the front of a search with several metrics, and its knee, which
 * it has. The caller frees. */
char *orch_search_front_text(const struct orch_searched *searched);
/** Adds the settings of that front, a picture of it, and the hypervolume by settings. */
void orch_search_add_front(struct orch_section *section, const struct orch_searched *searched);

/** Adds the importance of each parameter in a search (table and note), or why it means nothing. */
void orch_search_add_importance(struct orch_section *section, const struct orch_searched *searched,
                                struct orch_importance *out);
/** Adds the points by the values of the two parameters that matter most, each by itself and both
 * together: as a contour plot, or as a grid where there can be none. */
void orch_search_add_slices(struct orch_section *section, const struct orch_searched *searched,
                            const struct orch_importance *importance);

/** Adds the points by two parameters with lines of equal values of the metric between them. Returns
 * NULL, or why it has added nothing, as a sentence. */
const char *orch_search_add_contour(struct orch_section *section,
                                    const struct orch_searched *searched, const unsigned of[2]);

#endif
