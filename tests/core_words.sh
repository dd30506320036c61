#!/usr/bin/env bash
# No text of core names a command or a word of a feature, and no text of the program a page by its path. Such texts are found, in one string and in several in a row;
# comments, core's own commands and core/host are left out.
set -u
root=$1 place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/core/cli" "$place/core/host" "$place/features/a"
printf 'const struct orch_command ORCH_A = {\n    .name = "pull",\n};\nconst struct orch_command ORCH_B = {\n    .name = "db merge",\n};\n' >"$place/features/a/cmd.c"
printf 'const struct orch_command ORCH_C = {\n    .name = "db check",\n};\n/* orch pull, Slurm */\nconst char *t = "orch db check";\n' >"$place/core/cli/a.c"
printf 'const char *t = "slurm";\n' >"$place/core/host/a.c"
python3 "$root/tests/core_words.py" "$place" 2 || { echo "a text is refused that names no feature"; exit 1; }
python3 "$root/tests/core_words.py" "$place" 20 >/dev/null && { echo "too few texts pass"; exit 1; }
for text in '"see orch pull"' '"see '"'orch db \"\n    \"merge'"'"' '"a Slurm job"' '"write a bundle"'; do
    printf "const char *t = $text;\n" >"$place/core/cli/b.c"
    python3 "$root/tests/core_words.py" "$place" 2 >"$place/said" && { echo "not found: $text"; exit 1; }
    grep -q '^core/cli/b.c:1: ' "$place/said" || { cat "$place/said"; exit 1; }
done
rm "$place/core/cli/b.c"
mkdir "$place/plugins"
printf 'const char *t = "see docs/plug"\n    "ins.md";\n' >"$place/plugins/p.c"
python3 "$root/tests/core_words.py" "$place" 2 >"$place/said" && { echo "a page by its path passes"; exit 1; }
grep -q '^plugins/p.c:1: ' "$place/said" || { cat "$place/said"; exit 1; }
python3 "$root/tests/core_words.py" "$root" 2500
