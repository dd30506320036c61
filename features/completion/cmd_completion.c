/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generates completion scripts from the table of commands. Names that depend on the folder (runs,
 * plugins) are requested from the program when Tab is pressed: 'orch completion runs' and 'orch
 * completion plugins' print them one a line. A store holds texts of other
 * people, and a shell may interpret what it completes: bash's 'compgen -W' even executes $(...) in
 * its words. So the listing prints only names without any character that a shell interprets, and
 * the scripts read its lines into an array and compare beginnings, without any further expansion.
 */
#include "core/cli/cli.h"
#include "core/cli/parts.h"
#include "core/results/run_list.h"
#include "lib/base/error.h"

#include <string.h>

/* ---- names that the scripts offer ---------------------------------------------------------------
 */

/* Names of runs and plugins come from files and stores of other people. The pattern here is strict
 * on purpose: what it leaves out can still be typed. */

enum { RUNS_MAX = 100, NAME_BYTES_MAX = 100 };

static bool is_safe(const char *name)
{
    static const char inner[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-";
    return g_ascii_isalnum(name[0]) && name[strspn(name, inner)] == 0 &&
           strlen(name) <= NAME_BYTES_MAX;
}

/* Prints a name once. */
static void print_name(GHashTable *printed, const char *name)
{
    if (name && is_safe(name) && g_hash_table_add(printed, g_strdup(name)))
        puts(name);
}

/* Prints the short keys and names of the newest runs, and of those that are running. */
static void print_runs(struct orch_cli *cli, GHashTable *printed)
{
    g_autoptr(GError) unsaid = NULL;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, &unsaid);
    const struct orch_selection newest = {.limit = RUNS_MAX};
    struct orch_run_list *list =
        store ? orch_run_list_make(store, &newest, NULL, true, &unsaid) : NULL;
    if (list && list->ended)
        puts("@last");
    for (guint i = 0; list && i < list->runs->len; i++) {
        const struct orch_listed_run *row = list->runs->pdata[i];
        print_name(printed, orch_run_short_key(row->key));
        print_name(printed, row->name);
    }
    orch_run_list_free(list);
}

static void print_plugins(struct orch_cli *cli, GHashTable *printed)
{
    g_autofree char *base = orch_cli_recipe_folder();
    g_autoptr(GPtrArray) entries = orch_plugins_list(orch_cli_plugins(cli), base);
    for (guint i = 0; i < entries->len; i++) {
        const struct orch_plugin_entry *entry = entries->pdata[i];
        print_name(printed, entry->manifest ? entry->manifest->name : NULL);
    }
}

/* Prints the names of a kind, "runs" or "plugins", one a line, and only those without any
 * character that a shell interprets. Prints nothing where there is no store, or it cannot be read:
 * completion has no place for messages. False, without output, for another kind. */
static bool completion_names(struct orch_cli *cli, const char *kind)
{
    static const struct {
        const char *kind;
        void (*print)(struct orch_cli *, GHashTable *);
    } kinds[] = {{"runs", print_runs}, {"plugins", print_plugins}};
    for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (strcmp(kinds[i].kind, kind) == 0) {
            g_autoptr(GHashTable) printed =
                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
            kinds[i].print(cli, printed);
            return true;
        }
    return false;
}

/* ---- the command --------------------------------------------------------------------------------
 */

/* What the arguments of commands are, by a word of their usage line. A command may take several. */
static const struct {
    const char *word, *kind;
    bool is_listed; /* 'orch completion KIND' lists the names */
} KINDS[] = {{"RECIPE", "recipe", false},
             {"RUN", "runs", true},
             {"NAME|PATH", "plugins", true},
             {"SHELL", "shell", false}};

static bool takes(const struct orch_command *command, unsigned kind)
{
    return command && strstr(command->usage, KINDS[kind].word);
}

/* Returns the first word of a command's name; the caller frees. */
static char *verb_of(const char *name)
{
    return g_strndup(name, strcspn(name, " "));
}

/* Returns the first words of all commands, each once, or the second words of those that begin with
 * `verb`. The caller unrefs; the words need no quotes. */
static GPtrArray *words_after(const char *verb)
{
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    for (const struct orch_command *const *c = orch_commands(); *c; c++) {
        const char *name = (*c)->name;
        g_autofree char *first = verb_of(name);
        const char *second = name[strlen(first)] ? name + strlen(first) + 1 : NULL;
        if (!verb && !g_ptr_array_find_with_equal_func(words, first, g_str_equal, NULL))
            g_ptr_array_add(words, g_steal_pointer(&first));
        else if (verb && second && strcmp(verb, first) == 0)
            g_ptr_array_add(words, g_strdup(second));
    }
    return words;
}

