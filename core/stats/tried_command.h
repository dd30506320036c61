/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command that 'orch try' recorded, from the command line of its run. */
#ifndef ORCH_CORE_STATS_TRIED_COMMAND_H
#define ORCH_CORE_STATS_TRIED_COMMAND_H

#include "store/store.h"

/** Returns the words of the command behind '--' as they were typed, "{lr}" included. NULL when
 * 'orch try' did not make the run. The caller frees the list. */
char **orch_run_tried_words(const struct orch_run *run);

/** The same as they tell settings apart: "{output}" stands for the name of what the run wrote, so
 * that commands which differ in that alone are one setting. The caller frees the list. */
char **orch_run_setting_words(const struct orch_run *run);

#endif
