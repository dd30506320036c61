/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of a question no measurement is of, so that its interval is a guess. */
#ifndef ORCH_FEATURES_PREDICT_NO_BASIS_H
#define ORCH_FEATURES_PREDICT_NO_BASIS_H

#include "features/predict/step_answer.h"

/** Names what no measured step is of: the vendor or architecture, the precision, torch.compile,
 * attention in one kernel. NULL where the interval has a basis: steps like it were
 * measured by others, or here. Caller frees. */
char *orch_no_basis(const struct orch_step_answer *answer);

#endif
