/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the points of an assignment. */
#ifndef ORCH_FEATURES_PACK_POINTS_SHOW_H
#define ORCH_FEATURES_PACK_POINTS_SHOW_H

#include "features/pack/assignment_points.h"

/** Prints the sums of points, for 'orch report --points' and 'orch submit'. */
void orch_cli_print_points_sums(const struct orch_document *document, const GPtrArray *parts);

#endif
