#!/usr/bin/env bash
# A pipe, a folder or a device in place of a file is refused at once with a message.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
mkfifo pipe pipe.onnx pipe.csv pipe.recipe pipe.zip pipe.orch pipe.set pipe.db
mkdir folder.onnx folder.csv
ln -s /dev/zero zero.onnx
ln -s /dev/zero zero.csv
ok orch init
refused() { # refused CMD...: it ends with an error by itself
    _run timeout 20 "$@"
    [ $status != 124 ] || _fail "it hangs: $*"
    [ $status != 0 ] || _fail "it succeeds: $*"
}
refused orch net show pipe.onnx
says 'it is a pipe, not a regular file'
refused orch net show folder.onnx
says 'it is a folder, not a regular file'
refused orch net show zero.onnx
says 'it is a device, not a regular file'
refused orch predict --net pipe.onnx --gpu V100 --batch 32
says 'it is a pipe, not a regular file'
refused orch import pipe.csv --target x
says 'it is a pipe, not a regular file'
refused orch import folder.csv --target x
says 'it is a folder, not a regular file'
refused orch import zero.csv --target x
says 'it is a device, not a regular file'
for command in 'import --runs pipe' 'import pipe.set' 'db merge pipe.orch' 'db merge pipe' 'run pipe.recipe' 'plan pipe.recipe' 'check pipe.recipe' \
    'verify pipe.zip' 'ls --db pipe.db' 'db repair pipe.db' 'db check --db pipe.db' 'plugin show ./pipe' 'plugin check ./pipe'; do
    refused orch $command
done
# a pipe where a file of the store is expected, or a page is to be written
mkdir page
mkfifo page/index.html
printf 'format: 1\nrecipe: t\nexperiments:\n  e: { plugin: "null" }\n' >t.recipe
ok orch run t.recipe
refused orch report t.recipe --out page
[ -p page/index.html ] || _fail 'the pipe was replaced'
