# The Debian packages that 'build.sh deb' packs have what Debian's policy asks for, also in a tree of one component; lintian finds no error.
# tests/systems.sh installs them on fresh machines.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
for program in dpkg-deb dpkg-shlibdeps file cpack; do
    command -v $program >/dev/null || skip "there is no $program"
done
export DEBFULLNAME='Ada Lovelace' DEBEMAIL=ada@lists.debian.org SOURCE_DATE_EPOCH=1764230400
grep -q '^set(CPACK_COMPONENTS_ALL "\([a-z;]*;\)*orch\(;[a-z]*\)*")' "$BUILD/CPackConfig.cmake" || _fail 'the program is no component'
sed 's/^set(CPACK_COMPONENTS_ALL .*/set(CPACK_COMPONENTS_ALL "orch")/' "$BUILD/CPackConfig.cmake" >one.cmake
ok cpack --config one.cmake -B "$PWD/deb"
package=$(echo deb/orch_*.deb)
[ -s "$package" ] || _fail 'no package'
ok dpkg-deb -f "$package" Depends Recommends Maintainer Description
has 'libgit2-'
has 'Recommends: git, ca-certificates, python3'
has 'Maintainer: Ada Lovelace <ada@lists.debian.org>'
has 'run experiments from recipes and record every result'
ok dpkg-deb -x "$package" root
for file in bin/orch libexec/orch/orch-host libexec/orch/orch-web lib/orch/plugins/sleep.so lib/python3/dist-packages/orch/__init__.py share/man/man1/orch.1.gz \
    share/man/man1/orch-run.1.gz share/bash-completion/completions/orch share/zsh/vendor-completions/_orch share/fish/vendor_completions.d/orch.fish \
    share/doc/orch/copyright share/doc/orch/changelog.gz share/doc/orch/changelog.Debian.gz share/orch/templates/c/NAME.c; do
    [ -s "root/usr/$file" ] || _fail "the package lacks $file"
done
[ "$(ls root)" = usr ] || _fail "the package has more than /usr: $(ls root)"
[ -z "$(find root -name 'orch-torch*' -o -name 'orch-opencv*')" ] || _fail 'the adapters of large libraries are in the package of the program'
zcat root/usr/share/doc/orch/changelog.Debian.gz | grep -q ' -- Ada Lovelace <ada@lists.debian.org>  Thu, 27 Nov 2025 08:00:00 +0000' || _fail 'another changelog'
# every component of the install rules has a package of its own name and description; that of the adapter's sources needs a compiler
for component in $(sed -n 's/^set(CPACK_COMPONENTS_ALL "\(.*\)")/\1/p' "$BUILD/CPackConfig.cmake" | tr ';' ' ' | tr '[:lower:]' '[:upper:]'); do
    grep -q "^set(CPACK_DEBIAN_${component}_PACKAGE_NAME \"orch" "$BUILD/CPackConfig.cmake" || _fail "component $component has no package"
    grep -q "^set(CPACK_DEBIAN_${component}_DESCRIPTION " "$BUILD/CPackConfig.cmake" || _fail "the package of $component has no description"
done
sed 's/^set(CPACK_COMPONENTS_ALL .*/set(CPACK_COMPONENTS_ALL "adapter")/' "$BUILD/CPackConfig.cmake" >two.cmake
ok cpack --config two.cmake -B "$PWD/deb"
ok dpkg-deb -f deb/orch-plugins-torch-source_*.deb Depends
has 'g++, pkg-config | pkgconf, libglib2.0-dev, libjansson-dev'
[ -n "$(dpkg-deb -c deb/orch-plugins-torch-source_*.deb | grep '/share/orch/adapter/build.sh$')" ] || _fail 'no script to build the adapter'
# it runs from there
PATH=$PWD/root/usr/bin:$PATH
sleeps naps '0.01'
ok orch run naps.recipe
says '1 ok'
ok python3 -c 'import sys; sys.path.insert(0, "root/usr/lib/python3/dist-packages"); import orch; print(orch.__file__)'
has dist-packages/orch/__init__.py
command -v lintian >/dev/null || skip 'there is no lintian: the rest was tested'
mkdir "$SCRATCH/tmp"
_run env TMPDIR="$SCRATCH/tmp" lintian --allow-root --fail-on error deb/*.deb
[ $status = 0 ] || _fail 'lintian found errors'
