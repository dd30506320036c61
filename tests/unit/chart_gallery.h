/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One chart of every kind, with what is hard to draw: long names, names in other scripts, axes over
 * many decades, points close together, values that are missing. */
#ifndef ORCH_TESTS_CHART_GALLERY_H
#define ORCH_TESTS_CHART_GALLERY_H

#include "core/render/chart.h"

struct gallery_entry {
    const char *name;
    struct orch_chart *(*make)(void); /* the caller frees it with orch_chart_free */
    const char *labels[6];            /* texts that the drawing shows whole */
};
extern const struct gallery_entry GALLERY[];
extern const size_t GALLERY_COUNT;

#endif
