/* SPDX-License-Identifier: MIT */
/* Control over whether the current user's login name counts as the user (orch_who_is_same,
 * lib/base/ident.h). */
#ifndef ORCH_BASE_LOGIN_H
#define ORCH_BASE_LOGIN_H

/** Stops treating the login name as the current user. Used for evidence, which must be the same on
 * every machine: only the machine where a run was made knows whose login name it was. */
void orch_who_ignore_login(void);

#endif
