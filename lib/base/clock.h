/* SPDX-License-Identifier: MIT */
#ifndef ORCH_BASE_CLOCK_H
#define ORCH_BASE_CLOCK_H

#include <glib.h>
#include <stdbool.h>

/** Checks that the wall clock says a year from 2000 to 2199. Nothing should be recorded with
 * another one: stores refuse such times from elsewhere, and what is kept by age would be removed.
 * False with ORCH_ERROR_IO. */
bool orch_clock_check(GError **error);

#endif
