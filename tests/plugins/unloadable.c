/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plugins that must be refused when they are loaded, and one that is slow but right; the build
 * makes one of each kind, by -DNAME and one of the switches below. */
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

#ifdef SLOW_LOAD
#include <time.h>

__attribute__((constructor)) static void load_slowly(void)
{
    struct timespec time = {0, 40 * 1000000};
    nanosleep(&time, NULL);
}

static const struct orch_metric METRICS[] = {{.name = "value", .better = 77}};
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

#if defined(LATE_PARAM) || defined(FAR_PARAM)
#ifdef LATE_PARAM
enum { OFFSET = 12 };
#else
enum { OFFSET = 100 };
#endif
static const struct orch_param PARAMS[] = {
    {.name = "late", .type = ORCH_INT, .offset = OFFSET, .def = "1"},
};
#endif

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
#ifdef OTHER_NAME
    .name = "another",
#elif !defined(NO_NAME)
    .name = NAME,
#endif
#ifdef ODD_VERSION
    .version = "one",
#else
    .version = "1.0.0",
#endif
    .summary = "must be refused",
    .licence = "GPL-3.0-or-later",
#ifndef NO_RUN
    .run = run,
#endif
#ifdef SLOW_LOAD
    ORCH_TABLE(metrics, METRICS),
#endif
#if defined(LATE_PARAM) || defined(FAR_PARAM)
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
#ifdef HUGE_STRIDE
    changed.metric_stride = 70000;
#endif
#ifdef NULL_TABLE
    changed.param_count = 1;
#endif
#ifdef MANY_ROWS
    changed.param_count = 5000;
    changed.params = (const struct orch_param *)"";
#endif
#ifdef RETURNS_NULL
    return 0;
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
