/* SPDX-License-Identifier: MIT */
/* The GNU build id of a shared object: the linker's digest of its code and data, the same for every
 * build of the same source with the same compiler, and kept by strip. */
#ifndef ORCH_BASE_ELF_H
#define ORCH_BASE_ELF_H

#include <glib.h>
#include <stddef.h>

/** Hex digits of the build id in an ELF file's bytes; NULL when it has none or is no ELF file of
 * this machine's kind. The caller frees. */
char *orch_elf_build_id(const void *bytes, size_t length);

#endif
