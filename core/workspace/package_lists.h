/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of the packages that a run's software consists of: those of its Python, of its conda
 * environment, and of the system (dpkg). A run records the digest of each list. The list itself is
 * stored once in the store's folder, as environments/DIGEST.ENDING, and stays on this machine.
 * A line there is a package, which the digest covers, and after a tab where it came from. */
#ifndef ORCH_CORE_WORKSPACE_PACKAGE_LISTS_H
#define ORCH_CORE_WORKSPACE_PACKAGE_LISTS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

enum orch_package_list {
    ORCH_PACKAGES_PYTHON, /* "numpy 1.24.2", tab, "dpkg" of one that dpkg installed */
    ORCH_PACKAGES_CONDA,  /* "numpy-1.24.2-py311h64a7726_0", tab, URL#md5 */
    ORCH_PACKAGES_APT,    /* "libc6:amd64 2.36-9" */
    ORCH_PACKAGE_LISTS
};

/** The member of a run's environment that has the digest of each list. */
extern const char *const ORCH_PACKAGE_LIST_FACTS[ORCH_PACKAGE_LISTS];
/** Whether a member of an environment is the digest of a list. */
bool orch_package_list_is_fact(const char *name);

/** The installed packages below `root` ("" or the folder of a system) by dpkg's status, sorted:
 * char *; NULL: no dpkg. The caller unrefs. */
GPtrArray *orch_packages_of_dpkg(const char *root);
/** The packages of a conda environment as NAME-VERSION-BUILD, sorted: char *; NULL: `prefix` is no
 * conda environment. The caller unrefs. */
GPtrArray *orch_packages_of_conda(const char *prefix);
/** The digest of a list of packages. */
void orch_packages_digest(const GPtrArray *packages, char out[65]);

/** Writes a list into the folder of a store, unless it is there. `prefix` is that of a conda
 * environment, `of_dpkg` the set of Python packages that dpkg installed; either may be NULL.
 * Failures are ignored. */
void orch_packages_keep(const char *store_folder, enum orch_package_list list,
                        const GPtrArray *packages, const char *prefix, GHashTable *of_dpkg);
/** The lines of the list whose digest a run's environment has, with their tabs: char *. NULL: the
 * run has none, or it is not on this machine. The caller unrefs. */
GPtrArray *orch_packages_read(const char *store_folder, enum orch_package_list list,
                              const json_t *environment);

#endif
