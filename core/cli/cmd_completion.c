/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generates completion scripts from the table of commands. Words that depend on the folder (runs,
 * plugins) are requested from the program when Tab is pressed. */
#include "core/cli/cli.h"

#include "lib/base/error.h"

#include <string.h>

static void print_options(FILE *out, const struct orch_option *options)
{
    for (; options && options->name; options++)
        fprintf(out, " --%s", options->name);
}

/* Returns the kind of a command's arguments: recipe file, run, plugin, or other. */
static const char *argument_kind(const struct orch_command *command)
{
    static const struct {
        const char *word, *kind;
    } kinds[] = {{"RECIPE", "recipe"}, {"RUN", "run"}, {"NAME|PATH", "plugin"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (g_str_has_prefix(command->usage, kinds[i].word))
            return kinds[i].kind;
    return "file";
}

static void print_bash(void)
{
    puts("# bash completion for orch: source <(orch completion bash)\n"
         "_orch() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} kind=file words=\n"
         "    if [[ $COMP_CWORD -ge 2 && ${COMP_WORDS[2]} =~ ^[a-z]+$ ]]; then\n"
         "        case \"$verb ${COMP_WORDS[2]}\" in");
    for (int i = 0; ORCH_COMMANDS[i]; i++)
        if (strchr(ORCH_COMMANDS[i]->name, ' '))
            printf("            '%s') [[ $COMP_CWORD -gt 2 ]] && verb='%s' ;;\n",
                   ORCH_COMMANDS[i]->name, ORCH_COMMANDS[i]->name);
    puts("        esac\n    fi\n    if [[ $COMP_CWORD -eq 1 ]]; then");
    printf("        words='");
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (int i = 0; ORCH_COMMANDS[i]; i++) {
        g_auto(GStrv) parts = g_strsplit(ORCH_COMMANDS[i]->name, " ", 2);
        if (g_hash_table_add(seen, (gpointer)(uintptr_t)g_intern_string(parts[0])))
            printf("%s ", parts[0]);
    }
    puts("'\n        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); return\n    fi\n    case "
         "$verb in");
    for (int i = 0; ORCH_COMMANDS[i]; i++) {
        printf("        '%s') kind=%s words='", ORCH_COMMANDS[i]->name,
               argument_kind(ORCH_COMMANDS[i]));
        print_options(stdout, ORCH_COMMANDS[i]->options);
        print_options(stdout, ORCH_COMMON_OPTIONS);
        puts("' ;;");
    }
    g_hash_table_remove_all(seen);
    for (int i = 0; ORCH_COMMANDS[i]; i++) {
        const char *space = strchr(ORCH_COMMANDS[i]->name, ' ');
        if (!space)
            continue;
        g_autofree char *verb =
            g_strndup(ORCH_COMMANDS[i]->name, (gsize)(space - ORCH_COMMANDS[i]->name));
        if (!g_hash_table_add(seen, (gpointer)(uintptr_t)g_intern_string(verb)))
            continue;
        printf("        '%s') kind=none words='", verb);
        for (int j = 0; ORCH_COMMANDS[j]; j++)
            if (g_str_has_prefix(ORCH_COMMANDS[j]->name, verb) &&
                ORCH_COMMANDS[j]->name[strlen(verb)] == ' ')
                printf("%s ", ORCH_COMMANDS[j]->name + strlen(verb) + 1);
        puts("' ;;");
    }
    puts("    esac\n"
         "    case $kind in\n"
         "        run) words+=\" @last $(orch ls -n 100 2>/dev/null | cut -f1 | tail -n +2)\" ;;\n"
         "        plugin) words+=\" $(orch plugin ls 2>/dev/null | cut -f1 | tail -n +2)\" ;;\n"
         "    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "    if [[ $cur != -* ]]; then\n"
         "        [[ $kind = recipe ]] && COMPREPLY+=($(compgen -f -X '!*.recipe' -- \"$cur\") "
         "$(compgen -d -- \"$cur\"))\n"
         "        [[ $kind = file ]] && COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
         "    fi\n"
         "}\n"
         "complete -o filenames -F _orch orch");
}

static void print_zsh(void)
{
    puts("#compdef orch\n# zsh completion for orch: orch completion zsh > ~/.zfunc/_orch\n"
         "autoload -U +X bashcompinit && bashcompinit");
    print_bash();
}

static void print_fish(void)
{
    puts("# fish completion for orch: orch completion fish > ~/.config/fish/completions/orch.fish");
    for (int i = 0; ORCH_COMMANDS[i]; i++) {
        const struct orch_command *command = ORCH_COMMANDS[i];
        const char *space = strchr(command->name, ' ');
        g_autofree char *verb = space ? g_strndup(command->name, (gsize)(space - command->name))
                                      : g_strdup(command->name);
        g_autofree char *summary = g_strdelimit(g_strdup(command->summary), "'", ' ');
        if (space)
            printf("complete -c orch -n '__fish_seen_subcommand_from %s' -a '%s' -d '%s'\n", verb,
                   space + 1, summary);
        else
            printf("complete -c orch -n __fish_use_subcommand -a '%s' -d '%s'\n", verb, summary);
        for (const struct orch_option *o = command->options; o && o->name; o++)
            printf("complete -c orch -n '__fish_seen_subcommand_from %s' -l '%s'\n", verb, o->name);
    }
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    static const struct {
        const char *shell;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (unsigned i = 0; i < G_N_ELEMENTS(shells); i++)
        if (strcmp(shells[i].shell, cli->args[0]) == 0) {
            shells[i].print();
            return ORCH_EXIT_OK;
        }
    orch_error_set(error, ORCH_ERROR_USAGE, "use bash, zsh or fish", "unknown shell '%s'",
                   cli->args[0]);
    return -1;
}

const struct orch_command ORCH_COMMAND_COMPLETION = {
    .name = "completion",
    .group = "Maintenance",
    .summary = "print a completion script for bash, zsh or fish",
    .usage = "SHELL",
    .min_args = 1,
    .max_args = 1,
    .examples = "  source <(orch completion bash)",
    .run = run,
};
