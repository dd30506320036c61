#!/bin/bash
# 'orch serve' answers every request of a crowd, with 503 and Retry-After when too many wait for the store. It refuses a
# Host that is not of the form NAME or NAME:PORT, and idle connections block nobody.
# test: slow
. "$(dirname "$0")/../cli/lib.sh"
[ -x "$BUILD/orch-web" ] || skip 'orch was built without the HTTP library'
sleeps nap '0'
ok orch run nap.recipe
orch serve --read-only --port 0 >"$SCRATCH/served" 2>"$SCRATCH/serve.err" &
server=$!
holder=
trap 'was=$?; kill $server $holder 2>/dev/null; cleanup $was' EXIT
await -s "$SCRATCH/served"
port=$(sed -n '1s|^http://127.0.0.1:\([0-9]*\)/.*|\1|p' "$SCRATCH/served")
[ -n "$port" ] || _fail "the server did not start: $(cat "$SCRATCH/serve.err")"
cat >crowd.py <<'P'
"""crowd.py PORT COUNT HOST...: COUNT connections, then a request on each (of more than 250: each with its request),
then the answers. Prints how many came with which status."""
import collections, re, socket, sys, time
port, count, hosts = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
socks = []
def ask(i):
    path = ("/", "/api/v1/runs")[i % 2]
    socks[i].sendall(("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % (path, hosts[i % len(hosts)])).encode())
for i in range(count):
    s = socket.socket(); s.settimeout(120); s.connect(("127.0.0.1", port)); socks.append(s)
    if count > 250: ask(i)
time.sleep(0.5)  # all are accepted before the first asks
for i in range(count if count <= 250 else 0): ask(i)
seen = collections.Counter()
for s in socks:
    got = b""
    try:
        while True:
            part = s.recv(65536)
            if not part: break
            got += part
    except OSError as error:
        seen[type(error).__name__] += 1
        continue
    head = got.split(b"\r\n\r\n")[0].decode("latin-1")
    status = head.split(" ")[1] if head.startswith("HTTP/1.1 ") else "nothing"
    length = re.search(r"(?i)content-length: (\d+)", head)
    if length and int(length[1]) != len(got) - len(head) - 4: status = "cut"
    if status == "503" and "Retry-After: 1" not in head: status = "503 without Retry-After"
    seen[status] += 1
print(*("%s:%d" % item for item in sorted(seen.items())))
P
ok python3 crowd.py "$port" 200 "127.0.0.1:$port"
same "$out" '200:200' 'the answers to 200 at once'
# more connections than there may be, on which nobody asks for anything
cat >holders.py <<'P'
import socket, sys, time
held = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(int(sys.argv[2]))]
print("held", flush=True); time.sleep(600)
P
python3 holders.py "$port" 700 >held &
holder=$!
until grep -q held held; do sleep 0.1; done
ok python3 crowd.py "$port" 20 "127.0.0.1:$port"
same "$out" '200:20' 'the answers beside 700 connections that say nothing'
kill $holder
wait $holder 2>/dev/null
ok python3 crowd.py "$port" 700 "127.0.0.1:$port"
same "$(tr ' ' '\n' <<<"$out" | grep -vcE '^(200|503):')" 0 "other answers in '$out'"
same "$(tr ' :' '\n\n' <<<"$out" | awk '!(NR % 2) { sum += $1 } END { print sum }')" 700 "answers in '$out'"
ok python3 crowd.py "$port" 40 "127.0.0.1:1@evil" 'evil' '127.0.0.1:' '[::1]x' '127.0.0.1:99999'
same "$(tr ' ' '\n' <<<"$out" | grep -vcE '^(400|421):')" 0 "foreign hosts: other answers in '$out'"
ok python3 crowd.py "$port" 200 localhost "[::1]:$port"
same "$out" '200:200' 'the answers afterwards'
kill $server
wait $server
same $? 0 'the exit status of orch serve'
