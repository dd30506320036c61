/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/consent.h"

#include "core/plugin/trust.h"
#include "lib/base/text.h"

#include <string.h>
#include <unistd.h>

/* Asks on stderr, like all messages. Only an explicit yes is accepted. */
static bool ask(const char *path, const char *sha256)
{
    g_autofree char *shown = orch_text_plain(g_strdup(path));
    fprintf(stderr,
            "This compiled plugin did not come with orch. It can do anything that you can.\n  %s\n "
            " SHA-256 %s\nAlways trust this file? [y/N] ",
            shown, sha256);
    fflush(stderr);
    char answer[16];
    if (!fgets(answer, sizeof answer, stdin))
        return false;
    g_strchomp(answer);
    return g_ascii_strcasecmp(answer, "y") == 0 || g_ascii_strcasecmp(answer, "yes") == 0;
}

static bool remember(struct orch_cli *cli, const char *path, const char *sha256)
{
    g_autoptr(GError) problem = NULL;
    if (!orch_trust_add(path, sha256, &problem))
        orch_cli_warn(cli, "%s", problem->message);
    return true;
}

static bool consent_when_asked(const char *path, const char *sha256, void *cli)
{
    return ask(path, sha256) && remember(cli, path, sha256);
}

static bool consent_to_all(const char *path, const char *sha256, void *cli)
{
    orch_cli_info(cli, "trusted '%s' (SHA-256 %.12s...)", path, sha256);
    return remember(cli, path, sha256);
}

void orch_cli_confirm_trust(struct orch_cli *cli, bool trust)
{
    cli->needs_every_plugin = true;
    bool can_ask = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    orch_plugin_consent_fn consent = trust ? consent_to_all : can_ask ? consent_when_asked : NULL;
    orch_plugins_set_consent(orch_cli_plugins(cli), consent, cli);
}
