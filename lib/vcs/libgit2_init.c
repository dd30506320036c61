/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libgit2 with mbed TLS (Debian 12 and 13) reads all certificates of the system when it is
 * initialised, which takes half of the processor time of a short command. They are for its own
 * HTTPS connections, and orch makes none: the git program talks to remotes. The symbols of a
 * program come before those of its libraries, so libgit2 calls these functions instead of mbed
 * TLS's, and goes on with an empty list. A libgit2 without mbed TLS calls neither. */
#include "lib/vcs/libgit2_init.h"

#include <dlfcn.h>
#include <git2.h>
#include <stdbool.h>
#include <string.h>

static _Thread_local bool is_initialising;

typedef int read_certificates(void *chain, const char *path);
/* Weak, because a static libgit2 brings mbed TLS's own into the program. */
#define BEFORE_LIBRARIES __attribute__((weak, visibility("default")))
BEFORE_LIBRARIES read_certificates mbedtls_x509_crt_parse_file, mbedtls_x509_crt_parse_path;

/* Passes calls of other callers on to the library. */
static int read_unless_initialising(const char *function, void *chain, const char *path)
{
    if (is_initialising)
        return 0;
    void *symbol = dlsym(RTLD_NEXT, function);
    read_certificates *next = NULL;
    memcpy(&next, &symbol, sizeof next);
    return next ? next(chain, path) : -1;
}

int mbedtls_x509_crt_parse_file(void *chain, const char *path)
{
    return read_unless_initialising("mbedtls_x509_crt_parse_file", chain, path);
}

int mbedtls_x509_crt_parse_path(void *chain, const char *path)
{
    return read_unless_initialising("mbedtls_x509_crt_parse_path", chain, path);
}

void orch_libgit2_init(void)
{
    is_initialising = true;
    git_libgit2_init();
    is_initialising = false;
}
