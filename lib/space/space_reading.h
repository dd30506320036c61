/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of ranges (space_read.c) and of rules (stop_rule.c) share, and what they ask of
 * param_space.c. */
#ifndef ORCH_SPACE_READING_H
#define ORCH_SPACE_READING_H

#include "lib/space/param_space.h"

#include <stdbool.h>
#include <string.h>

/** Lets a number have only the values low, low + step, ... up to high, which becomes the last of
 * them. */
void orch_space_set_step(struct orch_space_param *param, double step);

/** Goes on to the next character that is no space. */
static inline void orch_space_skip_blanks(const char **at)
{
    *at += strspn(*at, " \t\r\n");
}

/** Goes past the character `what` where it comes next, after any spaces. False where another does.
 */
static inline bool orch_space_take(const char **at, char what)
{
    orch_space_skip_blanks(at);
    if (**at != what)
        return false;
    ++*at;
    return true;
}

#endif
