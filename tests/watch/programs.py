# SPDX-License-Identifier: GPL-3.0-or-later
"""Small programs that read, write and remove files in as many ways as there are, for differential.py."""
import dataclasses
import os
import sys


@dataclasses.dataclass
class Program:
    name: str
    command: list
    files: dict = dataclasses.field(default_factory=dict)
    before: list = dataclasses.field(default_factory=list)  # shell commands that are not watched
    needs: list = dataclasses.field(default_factory=list)
    gap: str = ""  # the gap that the library says, a regular expression
    status: int = 0


DATA = {"d1.txt": "1\n", "d2.txt": "2\n", "data/a.txt": "3\n", "data/b.txt": "4\n", "data/deep/c.txt": "5\n"}
HEAD = "".join(f"#include <{name}.h>\n" for name in (
    "dirent", "dlfcn", "errno", "fcntl", "ftw", "glob", "pthread", "spawn", "stdio", "stdlib", "string", "unistd",
    "sys/mman", "sys/sendfile", "sys/stat", "sys/syscall", "sys/wait")) + "extern char **environ;\n"
PYTHON = os.environ.get("ORCH_PYTHON") or sys.executable


def shell(name, script, **more):
    return Program(name, ["sh", "a.sh"], {**DATA, "a.sh": script + "\n", **more.pop("files", {})}, **more)


def python(name, script, **more):
    return Program(name, [PYTHON, "a.py"], {**DATA, "a.py": script + "\n", **more.pop("files", {})}, **more)


def c(name, body, flags="", **more):
    files = {**DATA, "p.c": HEAD + more.pop("above", "") + "int main(int argc, char **argv)\n{\n" + body + "\n}\n"}
    build = f"cc -D_GNU_SOURCE -w -o prog p.c {flags}"
    return Program(name, ["./prog"], {**files, **more.pop("files", {})}, [*more.pop("before", []), build],
                   ["cc", *more.pop("needs", [])], **more)


