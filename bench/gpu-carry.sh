#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Gathers the libraries, headers and tools that orch is built with, except LibTorch, in one folder that can be copied to a
# machine with a GPU that has no network: bench/gpu.sh builds orch there with this folder alone. Debian packages are downloaded
# (no root needed) and unpacked, not installed. The machine itself must have gcc, g++, CMake, make and python3 with PyTorch;
# nvcc, where there is one, compiles the kernel of the data path.
#
# usage: bench/gpu-carry.sh [FOLDER]   (default build-gpu-carry, which git ignores; its previous contents are replaced)
#
# FOLDER/env.sh sets what a build needs: pkg-config and CMake see FOLDER alone. Fails when FOLDER is larger than 64 MiB.
# shellcheck disable=SC1091
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$here/build-gpu-carry}
LIMIT_MIB=64

say() { printf '%s\n' "$*" >&2; }
die() { printf 'gpu-carry.sh: %s\n' "$*" >&2; exit 1; }
for tool in apt-get apt-cache dpkg; do
    command -v "$tool" >/dev/null || die "no $tool: run this on a Debian or Ubuntu machine"
done
if [ -e "$folder" ] && [ ! -e "$folder/env.sh" ] && [ -n "$(ls -A "$folder")" ]; then
    die "'$folder' is not empty and was not made by this script"
fi

# What the machine has itself, and what only programs need that orch never calls: neither these packages nor what
# they depend on are taken. Dependencies on interpreters belong to helper scripts of -dev packages.
HAS='^(gcc|g\+\+|cpp|binutils|cmake|make|git|perl|python3|libc6|libc-|libc6-dev|linux-libc-dev|libcrypt|libstdc\+\+|libgcc|libgomp|libpython|libperl|debconf|dpkg|tar|install-info|base-files|libtinfo|cdebconf|sensible-utils|adduser|passwd|coreutils|grep|sed|gawk|mawk|bash)([-0-9.].*)?(:.*)?$'
UNUSED='^(libgirepository.*|gir1\.2-.*|libglib2\.0-dev-bin|libglib2\.0-data|libglib2\.0-bin|bzip2|libicu.*|icu-devtools|libxml2.*|shared-mime-info|xdg-user-dirs|libcairo-script-interpreter2|libprotobuf-dev|libprotoc-dev|libprotobuf-lite.*|openssl|ca-certificates|krb5-locales|fontconfig|libldap-common|libsasl2-modules.*|ucf|gettext.*|libmagic.*|tzdata|xorg-sgml-doctools|fonts-.*|glib-networking.*|gsettings-.*|dconf.*|libproxy.*|libjs-.*|media-types|manpages.*|lsb-base|sysvinit-utils|x11-common|libx11-data|fontconfig-config)$'

# Taken without what it depends on: libsoup's .pc file names its header library, and the package depends on GTK.
ALONE=libsysprof-4-dev

# direct_dependencies PACKAGE...: the first alternative of each dependency, of a virtual package the first that provides it
direct_dependencies() {
    apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$@" |
        awk '/^ *[|]?(Pre)?Depends:/ { provider = !skip && $2 ~ /</; if (!skip && !provider) print $2; skip = ($1 ~ /^[|]/); next }
             provider { print $1; provider = 0 }' | sort -u
}

wanted_packages() {
    local level all new
    level=$(for package in $("$here/build.sh" packages | sed -n 's/^CORE: //p') libcmocka-dev ccache; do
        printf '%s\n' "$package"; done | grep -Ev "$HAS" | sort -u)
    all=$level
    while [ -n "$level" ]; do
        # shellcheck disable=SC2046,SC2086
        new=$(direct_dependencies $(printf '%s\n' $level | grep -vx "$ALONE") | grep -Ev "$HAS" | grep -Ev "$UNUSED" || true)
        level=$(comm -13 <(printf '%s\n' "$all") <(printf '%s\n' "$new"))
        all=$(printf '%s\n%s\n' "$all" "$level" | sed '/^$/d' | sort -u)
    done
    printf '%s\n' "$all"
}

