/* SPDX-License-Identifier: MIT */
/* The GNU build id of a shared object: the linker's digest of its code and data. Identical for
 * builds of the same source with the same compiler, and preserved by strip. And the names of the
 * libraries that it needs. */
#ifndef ORCH_BASE_ELF_H
#define ORCH_BASE_ELF_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

/** Returns the hex digits of the build id in an ELF file's bytes, or NULL if it has none or is not
 * an ELF file of this machine's class. Caller frees. */
char *orch_elf_build_id(const void *bytes, size_t length);

/** Returns the texts that an ELF file's dynamic section has under a tag, in its order and at most
 * 1000, followed by NULL: with DT_NEEDED the libraries that it needs ("libm.so.6"), with DT_RUNPATH
 * its folders ("/opt/lib:$ORIGIN"). Empty when there are none or it is not an ELF file of this
 * machine's class. Caller frees with g_strfreev. */
char **orch_elf_dynamic_texts(const void *bytes, size_t length, int64_t tag);

#endif