SHELL = [
    shell("sh-redirect", "read x <d1.txt\nread y <data/a.txt\necho $x$y >out.txt\necho more >>out.txt\ncat <d2.txt >/dev/null"),
    shell("sh-descriptor", "exec 3<d1.txt 4>out.txt\ncat <&3 >&4\nexec 3<&- 4>&-\ncat out.txt >/dev/null"),
    shell("sh-glob", "for f in data/*.txt; do read x <$f; done\ncat data/deep/* >all.txt"),
    shell("sh-here-text", "cat <<X >out.txt\ntext\nX\nrm out.txt"),
    shell("sh-move-copy", "cp d1.txt c1.txt\nmv c1.txt c2.txt\nln c2.txt c3.txt\nrm -f c2.txt none.txt\ncp -a data more\nmv more most\nrm -r most"),
    shell("sh-move-back", "cat d1.txt >/dev/null\nmv d1.txt x\nmv x d1.txt\nmv d2.txt y\ncat y >/dev/null\nmv y d2.txt\nmv data/a.txt z\necho 1 >>z\nmv z data/a.txt"),
    shell("sh-newline", "n='a\n\"b'\ncat \"$n\" >\"$n.out\"", files={"a\n\"b": "1\n"}),
    shell("sh-reflink", "cp --reflink=auto d1.txt c.txt\ncp --reflink=auto --preserve=all data/a.txt d2.txt\nmv -T d1.txt c.txt\nln -f c.txt data/b.txt"),
    shell("sh-little-memory", "(ulimit -v 9000; /bin/cat d1.txt >/dev/null)", gap="did not load"),
    shell("sh-cd", "cd data && cat a.txt >/dev/null\ncd deep && cat ../b.txt c.txt >../../out.txt"),
    shell("sh-link", "ln -s data/deep far\nln -s d2.txt near\ncat far/c.txt far/../a.txt near >/dev/null"),
    shell("sh-cleared-environment", "env -i /bin/cat d1.txt >/dev/null\nenv -i sh -c '/bin/cat d2.txt' >out.txt"),
    shell("sh-own-preload", "LD_PRELOAD= cat d1.txt >/dev/null\nLD_PRELOAD=libm.so.6 cat d2.txt >/dev/null"),
    shell("sh-own-sanitizer-options", "env -i ASAN_OPTIONS=detect_leaks=0 /bin/cat d1.txt >/dev/null"),
    shell("sed-in-place", "sed -i s/1/7/ d1.txt\nsed s/2/8/ d2.txt >out.txt"),
    shell("sort-tee", "sort d1.txt d2.txt -o sorted.txt\ncat data/a.txt | tee one.txt two.txt >/dev/null"),
    shell("find-xargs", "find data -name '*.txt' -exec cat {} + >all.txt\nfind data -name a.txt | xargs grep 3 >/dev/null\nfind data -name b.txt -delete"),
    shell("tar", "tar -cf all.tar data d1.txt\nmkdir x\ntar -xf all.tar -C x\nrm d1.txt", needs=["tar"]),
    shell("install-truncate", "install -m 644 d1.txt copy.txt\ntruncate -s 100 d2.txt\ntouch new.txt d1.txt\nchmod 600 data/a.txt\ncat data/a.txt >/dev/null"),
    shell("awk", "awk '{ print $1 > \"out.txt\"; getline x < \"data/a.txt\" }' d1.txt d2.txt", needs=["awk"]),
    Program("bash-substitution", ["bash", "a.sh"], {**DATA, "a.sh": "cat <(cat d1.txt) >out.txt\nmapfile -t x <d2.txt\n. ./lib.sh\n",
                                                    "lib.sh": "y=$(<data/a.txt)\n"}, needs=["bash"]),
    Program("zsh", ["zsh", "-f", "a.sh"], {**DATA, "a.sh": "x=$(<d1.txt)\ncat data/**/*.txt >out.txt\n"}, needs=["zsh"]),
    Program("perl", ["perl", "a.pl"], {**DATA, "a.pl": "open(F, '<', 'd1.txt'); <F>; close F; open(G, '>', 'o'); print G 1; close G;\n"
                                       "rename 'o', 'p'; unlink 'd2.txt'; require './lib.pl'; `cat data/a.txt`; 1;\n",
                                       "lib.pl": "1;\n"}, needs=["perl"]),
    Program("script-by-its-line", ["./a.sh"], {**DATA, "a.sh": "#!/bin/sh\ncat d1.txt >/dev/null\n./b.sh\n", "b.sh": "cat d2.txt\n"},
            ["chmod +x a.sh b.sh"]),
    Program("not-utf-8", ["sh", "a.sh"], {**DATA, "a.sh": "cat d?*.dat >/dev/null\n"},
            ["printf x >\"$(printf 'd\\377.dat')\""], gap="name is not UTF-8"),
    shell("long-name", "n=$(printf '%0200d' 0)\nfor i in 1 2 3 4 5 6 7 8 9 10 11 12; do mkdir -p $n; cd $n; done\necho 1 >deep.txt", gap="path is too long|paths are too long"),
    shell("folder-is-gone", "mkdir x\ncd x\nrmdir ../x\ncat ../d1.txt >/dev/null 2>&1 || true\necho 1 >/dev/null"),
]

