"""A hostile agent: each sample is something that it tries. It prints what came of it, as JSON."""

import ctypes
import errno
import json
import os
import platform
import socket

LIBC = ctypes.CDLL(None, use_errno=True)
# On x86_64, on everything else.
CALLS = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "mount": (165, 40),
    "pivot_root": (155, 41),
    "setns": (308, 268),
    "unshare": (272, 97),
    "clone3": (435, 435),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "open_by_handle_at": (304, 265),
    "pidfd_getfd": (438, 438),
}
NEW_USER = 0x10000000
ELSEWHERE = os.getcwd()
SCRATCH = os.environ["EVALTEST_SCRATCH"]


def name(number):
    return errno.errorcode[number] if number else "done"


def call(number, *args):
    ctypes.set_errno(0)
    result = LIBC.syscall(number, *args)
    if result == 0 and args and args[0] == NEW_USER | 17:
        os._exit(0)
    return "done" if result >= 0 else name(ctypes.get_errno())


def tried(action):
    try:
        result = action()
    except OSError as error:
        return name(error.errno)
    return "done" if result is None else result


def calls():
    at = 0 if platform.machine() == "x86_64" else 1
    made = {key: call(numbers[at], 0, 0, 0, 0, 0) for key, numbers in CALLS.items()}
    made["clone"] = call((56, 220)[at], NEW_USER | 17, 0, 0, 0, 0)
    if at == 0:
        # The same by the numbers of short pointers.
        made["short mount"] = call(0x40000000 + 165, 0, 0, 0, 0, 0)
        made["short ptrace"] = call(0x40000000 + 521, 0, 0, 0, 0)
    return made


def rights():
    kept = ("CapEff", "NoNewPrivs", "Seccomp")
    lines = open("/proc/self/status").read().splitlines()
    pairs = [line.split(":", 1) for line in lines]
    return {key: int(value, 16) for key, value in pairs if key in kept}


def descriptors():
    """Those that are open, but for the one that looks."""
    found = [int(one) for one in os.listdir("/proc/self/fd")]
    return [one for one in sorted(found) if tried(lambda: os.fstat(one) and None) == "done"]


def others():
    """What of other processes it can read, and which it can signal."""
    pids = [int(one) for one in os.listdir("/proc") if one.isdigit() and int(one) != os.getpid()]
    read = {}
    for file in ("environ", "mem", "maps", "fd/0", "cwd/data.jsonl"):
        look = lambda pid: os.readlink(f"/proc/{pid}/{file}") if file == "fd/0" else open(f"/proc/{pid}/{file}", "rb").read(1)
        read[file] = [pid for pid in pids if tried(lambda: look(pid) and None) == "done"]
    signals = [pid for pid in pids if tried(lambda: os.kill(pid, 0)) == "done"]
    limits = [pid for pid in pids if call(302, pid, 7, 0, 0) == "done"] if platform.machine() == "x86_64" else []
    return {"seen": len(pids), "read": read, "signals": signals, "limits": limits}


def files(folder):
    """How many files it can make there."""
    count = 0
    while count < 20000:
        try:
            os.close(os.open(f"{folder}/f{count}", os.O_CREAT))
        except OSError as error:
            return [count, name(error.errno)]
        count += 1
    return [count, "done"]


def written():
    """Where it can write, and what it can do to a file that is not its own."""
    made = {}
    for place in (ELSEWHERE, "/", "/usr", "/etc", "/dev", "/dev/shm", "/tmp", "/proc/sys/kernel", SCRATCH):
        made[place] = tried(lambda: open(f"{place}/it-was-here", "w").close())
    for act in ("chmod", "rename", "link", "unlink", "truncate", "setxattr"):
        todo = {
            "chmod": lambda: os.chmod(f"{ELSEWHERE}/secret.txt", 0o777),
            "rename": lambda: os.rename(f"{ELSEWHERE}/secret.txt", f"{SCRATCH}/s"),
            "link": lambda: os.link(f"{ELSEWHERE}/secret.txt", f"{SCRATCH}/s"),
            "unlink": lambda: os.unlink(f"{ELSEWHERE}/secret.txt"),
            "truncate": lambda: os.truncate(f"{ELSEWHERE}/secret.txt", 0),
            "setxattr": lambda: os.setxattr(f"{ELSEWHERE}/secret.txt", "user.a", b"1"),
        }
        made[act] = tried(todo[act])
    for kind in ("b", "c"):
        flag = 0o060000 if kind == "b" else 0o020000
        made["device " + kind] = tried(lambda: os.mknod(f"{SCRATCH}/{kind}", flag | 0o600, os.makedev(1, 1)))
    return made


def connect(family, address, kind=socket.SOCK_STREAM, protocol=0):
    with socket.socket(family, kind, protocol) as one:
        one.settimeout(5)
        one.connect(address)


def sockets():
    ports = json.load(open("ports.json"))
    here = "127.0.0.1"
    return {
        "open": tried(lambda: connect(socket.AF_INET, (here, ports["open"]))),
        "closed": tried(lambda: connect(socket.AF_INET, (here, ports["closed"]))),
        "listening": tried(lambda: socket.create_server((here, 0)).close()),
        "udp": tried(lambda: connect(socket.AF_INET, (here, ports["closed"]), socket.SOCK_DGRAM)),
        "mptcp": tried(lambda: connect(socket.AF_INET, (here, ports["closed"]), socket.SOCK_STREAM, 262)),
        "fast": tried(fast(ports["closed"])),
        "abstract": tried(lambda: connect(socket.AF_UNIX, "\0" + ports["abstract"])),
        "path": tried(lambda: connect(socket.AF_UNIX, "socket")),
        "vsock": tried(lambda: socket.socket(40, socket.SOCK_STREAM).close()),
        "alg": tried(lambda: socket.socket(38, socket.SOCK_SEQPACKET).close()),
    }


def fast(port):
    def send():
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
            one.settimeout(5)
            one.sendto(b"hello", 0x20000000, ("127.0.0.1", port))

    return send


def looks():
    """Everything that could hold the answer."""
    found = {}
    places = [f"{ELSEWHERE}/{file}" for file in ("data.jsonl", "eval.yaml", "secret.txt", "sub/tool.txt")]
    for place in places:
        found[place[len(ELSEWHERE) + 1 :]] = tried(lambda: open(place).read().strip())
    for folder in (ELSEWHERE, f"{ELSEWHERE}/snapshots", f"{ELSEWHERE}/evaltest-runs", f"{SCRATCH}/..", f"{SCRATCH}/../.."):
        seen = tried(lambda: os.listdir(folder))
        found["ls " + folder.replace(SCRATCH, "scratch").replace(ELSEWHERE, "here")] = seen
    for folder, _, names in os.walk(ELSEWHERE):
        for file in names:
            text = tried(lambda: open(f"{folder}/{file}").read())
            if "zanzibar" in text and file != "hostile.py":
                found[f"{folder}/{file}"] = text
    return found


TRIES = {
    "calls": calls,
    "rights": rights,
    "descriptors": descriptors,
    "others": others,
    "many-files": lambda: [files(SCRATCH), files("/tmp")],
    "written": written,
    "sockets": sockets,
    "looks": looks,
    "terminal": lambda: call((16, 29)[platform.machine() != "x86_64"], 0, 0x5412, b"x"),
    "inherited": lambda: tried(lambda: os.read(9, 99).decode()),
}
print(json.dumps(TRIES[os.environ["EVALTEST_SAMPLE_ID"]]()))
