/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Initial filters other than the network's: whitening filters in the first convolution, the
 * identity in the others. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_INITIAL_H
#define ORCH_PLUGINS_COMMON_TRAINING_INITIAL_H

#include "plugins/common/training/session.h"

/** Sets the filters of the session's model as `filter_init` and `whiten` say, and
 * session->prepare_s to the time of the latter. */
bool orch_initial_filters(struct orch_session *session, GError **error);

#endif