STATIC = c("static", 'FILE *f = fopen("d1.txt", "r"); return f ? 0 : 1;', "-static").before
CHILD = [
    Program("static-child", ["sh", "a.sh"], {**c("", "return !fopen(\"d1.txt\", \"r\");").files, "a.sh": "./prog\ncat d2.txt\n"}, STATIC, ["cc"],
            gap="started 'prog' unobserved"),
    Program("static-child-by-name", ["sh", "a.sh"], {**c("", "return !fopen(\"d1.txt\", \"r\");").files, "a.sh": "PATH=$PWD:$PATH prog\n"}, STATIC,
            ["cc"], gap="started 'prog' unobserved"),
    Program("static-interpreter", ["sh", "a.sh"], {**c("", "return !fopen(argv[1], \"r\");").files, "a.sh": "./b\n", "b": "#!./prog\n"},
            [*STATIC, "chmod +x b"], ["cc"], gap="started 'b' unobserved"),
    Program("static-of-python", [PYTHON, "a.py"], {**c("", "return !fopen(\"d1.txt\", \"r\");").files,
                                                   "a.py": "import subprocess\nsubprocess.run(['./prog'], check=True, env={})\n"}, STATIC, ["cc"],
            gap="started 'prog' unobserved"),
    Program("other-machine", ["sh", "a.sh"], {**c("", "return !fopen(\"d1.txt\", \"r\");").files, "a.sh": "./prog\n"},
            ["cc -D_GNU_SOURCE -w -m32 -o prog p.c"], ["cc"], gap="started 'prog' unobserved"),
    Program("busybox", ["sh", "a.sh"], {**DATA, "a.sh": "busybox cat d1.txt\n"}, ["busybox true && ! ldd $(command -v busybox)"], ["busybox"],
            gap="started 'busybox' unobserved"),
    Program("go-static", ["sh", "a.sh"], {**DATA, "a.sh": "./prog\n", "p.go": "package main\nimport \"os\"\nfunc main() { os.ReadFile(\"d1.txt\") }\n"},
            ["GOCACHE=$TOP/cache CGO_ENABLED=0 go build -o prog p.go"], ["go"], gap="started 'prog' unobserved"),
    Program("go-dynamic", ["sh", "a.sh"], {**DATA, "a.sh": "./prog\n", "p.go": "package main\nimport \"os\"\nimport \"C\"\nfunc main() { os.ReadFile(\"d1.txt\") }\n"},
            ["GOCACHE=$TOP/cache CGO_ENABLED=1 go build -o prog p.go"], ["go", "cc"], gap="started 'prog' unobserved"),
    Program("other-root", ["sh", "a.sh"], {**DATA, "a.sh": "chroot . /prog\n", **c("", "return !fopen(\"/d1.txt\", \"r\");").files},
            [*c("", "").before, "[ $(id -u) = 0 ]", "cp --parents $(ldd prog | grep -o '/[^ ]*') ."], ["cc", "chroot"],
            gap="started 'prog' unobserved"),
]

