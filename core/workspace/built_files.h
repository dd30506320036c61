/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that git ignores because they are built from the others. Data and environments that git
 * ignores serve any commit, but a program that was built from the work tree is not that of another
 * commit: with it, make would find nothing to do, and all commits would run alike. */
#ifndef ORCH_CORE_WORKSPACE_BUILT_FILES_H
#define ORCH_CORE_WORKSPACE_BUILT_FILES_H

#include <stdbool.h>

/** Returns whether an ignored file or folder (an absolute path) looks like the result of a build: a
 * program, library or object file; a folder in which CMake, Meson, Ninja or Cargo builds, or which
 * has such files itself; Python's __pycache__. A virtual environment does not. */
bool orch_is_built(const char *path);

#endif
