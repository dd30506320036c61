/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plugins that must be refused when they are loaded; the build makes one of each kind, by -DNAME
 * and one of the switches below. */
#include <orch/plugin.h>

#ifdef CRASH_LOAD
#include <signal.h>

/* Before anybody can look at its descriptor. */
__attribute__((constructor)) static void crash(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}
#endif

static int run(void *state, const void *params, const struct orch_host *host)
{
#ifdef UNDEFINED_SYMBOL
    extern int this_symbol_is_nowhere(void);
    return this_symbol_is_nowhere();
#endif
    (void)state, (void)params, (void)host;
    return ORCH_OK;
}

#ifdef LATE_PARAM
static const struct orch_param PARAMS[] = {
    {.name = "late", .type = ORCH_INT, .offset = 12, .def = "1"},
};
#endif

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = NAME,
    .version = "1.0.0",
    .summary = "must be refused",
    .licence = "GPL-3.0-or-later",
#ifndef NO_RUN
    .run = run,
#endif
#ifdef LATE_PARAM
    .params_bytes = 16,
    ORCH_TABLE(params, PARAMS),
#endif
};

#ifndef NO_SYMBOL
static struct orch_plugin changed;

#ifdef NEXT_MAJOR
#define orch_plugin_v1 orch_plugin_v2
#endif
__attribute__((visibility("default"))) const struct orch_plugin *orch_plugin_v1(void);
const struct orch_plugin *orch_plugin_v1(void)
{
    changed = PLUGIN;
#ifdef BAD_ABI
    changed.abi_major = 2;
#endif
#ifdef BAD_MAGIC
    changed.magic = 0;
#endif
#ifdef SHORT_STRUCT
    changed.struct_bytes -= 8;
#endif
#ifdef SHORT_STRIDE
    changed.param_stride = 8;
#endif
    return &changed;
}
#else
/* The run function is used by nothing but the descriptor, and that by nothing. */
__attribute__((visibility("default"))) const struct orch_plugin *something_else(void);
const struct orch_plugin *something_else(void)
{
    return &PLUGIN;
}
#endif
