/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to lib/vcs: the parts of the libgit2 backend, documented in backend.h. */
#ifndef ORCH_VCS_LIBGIT2_H
#define ORCH_VCS_LIBGIT2_H

#include "lib/vcs/backend.h"

/* git_error_clear is declared here since libgit2 1.9, and in git2.h before */
#if __has_include(<git2/sys/errors.h>)
#include <git2/sys/errors.h>
#endif

bool orch_libgit2_path(struct orch_vcs *vcs, const char *from, const char *to, GPtrArray *path,
                       GError **error);
bool orch_libgit2_common(struct orch_vcs *vcs, const char *a, const char *b, char **out,
                         GError **error);
bool orch_libgit2_scan(struct orch_capture *job, GError **error);
char *orch_libgit2_write(struct orch_capture *job, GError **error);
GPtrArray *orch_libgit2_ignored(struct orch_vcs *vcs, GError **error);

GPtrArray *orch_libgit2_entries(struct orch_vcs *vcs, const char *tree, GError **error);
char *orch_libgit2_build(struct orch_vcs *vcs, const GPtrArray *entries, GError **error);
bool orch_libgit2_checkout(struct orch_vcs *vcs, const char *tree, const GPtrArray *entries,
                           const char *dest, GError **error);
bool orch_libgit2_has_tree(struct orch_vcs *vcs, const char *tree);
char *orch_libgit2_diff_text(struct orch_vcs *vcs, const char *tree_a, const char *tree_b,
                             size_t max_bytes, GError **error);

#endif