C = [
    c("c-stdio", 'char b[9]; FILE *f = fopen("d1.txt", "r"), *g = fopen("out.txt", "w"); fgets(b, 9, f); fputs(b, g); fclose(g); fclose(f);\n'
      'f = freopen("d2.txt", "r", stdin); fgets(b, 9, f); f = fopen("data/a.txt", "r+"); fgets(b, 9, f); fclose(f);\n'
      'f = fopen("log", "a"); fputs("x", f); fclose(f); return 0;'),
    c("c-open", 'int a = open("d1.txt", O_RDONLY), b = creat("out.txt", 0644), c = open("d2.txt", O_WRONLY | O_APPEND); write(b, "x", 1); write(c, "x", 1);\n'
      'close(a); close(b); close(c); return 0;'),
    c("c-openat", 'int d = open("data", O_RDONLY | O_DIRECTORY), e = openat(d, "deep", O_PATH), f = openat(e, "c.txt", O_RDONLY);\n'
      'int g = openat(d, "../d1.txt", O_RDONLY), h = openat(e, "new.txt", O_CREAT | O_WRONLY, 0644); unlinkat(d, "b.txt", 0);\n'
      'renameat(e, "new.txt", d, "moved.txt"); close(h); return f < 0 || g < 0;'),
    c("c-fchdir", 'int d = open("data", O_RDONLY); fchdir(d); fopen("a.txt", "r"); chdir("deep"); fopen("c.txt", "r"); chdir("../.."); fopen("d1.txt", "r");\n'
      'int e = open("data/deep", O_PATH); rename("d2.txt", "data/d3.txt"); fchdir(e); unlink("../a.txt"); return 0;'),
    c("c-mmap", 'int a = open("d1.txt", O_RDONLY), b = open("out.bin", O_RDWR | O_CREAT, 0644); ftruncate(b, 4096);\n'
      'char *x = mmap(0, 2, PROT_READ, MAP_PRIVATE, a, 0), *y = mmap(0, 4096, PROT_WRITE, MAP_SHARED, b, 0); y[0] = x[0]; return 0;'),
    c("c-mkstemp", 'char a[] = "one-XXXXXX", b[] = "two-XXXXXX.txt", c[] = "three-XXXXXX"; int d = mkstemp(a), e = mkstemps(b, 4), f = mkostemp(c, O_CLOEXEC);\n'
      'write(d, "1", 1); close(d); rename(a, "kept.txt"); unlink(b); return 0;'),
    c("c-tmpfile-link", 'char p[64]; int a = open(".", O_TMPFILE | O_RDWR, 0644); write(a, "1", 1); sprintf(p, "/proc/self/fd/%d", a);\n'
      'return linkat(AT_FDCWD, p, AT_FDCWD, "named.txt", AT_SYMLINK_FOLLOW);'),
    c("c-spawn", 'char *v[] = {"cat", "d1.txt", 0}, *none[] = {0}; pid_t p; int s; posix_spawnp(&p, "cat", 0, 0, v, environ); waitpid(p, &s, 0);\n'
      'v[1] = "d2.txt"; posix_spawn(&p, "/bin/cat", 0, 0, v, none); waitpid(p, &s, 0); return s;'),
    c("c-exec", 'int s; char *v[] = {"cat", "data/a.txt", 0}, *w[] = {"sh", "-c", "cat data/b.txt", 0};\n'
      'if (!vfork()) { execl("/bin/cat", "cat", "d1.txt", (char *)0); _exit(9); } wait(&s);\n'
      'if (!fork()) { execle("/bin/cat", "cat", "d2.txt", (char *)0, (char *[]){0}); _exit(9); } wait(&s);\n'
      'if (!fork()) { clearenv(); execvp("cat", v); _exit(9); } wait(&s);\n'
      'if (!fork()) { execvpe("sh", w, (char *[]){"PATH=/bin:/usr/bin", 0}); _exit(9); } wait(&s);\n'
      'execlp("cat", "cat", "data/deep/c.txt", (char *)0); return 1;'),
    c("c-exec-missing", 'int s; for (int i = 0; i < 5; i++) { if (!fork()) { execl("/none", "none", (char *)0); execlp("no-such", "x", (char *)0); _exit(0); } wait(&s); }\n'
      'execl("/bin/cat", "cat", "d1.txt", (char *)0); return 1;'),
    c("c-fexecve", 'int s, a = open("/bin/cat", O_RDONLY | O_CLOEXEC), b = open("/bin/cat", O_PATH | O_CLOEXEC); char *v[] = {"cat", "d1.txt", 0}, *none[] = {0};\n'
      'if (!fork()) { fexecve(a, v, none); _exit(9); } wait(&s); v[1] = "d2.txt";\n'
      'if (!fork()) { execveat(b, "", v, none, AT_EMPTY_PATH); _exit(9); } wait(&s); return s;'),
    c("c-system", 'char b[9]; system("cat d1.txt >out.txt"); FILE *f = popen("cat d2.txt", "r"); fgets(b, 9, f); return pclose(f);'),
    c("c-system-cleared", 'unsetenv("LD_PRELOAD"); return system("/bin/cat d1.txt");', gap="started 'sh' unobserved"),
    c("c-copy-range", 'int a = open("d1.txt", O_RDONLY), b = open("o1", O_CREAT | O_WRONLY, 0644), c = open("d2.txt", O_RDONLY), d = open("o2", O_CREAT | O_RDWR, 0644);\n'
      'copy_file_range(a, 0, b, 0, 2, 0); sendfile(d, c, 0, 2); return 0;'),
    c("c-list", 'struct dirent **l; glob_t g; int n = scandir("data", &l, 0, alphasort); glob("data/*.txt", 0, 0, &g); fopen(g.gl_pathv[0], "r");\n'
      'DIR *d = opendir("data/deep"); while (readdir(d)); openat(dirfd(d), "c.txt", O_RDONLY); return n < 0;'),
    c("c-nftw", 'return nftw("data", see, 9, FTW_CHDIR | FTW_DEPTH) || !fopen("d1.txt", "r");',
      above="static int see(const char *p, const struct stat *s, int t, struct FTW *f) { if (t == FTW_F) open(p + f->base, O_RDONLY); return 0; }\n"),
    c("c-threads", 'pthread_t t[4]; for (long i = 0; i < 4; i++) pthread_create(t + i, 0, work, (void *)i); for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return 0;',
      above='static void *work(void *p) { char n[30]; for (int i = 0; i < 200; i++) { sprintf(n, "o%ld-%d", (long)p, i); close(creat(n, 0644)); close(open(n, 0));\n'
      'close(open(i % 2 ? "d1.txt" : "data/a.txt", 0)); if (i % 3) unlink(n); } return 0; }\n'),
    c("c-fork-many", 'for (int i = 0; i < 20; i++) if (!fork()) { char n[30]; sprintf(n, "o%d", i); FILE *f = fopen(n, "w"); fputs(n, f); fclose(f); fopen("d1.txt", "r"); _exit(0); }\n'
      'while (wait(0) > 0); return 0;'),
    c("c-vfork-chdir", 'int s; fopen("d1.txt", "r"); if (!vfork()) { chdir("data"); execl("/bin/cat", "cat", "a.txt", (char *)0); _exit(9); } wait(&s); fopen("d2.txt", "r"); return s;'),
    c("c-truncate-link", 'truncate("d1.txt", 0); link("d2.txt", "hard.txt"); fopen("hard.txt", "r"); symlink("data/a.txt", "soft.txt"); fopen("soft.txt", "r");\n'
      'chmod("data/b.txt", 0600); fopen("data/b.txt", "r"); remove("hard.txt"); return 0;'),
    c("c-tmpfile-link-empty", 'int a = open("data", O_TMPFILE | O_WRONLY, 0644); write(a, "1", 1); return linkat(a, "", AT_FDCWD, "named.txt", AT_EMPTY_PATH);'),
    c("c-mmap-write", 'int a = open("d1.txt", O_RDWR); char *x = mmap(0, 2, PROT_READ | PROT_WRITE, MAP_SHARED, a, 0); usleep(20000); x[0]++; _exit(0);'),
    c("c-memfd", 'char b[65536]; int a = open("/bin/cat", O_RDONLY), m = memfd_create("m", MFD_CLOEXEC), n; while ((n = read(a, b, sizeof b)) > 0) write(m, b, n);\n'
      'char *v[] = {"cat", "d1.txt", 0}; return fexecve(m, v, environ);'),
    c("c-freopen-same", 'FILE *f = fopen("d1.txt", "r"); f = freopen(0, "r+", f); fputs("7", f); return fclose(f);'),
    c("c-spawn-redirected", 'posix_spawn_file_actions_t f; char *v[] = {"cat", 0}; pid_t p; int s; posix_spawn_file_actions_init(&f);\n'
      'posix_spawn_file_actions_addopen(&f, 0, "d1.txt", O_RDONLY, 0); posix_spawn_file_actions_addopen(&f, 1, "out.txt", O_WRONLY | O_CREAT, 0644);\n'
      'posix_spawn(&p, "/bin/cat", &f, 0, v, environ); waitpid(p, &s, 0); return s;'),
    c("c-exchange", 'return renameat2(AT_FDCWD, "d1.txt", AT_FDCWD, "d2.txt", RENAME_EXCHANGE);'),
    c("c-move-folder", 'mkdir("t", 0755); close(creat("t/x", 0644)); rename("t", "u"); fopen("u/x", "r"); mkdir("t", 0755); close(creat("t/x", 0644)); rename("t", "v"); return !fopen("v/x", "r");'),
    c("c-syscall", 'struct { unsigned long f, m, r; } how = {0}; syscall(SYS_openat, AT_FDCWD, "d1.txt", 0); syscall(437, AT_FDCWD, "d2.txt", &how, sizeof how);\n'
      'syscall(SYS_chdir, "data"); open("a.txt", 0); syscall(SYS_unlinkat, AT_FDCWD, "b.txt", 0); return 0;'),
    c("c-io-uring", 'char p[120] = {0}; return syscall(425, 1, p) < 0 ? 77 : 0;', gap="io_uring"),
    c("c-inherited", 'dup2(open("d1.txt", 0), 0); dup2(creat("out.txt", 0644), 1); return execl("/bin/cat", "cat", (char *)0);'),
    c("c-big-environment", 'static char *env[3001]; for (int i = 0; i < 3000; i++) env[i] = "X=1"; char *v[] = {"cat", "d1.txt", 0}; return execve("/bin/cat", v, env);',
      gap="started 'cat' unobserved"),
    c("c-many-words", 'return execl("/bin/cat", "cat", ' + '"d1.txt", ' * 200 + '"data/a.txt", (char *)0);'),
    c("linked-library", "int f(void); return f() != 1;", "-L. -lf -Wl,-rpath,'$ORIGIN'", files={"f.c": "int f(void) { return 1; }\n"},
      before=["cc -shared -fPIC -o libf.so f.c"]),
    c("loaded-library", 'void *p = dlopen("libg.so", RTLD_NOW); return !p;', "-Wl,-rpath,'$ORIGIN/lib' -ldl",
      files={"f.c": "int f(void) { return 1; }\n", "g.c": "int f(void); int g(void) { return f(); }\n"},
      before=["mkdir lib deep && cc -shared -fPIC -o deep/libf.so f.c && cc -shared -fPIC -o lib/libg.so g.c -Ldeep -lf -Wl,-rpath,'$ORIGIN/../deep'"]),
    c("loaded-by-path", 'return !dlopen("./libf.so", RTLD_LAZY) || !dlopen("/lib/x86_64-linux-gnu/libm.so.6", RTLD_LAZY) && 0;', "-ldl",
      files={"f.c": "int f(void) { return 1; }\n"}, before=["cc -shared -fPIC -o libf.so f.c"]),
    c("loaded-then-exit", 'if (!fork()) { dlopen("libf.so", RTLD_NOW); _exit(0); } int s; wait(&s); return 0;', "-Wl,-rpath,'$ORIGIN' -ldl",
      files={"f.c": "int f(void) { return 1; }\n"}, before=["cc -shared -fPIC -o libf.so f.c"]),
]

