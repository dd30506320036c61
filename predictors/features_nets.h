/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks that measurements speak of and the zoo does not have: graphs for counting alone. */
#ifndef ORCH_PREDICTORS_FEATURES_NETS_H
#define ORCH_PREDICTORS_FEATURES_NETS_H

#include "lib/net/net.h"

/** By the name's letters and digits in lower case ("shufflenetv2x10"), for a square image of a side
 * (0: 224); NULL for a network that is not known. The caller frees. */
struct orch_net *orch_counted_net(const char *key, int64_t side);

#endif