static void print_words(const char *prefix, const GPtrArray *words)
{
    for (guint i = 0; i < words->len; i++)
        printf("%s%s", i ? " " : prefix, (const char *)words->pdata[i]);
}

/* ---- bash and zsh -----------------------------------------------------------------------------
 */

static void print_options(const struct orch_option *options)
{
    for (; options && options->name; options++)
        printf(" --%s", options->name);
}

/* Prints the row of a name: its options, the kinds of its arguments, and the words that can follow.
 * `command` is NULL for a word that only begins commands. */
static void print_row(const char *name, const struct orch_command *command)
{
    printf("        '%s')", name);
    if (command) {
        printf(" options=(");
        g_autofree struct orch_option *options = orch_command_options(command);
        print_options(options);
        print_options(ORCH_COMMON_OPTIONS);
        printf(" )");
    }
    g_autoptr(GPtrArray) inner = words_after(name);
    print_words(" inner=(", inner);
    printf("%s kinds=(", inner->len ? ")" : "");
    bool any = false;
    for (unsigned i = 0; i < G_N_ELEMENTS(KINDS); i++)
        if (takes(command, i)) {
            printf("%s%s", any ? " " : "", KINDS[i].kind);
            any = true;
        }
    puts(any || !command ? ") ;;" : "file) ;;");
}

/* Prints a function that is the same in both shells. It sets the caller's variables. */
static void print_rows(void)
{
    puts("_orch_command() {  # the options, following words and kinds of arguments of a command\n"
         "    case \"$1\" in");
    for (const struct orch_command *const *c = orch_commands(); *c; c++) {
        print_row((*c)->name, *c);
    }
    g_autoptr(GPtrArray) verbs = words_after(NULL);
    for (guint i = 0; i < verbs->len; i++)
        if (!orch_command_find(verbs->pdata[i]))
            print_row(verbs->pdata[i], NULL);
    puts("        *) return 1 ;;\n"
         "    esac\n"
         "}");
}

static void print_bash(void)
{
    puts("# bash completion for orch: source <(orch completion bash)");
    print_rows();
    printf("_orch() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} kind word IFS=$' \\t\\n'\n"
           "    local -a options=() inner=() kinds=(file) found=() names=()\n"
           "    COMPREPLY=()\n"
           "    if ((COMP_CWORD == 1)); then\n"
           "        found=(");
    g_autoptr(GPtrArray) verbs = words_after(NULL);
    print_words("", verbs);
    puts(")\n"
         "        kinds=()\n"
         "    elif ((COMP_CWORD == 2)) ||\n"
         "        ! _orch_command \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\"; then\n"
         "        _orch_command \"${COMP_WORDS[1]}\"\n"
         "        ((COMP_CWORD == 2)) && found=(\"${inner[@]}\")\n"
         "    fi\n"
         "    [[ $cur == -* ]] && found=(\"${options[@]}\") kinds=()\n"
         "    for kind in \"${kinds[@]}\"; do\n"
         "        case $kind in\n"
         "            runs | plugins)\n"
         "                mapfile -t names < <(command orch completion \"$kind\" 2>/dev/null)\n"
         "                found+=(\"${names[@]}\") ;;\n"
         "            shell) found+=(bash zsh fish) ;;\n"
         "            recipe)\n"
         "                compopt -o filenames 2>/dev/null\n"
         "                mapfile -t names < <(compgen -f -X '!*.recipe' -- \"$cur\"\n"
         "                    compgen -d -- \"$cur\")\n"
         "                COMPREPLY+=(\"${names[@]}\") ;;\n"
         "            file) compopt -o default 2>/dev/null ;;\n"
         "        esac\n"
         "    done\n"
         "    for word in \"${found[@]}\"; do\n"
         "        [[ $word == \"$cur\"* ]] && COMPREPLY+=(\"$word\")\n"
         "    done\n"
         "    return 0\n"
         "}\n"
         "complete -F _orch orch");
}

