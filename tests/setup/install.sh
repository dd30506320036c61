# The files that 'build.sh install' writes work from there, are found through pkg-config, and can be moved.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
grep -q 'cmake --install "\$BUILD" --prefix "\$prefix"' "$SOURCE/build.sh" || _fail 'build.sh installs in another way'
root=$SCRATCH/root
export DESTDIR=$root
ok cmake --install "$BUILD" --prefix /opt/orch
unset DESTDIR
[ -z "$(find "$root" -mindepth 1 -maxdepth 1 ! -name opt)" ] || _fail 'something lies outside of the prefix'
for file in bin/orch libexec/orch/orch-host include/orch/plugin.h share/pkgconfig/orch.pc \
    lib/orch/plugins/sleep.so share/orch/python/orch/__init__.py share/man/man1/orch.1 share/man/man1/orch-db-check.1 \
    share/bash-completion/completions/orch share/zsh/site-functions/_orch share/fish/vendor_completions.d/orch.fish \
    share/doc/orch/README.md share/doc/orch/LICENSE share/doc/orch/docs/plugins.md; do
    [ -s "$root/opt/orch/$file" ] || _fail "$file was not installed"
done
prefix=$SCRATCH/moved/orch
mkdir "$SCRATCH/moved"
mv "$root/opt/orch" "$prefix"
for page in "$prefix"/share/man/man1/orch*.1; do
    head -n 1 "$page" | grep -q '^\.TH ORCH' || _fail "$page is no man page"
done
# the built program is out of reach now: all comes from the prefix
PATH=$prefix/bin:${PATH#*:}
same "$(command -v orch)" "$prefix/bin/orch"
# the manual comes along
ok orch help topics
for topic in $(awk '{ print $1 }' <<<"$out"); do
    ok orch help "$topic"
    has '# '
done
export PKG_CONFIG_PATH=$prefix/share/pkgconfig
same "$(pkg-config --modversion orch)" "$(orch --version | awk '{ print $2 }')"
plugindir=$(realpath "$(pkg-config --variable=plugindir orch)")
same "$plugindir" "$(realpath "$prefix")/lib/orch/plugins"
ok orch doctor
has "$prefix/libexec/orch/orch-host"
has_not "$BUILD"
says 'no problems'
ok orch plugin new mine --language c
includes=$(pkg-config --cflags orch)
# shellcheck disable=SC2086
ok cc -std=c11 -shared -fPIC $includes -o mine.so plugins/mine/mine.c -lm
ok orch plugin check --trust ./mine.so
has_not failed
has "mine 0.1.0"
# the skeleton's own Makefile names the installed header
ok make -C plugins/mine
ok orch plugin trust plugins/mine/mine.so
ok orch plugin show plugins/mine/mine.so
# a plugin put into plugindir is known by its name
mv mine.so "$plugindir/mine.so"
ok orch plugin ls
has mine
has sleep
sleeps naps '0.01, 0.02'
ok orch run naps.recipe
says '2 ok'
printf 'format: 1\nrecipe: m\nexperiments:\n  m: { plugin: mine, with: { steps: 3 } }\n' >m.recipe
rm -r plugins
ok orch run m.recipe
says '1 ok'
ok orch plugin new pm --language python
ok orch plugin check plugins/pm/pm.plugin
has_not failed
# the process that runs a trial finds what lies beside the plugins: the LibTorch adapter
if [ -e "$prefix/lib/orch/plugins/common/orch-torch.so" ]; then
    printf 'format: 1\nrecipe: n\nexperiments:\n  n: { plugin: train, with: { dataset: synthetic, image_size: 32, per_class: 8, epochs: 1, net: lenet5 } }\n' >n.recipe
    ok env -u ORCH_TORCH orch run n.recipe
    says '1 ok'
fi
