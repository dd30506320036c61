/* SPDX-License-Identifier: MIT */
/* Where the parts of this program are: in a build tree, an installed prefix, or a Python package.
 */
#ifndef ORCH_BASE_PROGRAM_PATH_H
#define ORCH_BASE_PROGRAM_PATH_H

#include <glib.h>

/** Location of a part of this program, built or installed: "orch-host" (program), "plugins"
 * (folder), "share" (folder of data files such as skeletons and the Python helper; in the source
 * tree unless installed). Fails with ORCH_ERROR_IO if it is not found. Caller frees. */
char *orch_program_path(const char *part, GError **error);
/** Where a file that plugins share is or belongs: "orch-torch.so", "orch-smpi-worker". What the
 * user built for this installation (orch_program_built_folder) comes before what it brought along.
 * The file is missing where its libraries were missing at build time. NULL without a folder of
 * plugins. Caller frees. */
char *orch_program_module(const char *name);

/** Folder of the modules that 'orch plugin build' made for this installation, whether it exists or
 * not. NULL for a program without the sources to build from. Caller frees. */
char *orch_program_built_folder(void);

#endif
