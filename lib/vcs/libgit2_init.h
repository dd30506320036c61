/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts libgit2 without what orch does not need of it. */
#ifndef ORCH_VCS_LIBGIT2_INIT_H
#define ORCH_VCS_LIBGIT2_INIT_H

/** Calls git_libgit2_init, but without reading the system's certificates. To be followed by
 * git_libgit2_shutdown. */
void orch_libgit2_init(void);

#endif
