# A mirror serves a larger file than the published training set: it is refused, and a terminal shows the progress.
# test: quick
. "$(dirname "$0")/../cli/lib.sh"
cat >server.py <<'P'
import http.server


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = bytes(12 << 20)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except ConnectionError:
            pass

    def log_message(self, *args):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
P
mkfifo port
python3 server.py >port &
server=$!
trap 'was=$?; kill $server; cleanup $was' EXIT
read -r number <port
export ORCH_DATA=$SCRATCH/data ORCH_DATA_MIRROR=http://127.0.0.1:$number
fails 3 terminal orch dataset get mnist
has 'downloading train-images-idx3-ubyte.gz: '
has ' of 9.5 MiB'
has "'$ORCH_DATA_MIRROR/mnist/train-images-idx3-ubyte.gz': it is larger than the 9912422 bytes expected"
has 'hint: put the file into place by hand'
[ -e "$ORCH_DATA/mnist/train-images-idx3-ubyte.gz" ] && _fail 'the wrong file is in place'
fails 2 orch dataset get nosuchset
says nosuchset
exit 0
