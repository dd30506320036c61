/* SPDX-License-Identifier: MIT */
/*
 * libcrypto is loaded at run time, so orch-host and the plugins depend neither on it nor on its
 * dependencies, and systems without it work. Its SHA256_* functions, unlike EVP, need no
 * initialisation. A library that computes a wrong digest for a known text is not used.
 */
#include "lib/base/sha256.h"

#include <dlfcn.h>
#include <string.h>

struct functions {
    int (*init)(void *);
    int (*update)(void *, const void *, size_t);
    int (*final)(uint8_t *, void *);
};

static struct functions found;
static struct functions *fast; /* atomic: &found once it is complete */

static bool is_right(const struct functions *functions)
{
    static const uint8_t abc[32] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea,
                                    0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
                                    0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c,
                                    0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
    uint64_t state[G_N_ELEMENTS(((struct orch_hash *)NULL)->state)];
    uint8_t digest[32];
    return functions->init(state) == 1 && functions->update(state, "abc", 3) == 1 &&
           functions->final(digest, state) == 1 && memcmp(digest, abc, sizeof abc) == 0;
}

static bool take(void *library, const char *name, void *place)
{
    void *symbol = dlsym(library, name);
    memcpy(place, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* The library is never closed, because its functions are used until the process ends. */
static bool look(int flags)
{
    static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.1.1"};
    struct functions functions;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        void *library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL | flags);
        if (!library)
            continue;
        if (take(library, "SHA256_Init", &functions.init) &&
            take(library, "SHA256_Update", &functions.update) &&
            take(library, "SHA256_Final", &functions.final) && is_right(&functions)) {
            found = functions;
            g_atomic_pointer_set(&fast, &found);
            return true;
        }
        dlclose(library);
    }
    return false;
}

static const struct functions *functions(void)
{
    static gsize looked;
    if (g_once_init_enter(&looked)) {
        look(RTLD_NOLOAD);
        g_once_init_leave(&looked, 1);
    }
    return g_atomic_pointer_get(&fast);
}

void orch_hash_preload(void)
{
    static gsize looked;
    if (!functions() && g_once_init_enter(&looked)) {
        look(0);
        g_once_init_leave(&looked, 1);
    }
}

void orch_hash_begin(struct orch_hash *hash)
{
    const struct functions *use = functions();
    hash->sum = use ? NULL : g_checksum_new(G_CHECKSUM_SHA256);
    if (use)
        use->init(hash->state);
}

void orch_hash_add(struct orch_hash *hash, const void *bytes, size_t length)
{
    if (hash->sum)
        g_checksum_update(hash->sum, bytes, (gssize)length);
    else
        found.update(hash->state, bytes, length);
}

void orch_hash_end(struct orch_hash *hash, uint8_t out[32])
{
    gsize length = 32;
    if (hash->sum)
        g_checksum_get_digest(hash->sum, out, &length);
    else
        found.final(out, hash->state);
    orch_hash_free(hash);
}

void orch_hash_end_text(struct orch_hash *hash, char out[ORCH_SHA256_CHARS])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[32];
    orch_hash_end(hash, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[64] = 0;
}

void orch_hash_free(struct orch_hash *hash)
{
    g_clear_pointer(&hash->sum, g_checksum_free);
}

void orch_sha256(const void *bytes, size_t length, char out[ORCH_SHA256_CHARS])
{
    struct orch_hash hash;
    orch_hash_begin(&hash);
    orch_hash_add(&hash, bytes, length);
    orch_hash_end_text(&hash, out);
}
