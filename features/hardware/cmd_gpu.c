/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch gpu ls`, `links` and `prices`: tables from lib/hw and from the user's own file. */
#include "core/cli/cli.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/devices/hardware.h"
#include "lib/devices/price_updates.h"
#include "lib/devices/rate.h"

#include <string.h>

/* ---- offers ------------------------------------------------------------------------------------
 */

/** An offer of a cloud, for one GPU. */
struct orch_offer {
    const struct orch_price *price;
    double usd_per_hour, spot_usd_per_hour; /* 0: not offered */
    bool has_ended;                         /* no longer rented out */
};

static void add_offers(GArray *offers, const GPtrArray *prices, const char *gpu)
{
    for (guint i = 0; i < prices->len; i++) {
        const struct orch_price *price = prices->pdata[i];
        const struct orch_offer offer = {price, orch_price_per_gpu(price, false),
                                         orch_price_per_gpu(price, true),
                                         orch_price_has_ended(price)};
        if (!gpu || strcmp(gpu, price->gpu) == 0)
            g_array_append_val(offers, offer);
    }
}

/* The prices of the hardware file, then the offers of clouds, for the GPU of that name (NULL:
 * all): struct orch_offer by value; the caller unrefs. */
static GArray *offers_of(const struct orch_hardware *hardware, const char *gpu)
{
    GArray *offers = g_array_new(FALSE, FALSE, sizeof(struct orch_offer));
    add_offers(offers, hardware->prices, gpu);
    add_offers(offers, hardware->offers, gpu);
    return offers;
}

/* ---- the command --------------------------------------------------------------------------------
 */

static const char OWN_FILE[] =
    "You can add devices of your own in hardware.yaml in $XDG_CONFIG_HOME/orch, or in the file "
    "that ORCH_HARDWARE names.\n"
    "\n"
    "    gpus:\n"
    "      - name: lab-card\n"
    "        like: RTX-3090          # supplies what is not given here\n"
    "        fp32_tflops: 34.1\n"
    "        bandwidth_gbs: 936\n"
    "    links:\n"
    "      - { name: lab-switch, gbit_s: 40, per: node } # or gpu\n"
    "    prices:\n"
    "      - { gpu: V100, usd_per_hour: 0.5, as_of: 2026-11 }\n"
    "\nPeaks are those without sparsity; a multiply-add is two operations. memory_gb is in 2^30 "
    "bytes.";

/* ---- ls ----------------------------------------------------------------------------------------
 */

struct ls_options {
    const char *arch, *format;
};

static const struct orch_option LS_OPTIONS[] = {
    ORCH_OPTION(struct ls_options, arch, TEXT, "arch", .letter = 'a', .value = "NAME",
                .help = "list only GPUs of this architecture (Kepler, Pascal, Volta, ...)"),
    ORCH_OPTION(struct ls_options, format, TEXT, "format", .letter = 'f', .value = "NAME",
                .help = "print text, tsv, csv, markdown or latex"),
    {0}};

static void add_number(struct orch_table *table, double value)
{
    g_autofree char *text = value > 0 ? orch_number_format(value) : g_strdup("-");
    orch_table_add(table, text, value > 0 ? orch_json_finite(value) : json_null());
}

static void add_price(struct orch_table *table, const struct orch_hardware *hardware,
                      const struct orch_gpu_spec *spec)
{
    const struct orch_price *price =
        orch_hardware_price(hardware, (struct orch_price_query){.gpu = spec->name});
    if (!price) {
        orch_table_add(table, "-", json_null());
        orch_table_add(table, "-", json_null());
        return;
    }
    double usd_per_hour = orch_price_per_gpu(price, false);
    g_autofree char *text = g_strdup_printf("%.3g", usd_per_hour);
    g_autofree char *from = g_strdup_printf("%s %s", price->cloud, price->as_of);
    orch_table_add(table, text, orch_json_finite(usd_per_hour));
    orch_table_add(table, from, NULL);
}

static int run_ls(struct orch_cli *cli, const void *options, GError **error)
{
    static const char *const headers[] = {
        "gpu",   "arch",         ">year",          ">fp64 TFLOP/s",
        ">fp32", ">16 bit",      ">tensor 16 bit", ">memory GB",
        ">GB/s", ">USD/h a GPU", "price of",       NULL};
    const struct ls_options *o = options;
    struct orch_hardware *hardware =
        orch_cli_format_check(o->format, error) ? orch_hardware_load(error) : NULL;
    if (!hardware)
        return -1;
    struct orch_table *table = orch_table_new(headers);
    int count = 0;
    for (guint i = 0; i < hardware->gpus->len; i++) {
        const struct orch_gpu_spec *spec = hardware->gpus->pdata[i];
        if (o->arch && g_ascii_strcasecmp(o->arch, spec->arch) != 0)
            continue;
        orch_table_add(table, spec->name, NULL);
        orch_table_add(table, spec->arch, NULL);
        add_number(table, spec->year);
        add_number(table, spec->fp64_tflops);
        add_number(table, spec->fp32_tflops);
        add_number(table, spec->fp16_tflops);
        add_number(table, spec->tensor16_tflops);
        add_number(table, spec->memory_gb);
        add_number(table, spec->bandwidth_gbs);
        add_price(table, hardware, spec);
        count++;
    }
    orch_cli_table_print_as(cli, table, "gpus", o->format);
    orch_hardware_free(hardware);
    if (!count && o->arch)
        orch_cli_warn(cli, "unknown architecture '%s'", o->arch);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_GPU_LS = {
    .name = "gpu ls",
    .group = "Networks and hardware",
    .pages = true,
    .family = "known GPUs, links between them, prices of clouds",
    .summary = "list the known GPUs with peak rates, memory and price",
    .usage = "",
    .max_args = 0,
    .options = LS_OPTIONS,
    .option_bytes = sizeof(struct ls_options),
    .about = OWN_FILE,
    .run = run_ls,
};

/* ---- links, prices ------------------------------------------------------------------------------
 */

static int run_links(struct orch_cli *cli, const void *options, GError **error)
{
    static const char *const headers[] = {
        "link", "also called",     ">Gbit/s",       ">GB/s",  ">latency us",
        "per",  ">GPUs in a node", "between nodes", "source", NULL};
    (void)options;
    struct orch_hardware *hardware = orch_hardware_load(error);
    if (!hardware)
        return -1;
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < hardware->links->len; i++) {
        const struct orch_link *link = hardware->links->pdata[i];
        orch_table_add(table, link->name, NULL);
        orch_table_add(table, *link->aliases ? link->aliases : "-", NULL);
        add_number(table, link->gbit_s);
        add_number(table, link->gbit_s / 8);
        add_number(table, link->latency_us);
        orch_table_add(table, link->is_of_gpu ? "GPU" : "node", NULL);
        add_number(table, link->gpus);
        orch_table_add(table, link->between && *link->between ? link->between : "-", NULL);
        orch_table_add(table, link->source, NULL);
    }
    orch_cli_table_print(cli, table, "links");
    orch_hardware_free(hardware);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_GPU_LINKS = {
    .name = "gpu links",
    .group = "Networks and hardware",
    .pages = true,
    .summary = "list links between workers: Ethernet, InfiniBand, PCIe, NVLink",
    .usage = "",
    .max_args = 0,
    .run = run_links,
};

static void add_price_row(struct orch_table *table, const struct orch_offer *offer)
{
    const struct orch_price *price = offer->price;
    orch_table_add(table, price->gpu, NULL);
    orch_table_add(table, price->cloud, NULL);
    orch_table_add(table, price->instance, NULL);
    orch_table_add(table, price->region, NULL);
    orch_table_add_int(table, price->count);
    add_number(table, offer->usd_per_hour);
    add_number(table, offer->spot_usd_per_hour);
    orch_table_add(table, price->as_of, NULL);
    orch_table_add(table, price->is_fee ? "GPU alone, host apart" : "instance",
                   json_boolean(price->is_fee));
    orch_table_add(table, offer->has_ended ? price->ended : "-",
                   offer->has_ended ? NULL : json_null());
    orch_table_add(table, price->is_own ? "yes" : "-", json_boolean(price->is_own));
    orch_table_add(table, price->source, NULL);
}

static int show_prices(struct orch_cli *cli, GError **error)
{
    static const char *const headers[] = {"gpu",          "cloud",  "instance", "region", ">GPUs",
                                          ">USD/h a GPU", ">spot",  "as of",    "what",   "ended",
                                          "yours",        "source", NULL};
    struct orch_hardware *hardware = orch_hardware_load(error);
    const struct orch_gpu_spec *spec = NULL;
    if (hardware && cli->arg_count)
        spec = orch_hardware_gpu(hardware, cli->args[0], error);
    bool ok = hardware && (spec || !cli->arg_count);
    if (ok) {
        struct orch_table *table = orch_table_new(headers);
        g_autoptr(GArray) offers = offers_of(hardware, spec ? spec->name : NULL);
        for (guint i = 0; i < offers->len; i++)
            add_price_row(table, &g_array_index(offers, struct orch_offer, i));
        orch_cli_table_print(cli, table, "prices");
    }
    orch_hardware_free(hardware);
    return ok ? ORCH_EXIT_OK : -1;
}

struct prices_options {
    const char *update;
    bool remove;
};

static const struct orch_option PRICES_OPTIONS[] = {
    ORCH_OPTION(struct prices_options, update, TEXT, "update", .letter = 'u', .value = "FILE",
                .help = "add the prices in this CSV file to the known ones"),
    ORCH_OPTION(struct prices_options, remove, FLAG, "remove",
                .help = "remove the added prices (with GPU: only those of this GPU)"),
    {0}};

static int update_prices(struct orch_cli *cli, const char *path, GError **error)
{
    struct orch_hardware *hardware = orch_hardware_load(error);
    struct orch_price_change change;
    bool ok = hardware && orch_price_updates_add(hardware, path, &change, error);
    orch_hardware_free(hardware);
    if (!ok)
        return -1;
    g_autofree char *file = orch_price_updates_file();
    if (cli->json)
        orch_cli_print_json(json_pack("{s:i, s:i, s:i, s:s}", "added", change.added, "replaced",
                                      change.replaced, "known", change.known, "file", file));
    else
        orch_cli_print("prices: %u added, %u replaced, %u already known; kept in %s\n",
                       change.added, change.replaced, change.known, file);
    return ORCH_EXIT_OK;
}

/* Without a GPU nothing is read, so that a damaged file can be removed. */
static int remove_prices(struct orch_cli *cli, GError **error)
{
    struct orch_hardware *hardware = cli->arg_count ? orch_hardware_load(error) : NULL;
    const struct orch_gpu_spec *spec =
        hardware ? orch_hardware_gpu(hardware, cli->args[0], error) : NULL;
    unsigned removed;
    bool ok = (spec || !cli->arg_count) &&
              orch_price_updates_remove(spec ? spec->name : NULL, &removed, error);
    orch_hardware_free(hardware);
    if (!ok)
        return -1;
    if (cli->json)
        orch_cli_print_json(json_pack("{s:i}", "removed", removed));
    else
        orch_cli_print("prices removed: %u\n", removed);
    return ORCH_EXIT_OK;
}

static int run_prices(struct orch_cli *cli, const void *options, GError **error)
{
    const struct prices_options *o = options;
    if (!o->update)
        return o->remove ? remove_prices(cli, error) : show_prices(cli, error);
    if (!o->remove && !cli->arg_count)
        return update_prices(cli, o->update, error);
    orch_error_set(error, ORCH_ERROR_USAGE, "for example orch gpu prices --update FILE",
                   "option '--update' excludes '--remove' and a GPU");
    return -1;
}

const struct orch_command ORCH_COMMAND_GPU_PRICES = {
    .name = "gpu prices",
    .group = "Networks and hardware",
    .pages = true,
    .summary = "list what clouds charge per hour, by instance, region and date",
    .usage = "[GPU]",
    .max_args = 1,
    .options = PRICES_OPTIONS,
    .option_bytes = sizeof(struct prices_options),
    .about =
        "The prices are from SkyPilot's catalogues and clouds' own lists; a year alone in the "
        "column 'as of' is an estimate. "
        "The --price of other commands and the prices in your hardware.yaml take precedence.\n"
        "\n"
        "--update adds the rows of a CSV file to prices.csv in $XDG_DATA_HOME/orch. For each "
        "instance and region, the newest price is used. The columns:\n"
        "\n"
        "    gpu,cloud,instance,region,gpus,usd_per_hour,spot_usd_per_hour,as_of,host,source\n"
        "    H100,aws,p5.48xlarge,us-east-1,8,55.04,,2026-11,included,aws.amazon.com/ec2/pricing\n"
        "\n"
        "usd_per_hour is the price of the whole instance with its 'gpus' GPUs; spot may be left "
        "empty; as_of is a year, a month or a day; host is 'included', or 'apart' if the host "
        "machine is billed separately.",
    .examples = "orch gpu prices V100\n"
                "orch gpu prices --update prices-2026-11.csv\n"
                "orch gpu prices --remove   # keep only the built-in prices",
    .run = run_prices,
};
