/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares two versions of a Python script without its comments. */
#ifndef ORCH_CORE_RUN_SCRIPT_SAME_H
#define ORCH_CORE_RUN_SCRIPT_SAME_H

#include <stdbool.h>

/** True when two Python texts differ only in comments, blank lines and blanks within lines.
 * Documentation strings are code, since a program can read them. So are comments that a program
 * outside of Python reads: the first two lines ("#!", the encoding) and the metadata of a script
 * ("# /// script"). False in doubt. */
bool orch_script_is_same_code(const char *a, const char *b);

#endif
