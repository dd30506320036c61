/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Initialises libgit2 without the certificates of the system, which orch does not use. */
#ifndef ORCH_VCS_LIBGIT2_INIT_H
#define ORCH_VCS_LIBGIT2_INIT_H

/** Calls git_libgit2_init, but without reading the system's certificates. Pair each call
 * with git_libgit2_shutdown. */
void orch_libgit2_init(void);

#endif
