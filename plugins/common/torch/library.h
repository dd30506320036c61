/* SPDX-License-Identifier: MIT */
/* Opens a shared library that needs hundreds of others in less time than dlopen alone. */
#ifndef ORCH_COMMON_TORCH_LIBRARY_H
#define ORCH_COMMON_TORCH_LIBRARY_H

/** Opens a library by its path as dlopen with RTLD_NOW and RTLD_LOCAL does, but first each of the
 * libraries that it needs, directly or not, and that lie in the folder or a DT_RUNPATH of the
 * library that needs them. Those stay open. Returns NULL on failure: dlerror() says why. */
void *orch_library_open(const char *path);

#endif
