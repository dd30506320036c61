/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of a question was not measured, found from the rows that were learned from: the shape by
 * which errors and intervals differ most. */
#ifndef ORCH_FEATURES_LEARN_QUESTION_SHAPE_H
#define ORCH_FEATURES_LEARN_QUESTION_SHAPE_H

#include "predictors/features/rows.h"

/** Bits: of the first four and of the next two at most one is set. 0: all of it was measured. */
enum orch_question_shape {
    ORCH_SHAPE_BOARD = 1,    /* the GPU was not, another board of its chip was */
    ORCH_SHAPE_CHIP = 2,     /* no board of its chip was */
    ORCH_SHAPE_LATER = 4,    /* nor any chip of its year or later */
    ORCH_SHAPE_VENDOR = 8,   /* nor any GPU of its vendor */
    ORCH_SHAPE_NETWORK = 16, /* the network was not, one of its family was */
    ORCH_SHAPE_FAMILY = 32,  /* no network was whose name begins alike */
    ORCH_SHAPE_COUNT = 64,   /* more GPUs than in any measured row */
};

/** The shape of each row of `asked`, given the rows `known`. GPUs, networks and their numbers are
 * in columns that predictors/features/feature_names.h has. Caller frees. */
unsigned *orch_question_shapes(const struct orch_rows *known, const struct orch_rows *asked);
/** "a chip that was not measured, a network that was not measured". Caller frees. */
char *orch_question_shape_text(unsigned shape);

#endif
