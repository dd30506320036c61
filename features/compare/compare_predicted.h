/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `compare` with `predicted` and `measured`: predicted values beside measured ones. */
#ifndef ORCH_FEATURES_COMPARE_COMPARE_PREDICTED_H
#define ORCH_FEATURES_COMPARE_COMPARE_PREDICTED_H

#include "core/report/items.h"

/** Fills the section with a row for each setting and the error of its prediction. */
bool orch_compare_predicted(struct orch_section_context *context, GError **error);

#endif
