#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Nothing sets the environment after a thread exists: getenv in that thread may read freed memory. Each place that sets it
# has its reason here.
set -eu
cd "${1:-$(dirname "$0")/..}"
allowed='
core/cli/dispatch.c           a command has no thread before it reads its options
core/cli/pager.c             before the command runs, as dispatch.c
core/host/child.c             the child after the fork, before it becomes the program
core/host/compiled.c          the child after the fork, before the plugin is loaded
core/host/opened_files.c      the same
features/web/cmd_serve.c      this process becomes orch-web in the next line
plugins/common/torch/thread_waiting.c  when the plugin is loaded (constructor in torch_load.c)
plugins/onnxrun/ort_engine.c  when the plugin is loaded (constructor)
plugins/common/comm/mpi_setup.c  before MPI_Init, which a plugin calls before all that has threads
plugins/replay/actor/worker_pool.c  the first lines of a worker process
'
files=$(awk 'NF { print $1 }' <<<"$allowed" | sort)
found=$(git ls-files -co --exclude-standard -- 'core/*.c' 'lib/*.c' 'features/*.c' 'plugins/*.c' 'plugins/*.cpp' 'predictors/*.c' 'store/*.c' |
    xargs grep -lE '(^|[^_a-z])(g_)?(set|put|unset|clear)env *\(' | sort)
more=$(comm -13 <(printf '%s\n' "$files") <(printf '%s\n' "$found"))
[ -z "$more" ] || { printf 'these set the environment; tests/environment.sh wants the reason why no thread exists then:\n%s\n' "$more"; exit 1; }
gone=$(comm -23 <(printf '%s\n' "$files") <(printf '%s\n' "$found"))
[ -z "$gone" ] || { printf 'these do not set the environment any more:\n%s\n' "$gone"; exit 1; }
