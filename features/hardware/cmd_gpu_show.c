/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch gpu show`: all that is known of one GPU. */
#include "core/cli/cli.h"
#include "lib/base/json.h"
#include "lib/devices/hardware.h"
#include "lib/devices/rate.h"
#include "lib/steptime/kernel_times.h"
#include "predictors/paleo/paleo.h"

#include <string.h>

/* ---- facts of a GPU -----------------------------------------------------------------------------
 */

struct gpu_facts {
    const char *unit_name;           /* what one device is: "one GPU of a card", ... */
    double tf32_tflops, bf16_tflops; /* 0: it has no such units */
    double ridge;                    /* FLOP/byte: below it memory is the bound (fp32) */
    const struct orch_link *link;    /* between the GPUs of a node */
    const struct orch_price *price;  /* the default one; NULL: none is known */
    double usd_per_hour;             /* of one GPU, with a price */
    double spot_usd_per_hour;        /* of one GPU of the same instance; 0: not offered */
};

static struct gpu_facts gpu_facts_of(const struct orch_hardware *hardware,
                                     const struct orch_gpu_spec *spec)
{
    const struct orch_price *price =
        orch_hardware_price(hardware, (struct orch_price_query){.gpu = spec->name});
    return (struct gpu_facts){.unit_name = orch_gpu_unit_name(spec->unit),
                              .tf32_tflops = orch_gpu_peak(spec, ORCH_TF32) / 1e12,
                              .bf16_tflops = orch_gpu_peak(spec, ORCH_BF16) / 1e12,
                              .ridge = spec->fp32_tflops * 1e3 / spec->bandwidth_gbs,
                              .link = spec->unit != ORCH_GPU_HOST ? orch_link_within(spec) : NULL,
                              .price = price,
                              .usd_per_hour = price ? orch_price_per_gpu(price, false) : 0,
                              .spot_usd_per_hour = price ? orch_price_per_gpu(price, true) : 0};
}

/* The part of a GPU's name before '-', which its relatives share. The caller frees. */
static char *gpu_stem(const struct orch_gpu_spec *spec)
{
    return g_strndup(spec->name, strcspn(spec->name, "-"));
}

/* The boards of a die, or the dies of a board, by the beginning of their names: const struct
 * orch_gpu_spec *; the caller unrefs. */
static GPtrArray *gpu_relatives(const struct orch_hardware *hardware,
                                const struct orch_gpu_spec *spec)
{
    g_autofree char *stem = gpu_stem(spec);
    GPtrArray *relatives = g_ptr_array_new();
    for (guint i = 0; i < hardware->gpus->len; i++) {
        const struct orch_gpu_spec *other = hardware->gpus->pdata[i];
        bool parts = (spec->unit == ORCH_GPU_DIE && other->unit == ORCH_GPU_BOARD) ||
                     (spec->unit == ORCH_GPU_BOARD && other->unit == ORCH_GPU_DIE);
        if (parts && g_str_has_prefix(other->name, stem))
            g_ptr_array_add(relatives, (void *)(uintptr_t)other);
    }
    return relatives;
}

/* ---- show --------------------------------------------------------------------------------------
 */

static void fact(struct orch_table *table, const char *what, json_t *value, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

static void fact(struct orch_table *table, const char *what, json_t *value, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    orch_table_add(table, what, NULL);
    orch_table_add(table, text, value);
}

static void add_rate(struct orch_table *table, const char *what, double tflops, const char *note)
{
    if (tflops > 0)
        fact(table, what, orch_json_finite(tflops), "%.5g TFLOP/s%s", tflops, note);
    else
        fact(table, what, json_null(), "-");
}

/* What matrix products reach by the units and by the board's power (lib/steptime/kernel_times.h).
 */
static void add_sustained(struct orch_table *table, const char *what,
                          const struct orch_gpu_spec *spec, enum orch_precision precision)
{
    struct orch_kernel_gpu gpu;
    bool is_tensor = precision == ORCH_FP16;
    if (!orch_kernel_gpu_for(spec, precision, 0, &gpu) || is_tensor != gpu.is_tensor)
        return;
    add_rate(table, what, gpu.sustained_flops / 1e12, " of matrix products, a model");
}

static void add_peaks(struct orch_table *table, const struct orch_gpu_spec *spec,
                      const struct gpu_facts *facts)
{
    add_rate(table, "peak fp64", spec->fp64_tflops, "");
    add_rate(table, "peak fp32", spec->fp32_tflops,
             spec->boost_mhz > 0 ? " at the boost clock" : "");
    if (spec->fp32_base_tflops > 0)
        add_rate(table, "peak fp32 (base clock)", spec->fp32_base_tflops, "");
    add_rate(table, "peak tf32", facts->tf32_tflops, " on tensor cores");
    add_rate(table, "peak fp16", spec->fp16_tflops, " without tensor cores");
    add_rate(table, "peak fp16 (tensor cores)", spec->tensor16_tflops, ", dense");
    add_sustained(table, "sustained fp32", spec, ORCH_FP32_IEEE);
    add_sustained(table, "sustained fp16 (tensor cores)", spec, ORCH_FP16);
    if (spec->bf16_tflops > 0)
        add_rate(table, "peak bf16", spec->bf16_tflops,
                 spec->unit == ORCH_GPU_HOST ? ", measured" : "");
    else
        add_rate(table, "peak bf16 (tensor cores)", facts->bf16_tflops, ", dense");
    if (spec->fp8_tflops > 0)
        add_rate(table, "peak fp8 (tensor cores)", spec->fp8_tflops, ", dense");
    if (spec->fp4_tflops > 0)
        add_rate(table, "peak fp4 (tensor cores)", spec->fp4_tflops, ", dense");
}

static void add_prices(struct orch_table *table, const struct gpu_facts *facts)
{
    if (!facts->price) {
        fact(table, "price", json_null(), "not known: 'orch predict --price' takes one");
        return;
    }
    g_autofree char *text = orch_price_text(facts->price, false);
    fact(table, "price", orch_json_finite(facts->usd_per_hour), "$%.4g an hour a GPU (%s)",
         facts->usd_per_hour, text);
    if (facts->price->spot_usd_per_hour > 0)
        fact(table, "spot price", orch_json_finite(facts->spot_usd_per_hour),
             "$%.4g an hour a GPU (the same instance)", facts->spot_usd_per_hour);
}

/* Adds devices with a similar name, such as a board and PALEO's own version of the same chip. */
static void add_relatives(struct orch_table *table, const struct orch_hardware *hardware,
                          const struct orch_gpu_spec *spec)
{
    g_autofree char *stem = gpu_stem(spec);
    g_autoptr(GPtrArray) relatives = gpu_relatives(hardware, spec);
    for (guint i = 0; i < relatives->len; i++) {
        const struct orch_gpu_spec *other = relatives->pdata[i];
        const struct gpu_facts facts = gpu_facts_of(hardware, other);
        fact(table, other->name, NULL, "%s: fp32 %.4g TFLOP/s, fp64 %.4g, %.4g GB/s, %.4g GB",
             facts.unit_name, other->fp32_tflops, other->fp64_tflops, other->bandwidth_gbs,
             other->memory_gb);
    }
    const struct orch_paleo_device *paleo = orch_paleo_device_find(stem, NULL);
    if (paleo)
        fact(table, "in PALEO's table", NULL,
             "paleo:%s: fp32 %.4g TFLOP/s, %.4g GB/s at %.4g MHz%s", paleo->name,
             paleo->peak_gflops / 1e3, paleo->bandwidth_gib_s, paleo->clock_mhz,
             strcmp(stem, "K80") == 0 ? " (the whole board at its base clock)" : "");
}

static void add_facts(struct orch_table *table, const struct orch_gpu_spec *spec,
                      const struct gpu_facts *facts)
{
    fact(table, "gpu", NULL, "%s", spec->name);
    fact(table, "which device", NULL, "%s", facts->unit_name);
    if (spec->aliases && *spec->aliases)
        fact(table, "also called", NULL, "%s", spec->aliases);
    fact(table, "architecture", NULL, "%s%s%s", spec->arch,
         *spec->compute_capability ? ", compute capability " : "", spec->compute_capability);
    if (spec->chip && *spec->chip)
        fact(table, "chip", NULL, "%s", spec->chip);
    if (spec->year)
        fact(table, "year", json_integer(spec->year), "%d", spec->year);
    if (spec->cores)
        fact(table, "cores", json_integer(spec->cores), "%d in %d multiprocessors", spec->cores,
             spec->sms);
    if (spec->boost_mhz > 0)
        fact(table, "clock", orch_json_finite(spec->boost_mhz), "%.5g MHz boost, %.5g base",
             spec->boost_mhz, spec->base_mhz);
    add_peaks(table, spec, facts);
    if (spec->memory_gb > 0)
        fact(table, "memory", orch_json_finite(spec->memory_gb), "%.4g GB", spec->memory_gb);
    fact(table, "memory bandwidth", orch_json_finite(spec->bandwidth_gbs), "%.5g GB/s",
         spec->bandwidth_gbs);
    if (facts->ridge > 0)
        fact(table, "intensity at the ridge", orch_json_finite(facts->ridge),
             "%.3g FLOP/byte (fp32: below it, memory is the bottleneck)", facts->ridge);
    if (facts->link) {
        fact(table, "PCIe", NULL, "%s x16", spec->pcie);
        fact(table, "GPU links",
             spec->nvlink_gbs > 0 ? orch_json_finite(spec->nvlink_gbs) : json_null(),
             spec->nvlink_gbs > 0 ? "%.4g GB/s, all together, both directions" : "-",
             spec->nvlink_gbs);
        fact(table, "link within a node", NULL, "%s, %.4g Gbit/s", facts->link->name,
             facts->link->gbit_s);
    }
    if (spec->watts > 0)
        fact(table, "power", orch_json_finite(spec->watts), "%.4g W", spec->watts);
}

/* Returns the specification with units in its names, and the price with its date. */
static json_t *spec_json(const struct orch_gpu_spec *s, const struct gpu_facts *facts)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"base_mhz", s->base_mhz},
                   {"boost_mhz", s->boost_mhz},
                   {"fp64_tflops", s->fp64_tflops},
                   {"fp32_tflops", s->fp32_tflops},
                   {"fp32_base_tflops", s->fp32_base_tflops},
                   {"tf32_tflops", facts->tf32_tflops},
                   {"fp16_tflops", s->fp16_tflops},
                   {"tensor16_tflops", s->tensor16_tflops},
                   {"bf16_tflops", facts->bf16_tflops},
                   {"fp8_tflops", s->fp8_tflops},
                   {"fp4_tflops", s->fp4_tflops},
                   {"memory_gb", s->memory_gb},
                   {"bandwidth_gbs", s->bandwidth_gbs},
                   {"l2_mb", s->l2_mb},
                   {"nvlink_gbs", s->nvlink_gbs},
                   {"watts", s->watts}};
    json_t *o = json_pack("{s:s, s:s, s:s, s:i, s:s, s:i, s:i, s:s, s:s, s:s, s:s, s:s}", "name",
                          s->name, "unit", facts->unit_name, "arch", s->arch, "year", s->year,
                          "compute_capability", s->compute_capability, "sms", s->sms, "cores",
                          s->cores, "pcie", s->pcie, "source", s->source, "date", s->date,
                          "confidence", s->confidence, "note", s->note);
    json_object_set_new(o, "chip", s->chip && *s->chip ? json_string(s->chip) : json_null());
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        json_object_set_new(o, numbers[i].name,
                            numbers[i].value > 0 ? orch_json_finite(numbers[i].value)
                                                 : json_null());
    const struct orch_price *p = facts->price;
    json_object_set_new(
        o, "price",
        p ? json_pack("{s:o, s:o, s:s, s:s, s:s, s:i, s:s, s:b, s:s}", "usd_per_gpu_hour",
                      orch_json_finite(facts->usd_per_hour), "spot_usd_per_gpu_hour",
                      orch_json_finite(facts->spot_usd_per_hour), "cloud", p->cloud, "instance",
                      p->instance, "region", p->region, "gpus", p->count, "as_of", p->as_of,
                      "host_apart", p->is_fee, "source", p->source)
          : json_null());
    return o;
}

static int run_show(struct orch_cli *cli, const void *options, GError **error)
{
    static const char *const headers[] = {"what", "value", NULL};
    (void)options;
    struct orch_hardware *hardware = orch_hardware_load(error);
    const struct orch_gpu_spec *spec =
        hardware ? orch_hardware_gpu(hardware, cli->args[0], error) : NULL;
    if (spec) {
        const struct gpu_facts facts = gpu_facts_of(hardware, spec);
        struct orch_table *table = orch_table_new(headers);
        add_facts(table, spec, &facts);
        add_prices(table, &facts);
        add_relatives(table, hardware, spec);
        fact(table, "source", NULL, "%s", spec->source);
        if (*spec->date)
            fact(table, "source read on", NULL, "%s", spec->date);
        fact(table, "confidence", NULL, "%s%s%s", spec->confidence, *spec->note ? ": " : "",
             spec->note);
        if (cli->json)
            orch_cli_print_json(json_pack("{s:o, s:o}", "gpu", spec_json(spec, &facts), "facts",
                                          orch_cli_table_to_json(table)));
        else
            orch_cli_table_print(cli, table, "facts");
    }
    orch_hardware_free(hardware);
    return spec ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_GPU_SHOW = {
    .name = "gpu show",
    .group = "Networks and hardware",
    .pages = true,
    .summary = "show everything known about one GPU, with its sources",
    .usage = "GPU",
    .min_args = 1,
    .max_args = 1,
    .about = "Accepts any usual name: V100, 'Tesla V100-SXM2-16GB', v100-32gb; 'here' is this "
             "machine once 'orch doctor --bench' has measured it. A card with two GPUs (K80, M60) "
             "has two entries: K80 is one of its GPUs, and K80-board is both together.",
    .examples = "orch gpu show K80   # one GPU, its whole board, and K80 in PALEO's table",
    .run = run_show,
};
