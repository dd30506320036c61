/* SPDX-License-Identifier: MIT */
/* The GNU build id of a shared object: the linker's digest of its code and data. Identical for
 * builds of the same source with the same compiler, and preserved by strip. */
#ifndef ORCH_BASE_ELF_H
#define ORCH_BASE_ELF_H

#include <glib.h>
#include <stddef.h>

/** Returns the hex digits of the build id in an ELF file's bytes, or NULL if it has none or is not
 * an ELF file of this machine's class. Caller frees. */
char *orch_elf_build_id(const void *bytes, size_t length);

#endif