PYTHONS = [
    python("py-open", "import pathlib\nopen('d1.txt').read()\npathlib.Path('data/a.txt').read_text()\npathlib.Path('out.txt').write_text('x')\n"
           "with open('d2.txt', 'r+') as f: f.write('9')\nopen('log.txt', 'a').write('1')\nopen('new.txt', 'x').close()"),
    python("py-cleared-environment", "import subprocess, os\nsubprocess.run(['/bin/cat', 'd1.txt'], env={}, check=True)\n"
           "subprocess.run('/bin/cat d2.txt', shell=True, env={'A': '1'}, check=True)\nos.environ.clear()\nsubprocess.run(['/bin/cat', 'data/a.txt'], check=True)\n"
           "os.spawnve(os.P_WAIT, '/bin/cat', ['cat', 'data/b.txt'], {})"),
    python("py-cleared-system", "import os\nos.environ.clear()\nos.system('/bin/cat d1.txt')", gap="started 'sh' unobserved"),
    python("py-working-folder", "import subprocess, os\nsubprocess.run(['cat', 'a.txt'], cwd='data', check=True)\nopen('d1.txt').read()\nos.chdir('data')\nopen('b.txt').read()\n"
           "subprocess.run(['cat', 'c.txt'], cwd='deep', check=True)\nopen('../d2.txt').read()"),
    python("py-pool", "import multiprocessing, sys\ndef read(n): return open(f'd{n}.txt').read()\nif __name__ == '__main__':\n"
           "    for way in ('fork', 'spawn', 'forkserver'):\n        with multiprocessing.get_context(way).Pool(2) as pool: pool.map(read, [1, 2])\n"
           "        open(way, 'w').write('x')"),
    python("py-import", "import sub.module\nsub.module.value()\nimport importlib\nimportlib.import_module('oth' + 'er')",
           files={"sub/__init__.py": "", "sub/module.py": "def value(): return open('d1.txt').read()\n", "other.py": "x = 1\n"}),
    python("py-zip-import", "import sys, zipfile\nwith zipfile.ZipFile('m.zip', 'w') as z: z.write('d1.py', 'd1.py')\nsys.path[:0] = ['m.zip', 'n.zip']\nimport d1, d2",
           files={"d1.py": "x = 1\n", "e.py": "y = 1\n"}, before=[f"{PYTHON} -c \"import zipfile; zipfile.ZipFile('n.zip', 'w').write('e.py', 'd2.py')\""]),
    python("py-shutil", "import shutil, os\nshutil.copytree('data', 'copy')\nshutil.move('copy', 'moved')\nshutil.copy2('d1.txt', 'c.txt')\nos.replace('c.txt', 'd2.txt')\n"
           "shutil.rmtree('moved/deep')"),
    python("py-tempfile", "import tempfile, os\nwith tempfile.NamedTemporaryFile(dir='.') as f: f.write(b'1')\nwith tempfile.TemporaryDirectory(dir='.') as d: open(d + '/x', 'w').write('1')\n"
           "with tempfile.TemporaryFile(dir='.') as f: f.write(b'1')\nfd, p = tempfile.mkstemp(dir='data')\nos.close(fd)"),
    python("py-sqlite", "import sqlite3\nc = sqlite3.connect('x.db')\nc.execute('create table t(a)')\nc.execute('insert into t values (1)')\nc.commit()\nc.close()\n"
           "sqlite3.connect('x.db').execute('select * from t').fetchall()"),
    python("py-archives", "import zipfile, tarfile, gzip\nwith zipfile.ZipFile('a.zip', 'w') as z: z.write('d1.txt')\nzipfile.ZipFile('a.zip').extractall('z')\n"
           "with tarfile.open('a.tar.gz', 'w:gz') as t: t.add('data')\nwith gzip.open('x.gz', 'wb') as g: g.write(b'1')\ngzip.open('x.gz').read()"),
    python("py-links", "import os, pathlib\nos.symlink('data/deep', 'far')\nopen('far/c.txt').read()\nopen('far/../a.txt').read()\npathlib.Path('far').resolve().joinpath('c.txt').read_text()\n"
           "os.chdir('far')\nopen('../b.txt').read()\nos.link('c.txt', 'hard.txt')"),
    python("py-descriptors", "import os, mmap\nd = os.open('data', os.O_RDONLY)\nopen(os.open('a.txt', os.O_RDONLY, dir_fd=d)).read()\nos.unlink('b.txt', dir_fd=d)\n"
           "with open('d1.txt', 'r+b') as f: mmap.mmap(f.fileno(), 0)[0:1]\nfor e in os.scandir(d): pass"),
    python("py-exec", "import os\nopen('d1.txt').read()\nos.execve('/bin/sh', ['sh', '-c', 'cat d2.txt'], {})"),
    python("py-system-call", "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.syscall(257, -100, b'd1.txt', 0)", needs=["/lib64/ld-linux-x86-64.so.2"]),
    python("py-replaced", "for i in range(3):\n    open('s.tmp', 'w').write(str(i))\n    import os\n    os.replace('s.tmp', 'state.txt')\n    open('state.txt').read()"),
    python("py-numpy", "import numpy as np\nnp.save('a.npy', np.ones(9))\nnp.load('a.npy', mmap_mode='r').sum()\nm = np.memmap('m.bin', shape=9, mode='w+')\nm[0] = 1\nm.flush()\n"
           "np.savez('z.npz', a=m)\nnp.load('z.npz')['a']\nnp.loadtxt('d1.txt')", before=[f"{PYTHON} -c 'import numpy'"]),
    Program("notebook", [PYTHON, "-m", "nbconvert", "--to", "notebook", "--execute", "a.ipynb", "--output", "b.ipynb"],
            {**DATA, "a.ipynb": '{"cells": [{"cell_type": "code", "execution_count": null, "id": "a", "metadata": {}, "outputs": [], "source": ["open(\'d1.txt\').read()"]}],'
                                ' "metadata": {"kernelspec": {"name": "python3", "display_name": "p", "language": "python"}}, "nbformat": 4, "nbformat_minor": 5}'},
            [f"{PYTHON} -c 'import nbconvert, ipykernel'"]),
]

