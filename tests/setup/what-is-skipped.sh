# './build.sh test' installs what the tests need. Without root or a network it continues, and names each skipped test.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
# the system's own Python may have the modules or not: only the stub below is asked
sed 's#/usr/bin/python3#python3#g' "$SOURCE/build.sh" >build.sh
chmod +x build.sh
mkdir stub build
stub() {
    cat >"stub/$1"
    chmod +x "stub/$1"
}
stub dpkg-query <<'S'
#!/bin/bash
for name; do case " $GONE -W -f " in *" $name "*) ;; *) [[ $name = \$* ]] || echo "installed $name" ;; esac; done
S
stub apt-get <<'S'
#!/bin/bash
echo "$*" >>asked
exit "$APT"
S
stub cmake <<'S'
#!/bin/bash
[[ $* = *' -P '* ]] && echo '-- found: LibTorch 2.0.0 of a stub'
touch build/build.ninja build/CMakeCache.txt
S
stub ctest <<'S'
#!/bin/bash
mkdir -p build/Testing/Temporary
printf '1/3 Testing: web.page\n1/3 Test: web.page\nskipped: no chromium\nTest time = 1\n2/3 Testing: cli.none\n2/3 Test: cli.none\nfine\n3/3 Testing: unit.data\nskipped: no data\n' >build/Testing/Temporary/LastTest.log
[[ "$*" =~ ^'--test-dir build --output-on-failure -j '[2-8]' -R some'$ ]] && exit "$CTEST"
S
stub ninja <<<'#!/bin/sh'
stub orch <<<'#!/bin/sh'
cp stub/orch .
stub id <<<'#!/bin/sh
echo "$ID"'
stub sudo <<<'#!/bin/sh
exit 1'
stub python3 <<<'#!/bin/sh
exit 1' # has no module
PATH=$PWD/stub:$PATH
export GONE= APT=0 CTEST=0 ID=0 ORCH_BUILD_DIR=build
test_some() {
    rm -f asked
    _run ./build.sh test -R some
}

# everything is there
test_some
same $status 0
[ ! -e asked ] || _fail 'apt was asked for nothing'
says 'web.page: no chromium'
says 'unit.data: no data'
says_not 'cli.none:'
# a failure stays one
CTEST=8
test_some
same $status 8
says 'web.page: no chromium'
CTEST=0
# what is missing is installed, and only that
GONE='chromium python3-nbformat python3-torchvision'
test_some
same $status 0
asked=$(<asked)
for name in chromium python3-nbformat python3-torchvision; do case $asked in *" $name"*) ;; *) _fail "$name was not asked for: $asked" ;; esac done
case $asked in *weasyprint* | *python3-selenium*) _fail "asked for what is there: $asked" ;; esac
# without a network, without root: said, and the tests run
APT=100
test_some
same $status 0
says 'could not install chromium'
says 'what needs the pages is skipped'
says 'web.page: no chromium'
ID=1000
test_some
same $status 0
[ ! -e asked ] || _fail 'apt was run without root'
says 'could not install python3-torchvision'
# what the build itself needs is another thing
GONE=libgit2-dev
test_some
same $status 1
says 'apt-get install libgit2-dev'
# another system than Debian, or libraries elsewhere: nothing is installed
GONE=chromium APT=0 ID=0
ORCH_PREFIX=/none _run env ORCH_PREFIX=/none ./build.sh test -R some
[ ! -e asked ] || _fail 'apt was run with ORCH_PREFIX'
