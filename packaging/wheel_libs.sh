#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the libraries that Debian 11 lacks or has too old for orch, from the sources of Debian 12 (with its patches), as
# shared libraries in PREFIX. Called by wheel.sh inside the chroot. What the system has is taken from there.
#
#   wheel_libs.sh PREFIX
#
# GLib 2.66 is too old (2.70), SQLite 3.34 (3.37), libgit2 1.1 (1.3); libfyaml and libsoup 3 are not there. libgit2 is built
# without networks: orch talks to remotes through git. libcurl is built with OpenSSL 3, because the licence of 1.1 excludes that
# of orch, and knows HTTP alone. cairo is built without X11. gcc, the C library and all else are Debian 11's.
set -euo pipefail
PREFIX=$1
WORK=${ORCH_WHEEL_WORK:-/var/tmp/orch-wheel}
export PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig LD_LIBRARY_PATH=$PREFIX/lib CFLAGS='-O2 -g0 -fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2'
export LDFLAGS='-Wl,-z,relro,-z,now' MAKEFLAGS="-j$(nproc)"
mkdir -p "$WORK" "$PREFIX/lib/pkgconfig"

# source PACKAGE: Debian 12's, unpacked and patched; prints its folder
source_of() {
    cd "$WORK"
    rm -rf "$1"-*/
    apt-get -q source --only-source "$1/bookworm" >&2
    find "$PWD" -maxdepth 1 -type d -name "$1-*" | head -n 1
}

# library PACKAGE: builds it by build_PACKAGE unless that was done, and keeps its copyright notice with the names of its libraries
library() {
    local name=$1 notes=$PREFIX/share/licenses/$1 folder
    [ ! -e "$notes/libraries" ] || return 0
    printf 'building %s\n' "$name" >&2
    folder=$(source_of "$name")
    find "$PREFIX/lib" -name '*.so*' -type f | sort >"$WORK/before"
    cd "$folder"
    "build_${name//[.-]/_}"
    mkdir -p "$notes"
    cp debian/copyright "$notes/copyright"
    find "$PREFIX/lib" -name '*.so*' -type f | sort | comm -13 "$WORK/before" - | sed 's|.*/||' >"$notes/libraries"
    cd "$WORK"
    rm -rf "$folder"
}

meson_build() { # meson_build OPTION...
    rm -rf ../built
    meson setup ../built --prefix="$PREFIX" --libdir=lib --buildtype=plain --wrap-mode=nodownload "$@"
    ninja -C ../built install
    rm -rf ../built
}

cmake_build() { # cmake_build OPTION...
    rm -rf ../built
    cmake -S . -B ../built -G Ninja -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_BUILD_TYPE=None "$@"
    ninja -C ../built install
    rm -rf ../built
}

build_glib2_0() {
    # both: orch-host links the archive, because it starts once a trial. No modules of the system, which belong to its own GLib.
    meson_build -Ddefault_library=both -Dtests=false -Dinstalled_tests=false -Dnls=disabled -Dselinux=disabled -Dlibmount=disabled \
        -Dlibelf=disabled -Dman=false -Dgtk_doc=false -Dglib_debug=disabled -Dgio_module_dir=/nonexistent/orch
}

build_sqlite3() {
    local flags
    ./configure --disable-tcl --disable-readline >/dev/null
    make sqlite3.c sqlite3.h >/dev/null
    flags=$(sed -n '/SQLITE_/{s/#.*//; p}' debian/rules | grep -o -- '-DSQLITE_[A-Z0-9_]*\(=[0-9]*\)\?' | grep -v ICU | sort -u | tr '\n' ' ')
    # shellcheck disable=SC2086
    gcc $CFLAGS $LDFLAGS $flags -DSQLITE_ENABLE_MATH_FUNCTIONS -shared -Wl,-soname,libsqlite3.so.0 -o "$PREFIX/lib/libsqlite3.so.0" sqlite3.c -lpthread -ldl -lm
    ln -sf libsqlite3.so.0 "$PREFIX/lib/libsqlite3.so"
    mkdir -p "$PREFIX/include"
    cp sqlite3.h sqlite3ext.h "$PREFIX/include/"
    printf 'prefix=%s\nName: sqlite3\nDescription: SQLite\nVersion: %s\nLibs: -L${prefix}/lib -lsqlite3\nCflags: -I${prefix}/include\n' \
        "$PREFIX" "$(cat VERSION)" >"$PREFIX/lib/pkgconfig/sqlite3.pc"
}

build_libgit2() {
    cmake_build -DBUILD_TESTS=OFF -DBUILD_CLI=OFF -DUSE_SSH=OFF -DUSE_HTTPS=OFF -DUSE_NTLMCLIENT=OFF -DUSE_GSSAPI=OFF \
        -DUSE_SHA1=CollisionDetection -DREGEX_BACKEND=pcre2 -DUSE_HTTP_PARSER=system
}

build_libfyaml() {
    local version
    version=$(dpkg-parsechangelog -S Version | sed 's/[-+].*//')
    printf '%s\n' "$version" >.tarball-version
    autoreconf -fi >/dev/null
    ./configure --prefix="$PREFIX" --disable-static >/dev/null
    make install >/dev/null
}

build_libsoup3() {
    meson_build -Dgssapi=disabled -Dntlm=disabled -Dbrotli=disabled -Dtls_check=false -Dintrospection=disabled -Dvapi=disabled \
        -Dtests=false -Dinstalled_tests=false -Dautobahn=disabled -Dsysprof=disabled -Dpkcs11_tests=disabled -Ddocs=disabled
}

build_openssl() {
    ./Configure "linux-$(uname -m)" --prefix="$PREFIX" --libdir=lib --openssldir=/etc/ssl shared no-tests no-engine no-module no-dso no-comp no-ui-console >/dev/null
    make build_libs >/dev/null
    make install_dev >/dev/null
    rm -f "$PREFIX"/lib/lib{ssl,crypto}.a
}

build_curl() {
    # certificates are found at run time (features/datasets/download.c)
    cmake_build -DBUILD_CURL_EXE=OFF -DBUILD_TESTING=OFF -DHTTP_ONLY=ON -DCURL_USE_OPENSSL=ON -DOPENSSL_ROOT_DIR="$PREFIX" -DCURL_CA_BUNDLE=none \
        -DCURL_CA_PATH=none -DCURL_USE_LIBSSH2=OFF -DCURL_USE_LIBPSL=OFF -DUSE_LIBIDN2=OFF -DUSE_NGHTTP2=OFF -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DENABLE_MANUAL=OFF
}

build_cairo() {
    ./configure --prefix="$PREFIX" --disable-static --disable-xlib --disable-xcb --disable-gobject --disable-script --disable-interpreter \
        --disable-trace --disable-gtk-doc --enable-ft=yes --enable-fc=yes --enable-pdf=yes --enable-png=yes >/dev/null
    # Debian's patches touch the input of configure, which stays as it is
    make AUTOCONF=: AUTOHEADER=: AUTOMAKE=: ACLOCAL=: install >/dev/null
}

for name in glib2.0 sqlite3 libgit2 libfyaml libsoup3 openssl curl cairo; do library $name; done