TOOLS = [
    Program("make", ["make", "-s"], {**DATA, "Makefile": "include d.mk\nout: x.o\n\tcat x.o >out\nx.o: d1.txt\n\tcat d1.txt >x.o\n", "d.mk": "X=1\n"}, needs=["make"]),
    Program("ninja", ["ninja", "--quiet"], {**DATA, "build.ninja": "rule c\n  command = cat $in >$out\nbuild out: c d1.txt d2.txt\n"}, needs=["ninja"]),
    Program("cmake", ["cmake", "-S", ".", "-B", "build"], {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.13)\nproject(p NONE)\nfile(READ d1.txt x)\nfile(WRITE \"${CMAKE_BINARY_DIR}/o\" x)\nconfigure_file(a.in a.out)\n",
                                                           "d1.txt": "1\n", "a.in": "x\n"}, needs=["cmake"]),
    Program("cc", ["cc", "-o", "p", "p.c", "q.c"], {"p.c": "#include \"h/p.h\"\nint main(void) { return q(); }\n", "q.c": "int q(void) { return 0; }\n", "h/p.h": "int q(void);\n"},
            needs=["cc"]),
    Program("java", ["java", "A.java"], {**DATA, "A.java": "import java.nio.file.*;\nclass A { public static void main(String[] a) throws Exception { Files.readAllBytes(Path.of(\"d1.txt\"));\n"
                                         "Files.writeString(Path.of(\"o.txt\"), \"1\"); Files.move(Path.of(\"o.txt\"), Path.of(\"p.txt\")); Files.delete(Path.of(\"d2.txt\"));\n"
                                         "try (var r = new java.io.RandomAccessFile(\"data/a.txt\", \"r\")) { r.read(); } new ProcessBuilder(\"cat\", \"data/b.txt\").start().waitFor(); } }\n"},
            needs=["java"]),
    Program("node", ["node", "a.js"], {**DATA, "a.js": "const fs = require('fs'), cp = require('child_process'); fs.readFileSync('d1.txt'); fs.writeFileSync('o.txt', 'x'); fs.renameSync('o.txt', 'p.txt');\n"
                                       "fs.promises.readFile('d2.txt').then(() => fs.promises.copyFile('data/a.txt', 'c.txt')); require('./m.js'); cp.execFileSync('cat', ['data/b.txt'], {env: {}});\n"
                                       "fs.cpSync('data', 'more', {recursive: true}); fs.rmSync('more', {recursive: true});\n", "m.js": "exports.x = 1;\n"}, needs=["node"]),
    Program("R", ["Rscript", "a.R"], {**DATA, "a.R": "x <- readLines('d1.txt'); writeLines(x, 'o.txt'); file.rename('o.txt', 'p.txt'); source('l.R'); saveRDS(1, 's.rds'); readRDS('s.rds')\n", "l.R": "y <- 1\n"},
            needs=["Rscript"]),
    Program("git", ["git", "-c", "core.fsmonitor=false", "show", "--stat"], {**DATA}, ["git init -q . && git add -A && git -c user.name=t -c user.email=t@x commit -qm 1"], ["git"]),
    Program("sqlite3", ["sqlite3", "x.db", ".read d.sql"], {"d.sql": "create table t(a); insert into t values (1); select * from t;\n"}, needs=["sqlite3"]),
    Program("ranks", ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", "cat", "d1.txt"], DATA, needs=["mpirun"]),
]

ALL = SHELL + CHILD + C + PYTHONS + TOOLS