static void print_zsh(void)
{
    puts("#compdef orch\n"
         "# zsh completion for orch: orch completion zsh > ~/.zfunc/_orch, or source "
         "<(orch completion zsh)");
    print_rows();
    printf("_orch() {\n"
           "    local kind\n"
           "    local -a options inner kinds names\n"
           "    kinds=(file)\n"
           "    if (( CURRENT == 2 )); then\n"
           "        compadd -- ");
    g_autoptr(GPtrArray) verbs = words_after(NULL);
    print_words("", verbs);
    puts("\n"
         "        return\n"
         "    elif (( CURRENT == 3 )) || ! _orch_command \"${words[2]} ${words[3]}\"; then\n"
         "        _orch_command \"${words[2]}\"\n"
         "        (( CURRENT == 3 )) && compadd -a inner\n"
         "    fi\n"
         "    if [[ \"$PREFIX\" == -* ]]; then\n"
         "        compadd -a options\n"
         "        return\n"
         "    fi\n"
         "    for kind in $kinds; do\n"
         "        case $kind in\n"
         "            runs | plugins)\n"
         "                names=(${(f)\"$(command orch completion $kind 2>/dev/null)\"})\n"
         "                compadd -a names ;;\n"
         "            shell) compadd -- bash zsh fish ;;\n"
         "            recipe) _files -g '*.recipe' ;;\n"
         "            file) _files ;;\n"
         "        esac\n"
         "    done\n"
         "}\n"
         "if [[ \"${funcstack[1]}\" == _orch ]]; then\n"
         "    _orch \"$@\"\n"
         "else\n"
         "    compdef _orch orch\n"
         "fi");
}

/* ---- fish -------------------------------------------------------------------------------------
 */

/* Returns a summary in single quotes of fish, in which only ' and \ have a meaning. */
static char *fish_quoted(const char *text)
{
    GString *out = g_string_new("'");
    for (; *text; text++) {
        if (strchr("'\\", *text))
            g_string_append_c(out, '\\');
        g_string_append_c(out, *text);
    }
    return g_string_free(g_string_append_c(out, '\''), FALSE);
}

static void print_fish_options(const char *name, const struct orch_option *options)
{
    for (; options && options->name; options++) {
        g_autofree char *help = fish_quoted(options->help);
        printf("complete -c orch -n '__orch_command %s' -l %s%s -d %s\n", name, options->name,
               options->value ? " -r" : "", help);
    }
}

static void print_fish_command(const struct orch_command *command)
{
    const char *name = command->name, *second = strchr(name, ' ');
    g_autofree char *verb = verb_of(name);
    g_autofree char *summary = fish_quoted(command->summary);
    if (second)
        printf("complete -c orch -n '__orch_follows %s' -f -a '%s' -d %s\n", verb, second + 1,
               summary);
    else
        printf("complete -c orch -n '__orch_follows' -f -a '%s' -d %s\n", name, summary);
    for (unsigned i = 0; i < G_N_ELEMENTS(KINDS); i++)
        if (takes(command, i) && KINDS[i].is_listed)
            printf("complete -c orch -n '__orch_command %s' -f -a '(command orch completion %s "
                   "2>/dev/null)'\n",
                   name, KINDS[i].kind);
        else if (takes(command, i) && strcmp(KINDS[i].kind, "shell") == 0)
            printf("complete -c orch -n '__orch_command %s' -f -a 'bash zsh fish'\n", name);
    g_autofree struct orch_option *options = orch_command_options(command);
    print_fish_options(name, options);
}

static void print_fish(void)
{
    puts("# fish completion for orch: orch completion fish > ~/.config/fish/completions/orch.fish\n"
         "function __orch_command  # the line begins with this command\n"
         "    set -l words (commandline -opc)\n"
         "    set -l last (math 1 + (count $argv))\n"
         "    test (count $words) -ge $last; and test \"$words[2..$last]\" = \"$argv\"\n"
         "end\n"
         "function __orch_follows  # the word at the cursor is the one after these\n"
         "    set -l words (commandline -opc)\n"
         "    test (count $words) -eq (math 1 + (count $argv)); or return 1\n"
         "    test (count $argv) -eq 0; or __orch_command $argv\n"
         "end");
    g_autoptr(GPtrArray) verbs = words_after(NULL);
    for (guint i = 0; i < verbs->len; i++)
        if (!orch_command_find(verbs->pdata[i]))
            printf("complete -c orch -n '__orch_follows' -f -a '%s' -d 'several commands'\n",
                   (const char *)verbs->pdata[i]);
    for (const struct orch_command *const *c = orch_commands(); *c; c++)
        print_fish_command(*c);
    print_fish_options("", ORCH_COMMON_OPTIONS);
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
    if (completion_names(cli, cli->args[0]))
        return ORCH_EXIT_OK;
    orch_error_set(error, ORCH_ERROR_USAGE, "use bash, zsh or fish", "unknown shell '%s'",
                   cli->args[0]);
    return -1;
}

const struct orch_command ORCH_COMMAND_COMPLETION = {
    .name = "completion",
    .group = "Maintain",
    .summary = "print a completion script for bash, zsh or fish",
    .usage = "SHELL|runs|plugins",
    .min_args = 1,
    .max_args = 1,
    .about = "The script completes commands, options, recipes, and the names of runs and plugins "
             "that 'orch completion runs' and 'orch completion plugins' print. They leave out "
             "names with characters other than letters, digits, '_', '.' and '-'.",
    .examples = "  source <(orch completion bash)",
    .run = run,
};
