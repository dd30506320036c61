/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of ranges (space_read.c) and of rules (stop_rule.c) share. */
#ifndef ORCH_SPACE_READING_H
#define ORCH_SPACE_READING_H

#include <stdbool.h>
#include <string.h>

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
