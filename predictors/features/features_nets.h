/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks that occur in measurements but not in the zoo: graphs used only for counting. */
#ifndef ORCH_PREDICTORS_FEATURES_NETS_H
#define ORCH_PREDICTORS_FEATURES_NETS_H

#include "lib/net/net.h"

/** Builds a network by the letters and digits of its name in lower case ("shufflenetv2x10"), for
 * square images of a side (0: 224). Returns NULL for an unknown network. Caller frees. */
struct orch_net *orch_counted_net(const char *key, int64_t side);

#endif
