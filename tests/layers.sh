#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Holds every #include of the tree against docs/layers.txt: the compiler cannot, since system headers
# can be reached from everywhere. Prints each breach and exits with 1.
set -eu
cd "${1:-$(dirname "$0")/..}"

git ls-files -co --exclude-standard -- 'core/*.[ch]' 'features/*.[ch]' 'lib/*.[ch]' 'store/*.[ch]' 'predictors/*.[ch]' \
    'plugins/*.[ch]' 'plugins/*.cpp' 'plugins/*.cu' 'include/*.h' |
tr '\n' '\0' | xargs -0 grep -sHnE '^ *# *include' |
awk '
    function uses(what) { delete unused[owner " " what]; delete unused["features/* " what] }
    BEGIN {
        split("assert ctype dirent errno fcntl float inttypes limits locale math poll pthread pwd sched setjmp " \
              "signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdio_ext stdlib string strings time " \
              "unistd cstddef cstdint cstdlib cstring string vector deque memory functional algorithm exception " \
              "mutex map unordered_map utility random stdexcept new fstream sstream fnmatch glob libgen " \
              "ftw getopt termios utime wchar cmath ctime limits array tuple optional chrono thread atomic numeric " \
              "omp cpuid immintrin iostream unwind ucontext", words, " ")
        for (i in words) { libc[words[i]] = 1; libc[words[i] ".h"] = 1 }
        while ((getline line < "docs/layers.txt") > 0) {
            if (line ~ /^#/ || line !~ /:/) continue
            folder = line; sub(/:.*/, "", folder); rest = line; sub(/^[^:]*:/, "", rest)
            if (folder ~ /\.[a-z]+$/) { # one file, with what it includes against the layers
                count = split(rest, headers, " ")
                for (i = 1; i <= count; i++) excepted[folder " " headers[i]] = 1
            } else {
                allowed[folder] = " " rest " "
                count = split(rest, headers, " ")
                for (i = 1; i <= count; i++) unused[folder " " headers[i]] = 1
            }
        }
    }
    {
        file = $0; sub(/:.*/, "", file)
        header = $0; sub(/^[^:]*:[0-9]*: *# *include */, "", header); sub(/[ \t]*\/[\/*].*/, "", header)
        place = $0; sub(/: *#.*/, "", place)
        folder = file; sub(/\/[^\/]*$/, "", folder); owner = folder
        while (!(owner in allowed) && owner !~ /^features\/[^\/]*$/ && owner ~ /\//) sub(/\/[^\/]*$/, "", owner)
        may = allowed[owner] (owner ~ /^features\// ? allowed["features/*"] : "") # each feature by itself
        if (may == "") { print place ": folder " folder " is not in docs/layers.txt"; bad = 1; next }
        checked++
        if (header ~ /^"/) {
            path = header; gsub(/"/, "", path); target = path; sub(/\/[^\/]*$/, "", target)
            if (path !~ /\// || target == folder || index(target "/", owner "/") == 1) next
            ok = index(may, " " path " ") > 0; t = target
            uses(path)
            while (1) { if (index(may, " " t " ")) ok = 1; uses(t); if (t !~ /\//) break; sub(/\/[^\/]*$/, "", t) }
            if (!ok && (file " " path) in excepted) { used[file " " path] = 1; next }
            if (!ok) { print place ": " folder " may not include " header; bad = 1 }
        } else {
            name = header; gsub(/[<>]/, "", name)
            if (name in libc || name ~ /^(sys|linux|asm)\// || name ~ /^arpa\//) next
            two = name; sub(/\/[^\/]*$/, "/", two)
            top = name; sub(/\/.*/, "/", top)
            uses("<" name ">"); uses("<" top ">"); uses("<" two ">")
            if (name ~ /^orch\//) { uses("include/orch"); if (owner != "include/orch" && !index(may, " include/orch ")) { print place ": " folder " may not include " header; bad = 1 } next }
            if (index(may, "<" name ">") || (name ~ /\// && index(may, "<" top ">"))) next
            if (index(may, "<" two ">")) next
            print place ": " folder " may not include " header; bad = 1
        }
    }
    END { for (pair in unused) { print "docs/layers.txt: nothing uses " pair; bad = 1 }
          for (pair in excepted) if (!(pair in used)) { print "docs/layers.txt: " pair " is not needed any more"; bad = 1 }
          if (!checked) { print "no #include was looked at"; bad = 1 } else print checked " includes looked at"; exit bad }'

# A floor grows only together with its number in docs/architecture.md.
for floor in core store predictors lib features plugins; do
    lines=$(git ls-files -co --exclude-standard -z -- "$floor" | xargs -0 cat 2>/dev/null | wc -l)
    most=$(sed -n "/^  core .*, plugins /{s/.* $floor \([0-9,]*[0-9]\).*/\1/p}" docs/architecture.md | tr -d ,)
    [ "$lines" -le "${most:-0}" ] || {
        echo "$floor has $lines lines, docs/architecture.md allows ${most:-none}"
        echo "hint: let something go, or raise its number there and say why in the message of the commit"
        exit 1
    }
done

# What may stand at the top of the tree: nothing comes there by mistake.
top=' .ci .clang-format .clang-tidy .dockerignore .gitignore .mailmap CHANGELOG.md CITATION.cff CMakeLists.txt CMakePresets.json
    CONTRIBUTING.md Dockerfile LICENSE README.md bench build.sh cmake conda core docs environment.yml features include lib
    packaging plugins predictors recipes share store tests '
git ls-files | sed 's,/.*,,' | sort -u | while read -r name; do
    [[ ${top//$'\n'/ } = *" $name "* ]] || { echo "$name: not in the list of what may stand at the top ($0)" && exit 1; }
done
