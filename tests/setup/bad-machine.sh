# './build.sh' on a machine that is not as it should be: an old CMake first on the PATH, a disk that is nearly full, a package manager that was
# interrupted, a package that came in half, an environment whose Python is gone, another shell. It says what is wrong, and the next try works.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
mkdir -p tree/build tree/plugins/sleep stub
stub() {
    cat >"stub/$1"
    chmod +x "stub/$1"
}
stub dpkg-query <<'S'
#!/bin/bash
for name; do [[ $name = "$GONE" || $name = [-\$]* ]] || echo "installed $name"; done
S
stub apt-get <<'S'
#!/bin/sh
echo "Reading package lists..."
echo "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem."
exit 100
S
stub cmake <<'S'
#!/bin/sh
[ "$1" != --version ] || { printf 'cmake version %s\n\nCMake suite maintained by Kitware\n' "$CMAKE_IS"; exit; }
echo "$*" >>"$NOTES/cmake"
touch "$ORCH_BUILD_DIR/build.ninja" "$ORCH_BUILD_DIR/CMakeCache.txt"
printf '#!/bin/sh\necho orch\n' >"$ORCH_BUILD_DIR/orch"
chmod +x "$ORCH_BUILD_DIR/orch"
S
stub df <<'S'
#!/bin/sh
[ -n "$FREE" ] || exit 1
printf 'Filesystem 1048576-blocks Used Available Capacity Mounted on\n/dev/x 1000 0 %s 0%% /\n' "$FREE"
S
stub du <<<'#!/bin/sh
[ "$1" = -sm ] || exec /usr/bin/du "$@"
printf "%s\t.\n" "${USED:-1}"'
for name in ninja nvidia-smi apt-cache; do stub $name <<<'#!/bin/sh'; done
stub id <<<'#!/bin/sh
echo 0'
PATH=$PWD/stub:$PATH
cd tree || exit 1
cp "$SOURCE/build.sh" "$SOURCE/CMakeLists.txt" .
touch plugins/sleep/plugin.cmake
export GONE= ORCH_BUILD_DIR=build NOTES=$SCRATCH CMAKE_IS=3.25.1 FREE=
oldest=$(sed -n 's/^cmake_minimum_required(VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

# an old CMake: nothing is configured, and which one it is is said; 3.9 is older than 3.20
for CMAKE_IS in 3.9.6 3.19.8; do
    fails 1 ./build.sh build
    says "'$SCRATCH/w/stub/cmake' is CMake $CMAKE_IS, and orch needs $oldest or later"
    fails 1 ./build.sh torch --torch debian
    says "is CMake $CMAKE_IS, and orch needs $oldest"
done
[ ! -e "$SCRATCH/cmake" ] || _fail 'the old CMake was called'
for CMAKE_IS in "$oldest.0" 4.1.2 3.31.0-rc2; do
    rm -f build/.configured
    ok ./build.sh build
done
rm -r build

# a disk that is nearly full
FREE=12
fails 1 ./build.sh build
says "only 12 MB are free in '$SCRATCH/w/tree/build', and a build needs about"
says 'ORCH_BUILD_DIR=FOLDER builds somewhere else'
FREE=100000
ok ./build.sh build
# one that is there needs less, and what is not known stops nothing
FREE=100
USED=150 ok ./build.sh build
USED=150 FREE=20 fails 1 ./build.sh build
says 'a build needs about 50 MB'
FREE=
ok ./build.sh build

# a package manager that cannot go on says why
GONE=gcc
fails 1 ./build.sh build
says "apt: dpkg was interrupted, you must manually run 'dpkg --configure -a'"
says 'apt-get install gcc'
GONE=
ok ./build.sh build

# a package that came in half: apt throws it away, and after an update it comes whole. Where it never does, apt's words are shown
cat >../stub/apt-get <<'S'
#!/bin/sh
case " $* " in *' update '*) echo updated >>"$NOTES/apt"; exit ;; esac
echo install >>"$NOTES/apt"
if [ -n "$BROKEN" ] || ! grep -q updated "$NOTES/apt"; then
    echo "E: Failed to fetch http://mirror/pool/gcc_12_amd64.deb  File has unexpected size (4711 != 5186)."
    exit 100
fi
S
GONE=gcc
BROKEN=yes fails 1 ./build.sh build
says 'apt: Failed to fetch http://mirror/pool/gcc_12_amd64.deb  File has unexpected size (4711 != 5186).'
rm "$SCRATCH/apt"
ok ./build.sh build
says 'installed for the core in'
same "$(tr '\n' ' ' <"$SCRATCH/apt")" 'install updated install ' 'what apt was asked'
GONE=

# an environment whose Python is gone, and one whose Python is another one's: nothing of the build needs it
printf 'format: 1\nrecipe: r\nexperiments:\n  a: { plugin: sleep }\n' >r.recipe
mkdir -p "$SCRATCH/env/bin"
for interpreter in /gone/bin/python3.7 '/bin/false'; do
    printf '#!%s\n' "$interpreter" >"$SCRATCH/env/bin/python3"
    chmod +x "$SCRATCH/env/bin/python3"
    rm -f build/.configured build/.ready build/.python
    ok env PATH="$SCRATCH/env/bin:$PATH" VIRTUAL_ENV="$SCRATCH/env" ./build.sh build
    says_not 'gone'
    ok env PATH="$SCRATCH/env/bin:$PATH" VIRTUAL_ENV="$SCRATCH/env" ./build.sh run r.recipe
    has orch
    says_not 'gone'
done

# other shells
for shell in sh dash 'bash --posix'; do
    # shellcheck disable=SC2086
    command -v ${shell%% *} >/dev/null || continue
    ok $shell ./build.sh packages
    has 'CORE: gcc'
    ok env POSIXLY_CORRECT=1 $shell ./build.sh packages
done

# packages for Debian: not with other libraries; a cpack that fails is shown, and its log
fails 1 env ORCH_PREFIX=/opt/conda ./build.sh deb
says "a package for Debian depends on Debian's libraries, not on those in '/opt/conda'"
printf '#!/bin/sh\necho "CPack Error: no dpkg-shlibdeps"\nexit 1\n' >../stub/cpack
chmod +x ../stub/cpack
fails 1 ./build.sh deb
says 'CPack Error: no dpkg-shlibdeps'
says 'packing failed; all of it is in build.log'
printf '#!/bin/sh\nmkdir -p build/deb/_CPack_Packages\necho x >build/deb/orch_1_amd64.deb\n' >../stub/cpack
ok ./build.sh deb
has orch_1_amd64.deb
says "apt-get install '$SCRATCH/w/tree/build/deb/'*.deb"
[ ! -e build/deb/_CPack_Packages ] || _fail 'the folder of the packing is left'