unpack() {
    local downloads package
    downloads=$(mktemp -d "${TMPDIR:-/tmp}/gpu-carry-XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf '$downloads'" EXIT
    # shellcheck disable=SC2046
    (cd "$downloads" && apt-get -qq -o Acquire::Retries=2 download $(wanted_packages)) ||
        die "cannot download the packages: run 'apt-get update' as root, or look at the network"
    for package in "$downloads"/*.deb; do dpkg -x "$package" "$folder"; done
    find "$downloads" -name "*.deb" -printf "%f\n" | sort | sed 's/%3a/:/; s/_[^_]*[.]deb$//' >"$folder/packages.txt"
}

# Programs that a build calls; the others and all documentation go.
TOOLS='ninja pkg-config pkgconf protoc-c ccache gdbus-codegen'

strip_down() {
    local program name
    rm -rf "${folder:?}"/{etc,var,sbin,bin} "${folder:?}"/usr/{sbin,libexec,games,lib/systemd}
    for program in "$folder"/usr/bin/*; do
        name=$(basename "$program")
        case " $TOOLS " in *" ${name##*-linux-gnu-} "*) ;; *) rm -f "$program" ;; esac
    done
    find "$folder/usr/share" -mindepth 1 -maxdepth 1 ! -name pkgconfig -exec rm -rf {} +
    find "$folder" -name '*.a' -delete
    find "$folder" -type d \( -name engines-3 -o -name ossl-modules -o -name gio -o -name krb5 -o -name sasl2 \) -path '*/lib/*' \
        -prune -exec rm -rf {} +
    # modules beside the libraries: plugins of SASL, icons, tests
    find "$folder" -type f -name '*.so*' -size +100k -exec strip --strip-unneeded {} + 2>/dev/null || true
}

# Debian keeps some libraries in /lib: all go to usr/lib. Links that name a place of the whole system become relative.
merge_and_relink() {
    local link target
    if [ -d "$folder/lib" ]; then
        cp -a "$folder/lib/." "$folder/usr/lib/"
        rm -rf "${folder:?}/lib" "${folder:?}/lib64"
    fi
    find "$folder" -type l | while read -r link; do
        target=$(readlink "$link")
        case $target in
        /lib/*) ln -sfn "$(realpath -sm --relative-to="$(dirname "$link")" "$folder/usr$target")" "$link" ;;
        /*) ln -sfn "$(realpath -sm --relative-to="$(dirname "$link")" "$folder$target")" "$link" ;;
        esac
    done
    # links that lead nowhere after the removals
    find "$folder" -xtype l -delete
    find "$folder" -type d -empty -delete
}

# A .pc file's prefix is where the file lies, so that the folder works wherever it is copied to.
relocate_pc() {
    local file up
    find "$folder" -name '*.pc' | while read -r file; do
        up=$(realpath -sm --relative-to="$(dirname "$file")" "$folder/usr")
        sed -i -e "s|^prefix *=.*|prefix=\${pcfiledir}/$up|" -e "s|\([= ]\)/usr\(/\|$\)|\1\${pcfiledir}/$up\2|g" \
            -e "s|-\([IL]\)/usr/|-\1\${pcfiledir}/$up/|g" "$file"
    done
}

# Tools run with the folder's libraries; nothing else does by way of LD_LIBRARY_PATH, as python3 has libraries of its own.
write_wrappers() {
    local tool program
    mkdir -p "$folder/bin"
    for tool in $TOOLS; do
        program=usr/bin/$tool
        [ -x "$folder/$program" ] || continue
        cat >"$folder/bin/$tool" <<'TXT'
#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd)
lib=$(cat "$here/libraries")
LD_LIBRARY_PATH=$here/$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/usr/bin/$(basename "$0")" "$@"
TXT
        chmod +x "$folder/bin/$tool"
    done
}

write_env() {
    local lib
    lib=$(cd "$folder" && dirname "$(find usr/lib -name 'libglib-2.0.so' -print -quit)")
    [ -f "$folder/$lib/pkgconfig/glib-2.0.pc" ] || die "no glib-2.0 among what was unpacked"
    printf '%s\n' "$lib" >"$folder/libraries"
    cat >"$folder/env.sh" <<'TXT'
# Source this file in bash: pkg-config and CMake then find the libraries of this folder, and no others.
ORCH_CARRY=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ORCH_CARRY_LIB=$ORCH_CARRY/$(cat "$ORCH_CARRY/libraries")
export ORCH_CARRY ORCH_CARRY_LIB
export PATH=$ORCH_CARRY/bin:$PATH
export PKG_CONFIG=$ORCH_CARRY/bin/pkg-config
export PKG_CONFIG_LIBDIR=$ORCH_CARRY_LIB/pkgconfig:$ORCH_CARRY/usr/share/pkgconfig:$ORCH_CARRY/usr/lib/pkgconfig
export PKG_CONFIG_PATH=
export CMAKE_PREFIX_PATH=$ORCH_CARRY/usr${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}
# for CMake: headers and libraries that no module names, libraries of libraries, and where programs look for them. RPATH and
# not RUNPATH, which would not be used for the libraries of libraries.
ORCH_CARRY_LINK="-L$ORCH_CARRY_LIB -Wl,-rpath-link,$ORCH_CARRY_LIB -Wl,--disable-new-dtags"
ORCH_CARRY_INCLUDE="-isystem $ORCH_CARRY/usr/include -isystem $ORCH_CARRY/usr/include/$(basename "$ORCH_CARRY_LIB")"
ORCH_CARRY_ARGS=(-DCMAKE_BUILD_RPATH="$ORCH_CARRY_LIB" -DCMAKE_C_FLAGS="$ORCH_CARRY_INCLUDE"
    -DCMAKE_CXX_FLAGS="$ORCH_CARRY_INCLUDE" -DCMAKE_EXE_LINKER_FLAGS="$ORCH_CARRY_LINK"
    -DCMAKE_SHARED_LINKER_FLAGS="$ORCH_CARRY_LINK" -DCMAKE_MODULE_LINKER_FLAGS="$ORCH_CARRY_LINK")
TXT
}

# Every module that orch asks for is found, with what it requires.
check_modules() {
    local module names
    names=$(sed -n '/^CORE_PACKAGES/,/'"'"'$/p' "$here/build.sh" | tr ' ' '\n' | sed -n "s/.*-dev:\([a-z0-9.-]*\).*/\1/p" | grep -v gcc)
    for module in $names cmocka; do
        (. "$folder/env.sh" && pkg-config --cflags --libs "$module" >/dev/null) || die "pkg-config does not find $module in $folder"
    done
    # no library or tool needs another from outside the folder, but for those of every machine
    (
        . "$folder/env.sh"
        for file in "$ORCH_CARRY_LIB"/*.so.* "$folder"/usr/bin/*; do
            LD_LIBRARY_PATH=$ORCH_CARRY_LIB ldd "$file" 2>/dev/null | awk -v file="$(basename "$file")" -v within="$folder/" '
                $2 == "=>" && index($3, within) != 1 && $1 !~ /^(libc|libm|libdl|libpthread|librt|libresolv|libutil|libstdc\+\+|libgcc_s)[.]so/ {
                    print file " needs " $1 }'
        done
    ) | sort -u >"$folder/missing.txt"
    [ ! -s "$folder/missing.txt" ] || { cat "$folder/missing.txt" >&2; die "libraries lack others (above)"; }
    rm -f "$folder/missing.txt"
}

check_size() {
    local bytes mib
    bytes=$(find "$folder" -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')
    mib=$(awk -v b="$bytes" 'BEGIN { printf "%.1f", b / 1048576 }')
    if [ "$bytes" -gt $((LIMIT_MIB * 1048576)) ]; then
        say "the largest parts:"
        (cd "$folder" && find . -type f -printf '%s %P\n' | sort -rn | head -15 | awk '{ printf "  %6.1f MiB  %s\n", $1 / 1048576, $2 }') >&2
        die "'$folder' has $mib MiB, the limit is $LIMIT_MIB MiB"
    fi
    printf '%s: %s MiB (limit %d), %d packages\n' "$folder" "$mib" "$LIMIT_MIB" "$(wc -l <"$folder/packages.txt")"
}

rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
: >"$folder/env.sh"
unpack
strip_down
merge_and_relink
relocate_pc
write_env
write_wrappers
check_modules
check_size
