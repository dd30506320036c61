/* SPDX-License-Identifier: MIT */
/* Whether the login name of whoever runs this counts as theirs (orch_who_is_same,
 * lib/base/ident.h). */
#ifndef ORCH_BASE_LOGIN_H
#define ORCH_BASE_LOGIN_H

/** From now on a login name is nobody else's name. For evidence, which must say the same on every
 * machine: only the one where a run was made knows whose login it was. */
void orch_who_ignore_login(void);

#endif
