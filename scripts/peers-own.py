#!/usr/bin/env python3
"""Own documents and queries by Plimsoll and by other load generators, in turns on one mongod: peers-own.py DIR

DIR or a folder of it holds plgm (Percona's load generator) or POCDriver.jar. plgm gets Plimsoll's documents and the same queries, whose
values are in the data; POCDriver has documents of its own, so it is asked for one by its key. Each program runs twice, for a short and for
a long time: the client's CPU time per operation is the difference of its CPU times over that of the operations that the server counted, so
that starting and loading are in neither. How many documents a request found is also what the server says.

    PLIMSOLL=FILE      the program [target/release/plimsoll]
    MONGOD=FILE        the server [mongod on PATH, or in target/servers/bin]
    PEERS_ROUNDS=N     rounds [5]
    PEERS_SECONDS="S L"  the short and the long time [4 16]
    PEERS_THREADS=N    sessions [4]
"""

import json
import os
import pathlib
import resource
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = int(os.environ.get("PEERS_ROUNDS", "5"))
SHORT, LONG = map(int, os.environ.get("PEERS_SECONDS", "4 16").split())
THREADS = int(os.environ.get("PEERS_THREADS", "4"))
RECORDS = 100_000
# plgm draws whole numbers from 0 to 999, whatever the data.
ACCOUNTS = 1_000

EXPERIMENT = """
plimsoll: 1
name: peers
workload:
  collections:
    accounts:
      records: {records}
      document:
        account: {{int: {{uniform: [0, 999]}}, distinct: {accounts}}}
        owner: {{text: 36}}
        x: {{double: {{uniform: [0, 1000]}}}}
        y: {{double: {{uniform: [0, 1000]}}}}
      indexes: [{{account: 1}}]
  operations:
    find-10: {{find: accounts, by: account, limit: 10}}
    find-1: {{find: accounts, by: account, limit: 1}}
    key: {{find: accounts, by: _id}}
    insert: {{insert: accounts}}
  mixes: {{only: {{{operation}: 1}}}}
defaults: {{engine: mongodb, uri: "{uri}", existing: {existing}}}
arms: {{only: {{}}}}
load: {{closed: {{threads: [{threads}]}}}}
measurement: {{warm_up: 0s, duration: {seconds}s, blocks: 1}}
"""


def say(text):
    print(f"peers: {text}", file=sys.stderr)


def found(folder, name):
    for place in (folder, *sorted(one for one in folder.iterdir() if one.is_dir())):
        for file in (place / name, place / "bin" / name):
            if file.is_file():
                return file.resolve()
    return None


def bson(document):
    """A document of texts, whole numbers, documents and lists."""
    body = b""
    for key, value in document.items():
        name = key.encode() + b"\0"
        if isinstance(value, str):
            text = value.encode() + b"\0"
            body += b"\x02" + name + struct.pack("<i", len(text)) + text
        elif isinstance(value, int):
            body += b"\x10" + name + struct.pack("<i", value)
        elif isinstance(value, list):
            body += b"\x04" + name + bson({str(index): one for index, one in enumerate(value)})
        else:
            body += b"\x03" + name + bson(value)
    return struct.pack("<i", len(body) + 5) + body + b"\0"


class Server:
    """A mongod, and what it counts."""

    def __init__(self, program, work):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.uri = f"mongodb://127.0.0.1:{self.port}/peers"
        (work / "data").mkdir()
        options = ["--dbpath", work / "data", "--bind_ip", "127.0.0.1", "--port", str(self.port), "--wiredTigerCacheSizeGB", "1"]
        self.process = subprocess.Popen([program, *options], stdout=open(work / "mongod.log", "wb"))
        for _ in range(300):
            try:
                self.connection = socket.create_connection(("127.0.0.1", self.port))
                break
            except OSError:
                time.sleep(0.1)
        else:
            sys.exit("peers: mongod does not answer")
        # plgm wants a user.
        self.command({"createUser": "bench", "pwd": "bench", "roles": ["root"]})

    def command(self, command):
        """The reply as bytes."""
        message = b"\0\0\0\0\0" + bson({**command, "$db": "admin"})
        self.connection.sendall(struct.pack("<iiii", len(message) + 16, 1, 0, 2013) + message)
        reply = b""
        while len(reply) < 4 or len(reply) < struct.unpack_from("<i", reply)[0]:
            part = self.connection.recv(1 << 16)
            if not part:
                sys.exit("peers: mongod closed the connection")
            reply += part
        return reply

    def counts(self):
        """Requests, inserted documents, documents returned."""
        reply = self.command({"serverStatus": 1})

        def number(section, name):
            at = reply.index(b"\x12" + name + b"\0", reply.index(b"\x03" + section + b"\0"))
            return struct.unpack_from("<q", reply, at + len(name) + 2)[0]

        return number(b"opcounters", b"query"), number(b"opcounters", b"insert"), number(b"document", b"returned")


class Peers:
    """The programs, and what each did."""

    def __init__(self, folder, work, server):
        self.work, self.server = work, server
        self.plimsoll = os.environ.get("PLIMSOLL", ROOT / "target/release/plimsoll")
        self.plgm, self.poc = found(folder, "plgm"), found(folder, "POCDriver.jar")
        if not self.plgm and not self.poc:
            sys.exit(f"peers: there is neither plgm nor POCDriver.jar in {folder} or in a folder of it")

    def of(self, operation):
        """Programs that can do it."""
        other, program = ("POCDriver", self.poc) if operation == "key" else ("plgm", self.plgm)
        return ["plimsoll", other] if program else []

    def command(self, name, operation, seconds, existing="use"):
        if name == "POCDriver":
            mix = ["-k", "0", "-i", "100"] if existing == "drop" else ["-k", "100", "-i", "0"]
            common = ["-c", self.server.uri, "-n", "peers.poc", "-t", str(THREADS), "-d", str(seconds), "-w"]
            return ["java", "-jar", self.poc, *common, *mix]
        if name == "plgm":
            return self.of_plgm(operation, seconds)
        text = EXPERIMENT.format(
            records=RECORDS, accounts=ACCOUNTS, operation=operation, uri=self.server.uri,
            existing="drop" if operation == "insert" else existing, threads=THREADS, seconds=seconds,
        )
        file = self.work / "peers.yaml"
        file.write_text(text)
        return [self.plimsoll, "run", file, "--store", self.work / "store", "--page", self.work / "page.html"]

    def of_plgm(self, operation, seconds):
        place = self.work / "plgm"
        for kind in ("collections", "queries"):
            (place / kind).mkdir(parents=True, exist_ok=True)
        whole = {"type": "int", "min": 0, "max": ACCOUNTS - 1}
        fields = {"account": whole, "owner": {"type": "string", "provider": "uuid"}, "x": {"type": "double"}, "y": {"type": "double"}}
        collection = {"database": "peers", "collection": "accounts", "fields": fields, "indexes": []}
        limit = 1 if operation == "find-1" else 10
        query = {"database": "peers", "collection": "accounts", "operation": "find", "filter": {"account": "<int>"}, "limit": limit}
        (place / "collections/accounts.json").write_text(json.dumps([collection]))
        (place / "queries/accounts.json").write_text(json.dumps([query]))
        settings = {
            "uri": self.server.uri.replace("//", "//bench:bench@"), "connection_params": {"direct_connection": True, "auth_source": "admin"},
            "custom_params": {"compressors": "none"}, "default_workload": False, "skip_seed": True,
            "collections_path": str(place / "collections"), "queries_path": str(place / "queries"), "drop_collections": False,
            "concurrency": THREADS, "duration": f"{seconds}s", "find_limit": limit, "op_timeout_ms": 10_000,
            "update_percent": 0, "delete_percent": 0, "bulk_insert_percent": 0, "aggregate_percent": 0, "transaction_percent": 0,
            "find_percent": 0 if operation == "insert" else 100, "insert_percent": 100 if operation == "insert" else 0,
        }
        # JSON is YAML.
        (place / "config.yaml").write_text(json.dumps(settings))
        return [self.plgm, place / "config.yaml"]

    def run(self, command):
        """Seconds of CPU time of a program, and what the server counted meanwhile."""
        before, used = self.server.counts(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.work, env={**os.environ, "NO_COLOR": "1"})
        after, ended = self.server.counts(), resource.getrusage(resource.RUSAGE_CHILDREN)
        # A result that plimsoll calls invalid, because of what else ran, is a result here: only CPU time is compared.
        if after[0] + after[1] < before[0] + before[1] + 100:
            sys.exit(f"peers: {command[0]} did nothing: {done.stderr[-800:]}{done.stdout[-800:]}")
        cpu = ended.ru_utime + ended.ru_stime - used.ru_utime - used.ru_stime
        return cpu, *(late - early for early, late in zip(before, after))

    def cost(self, name, operation):
        """Microseconds of CPU time for an operation, and the documents that it found."""
        short, long = (self.run(self.command(name, operation, seconds)) for seconds in (SHORT, LONG))
        cpu, queries, inserts, returned = (late - early for early, late in zip(short, long))
        count = inserts if operation == "insert" else queries
        return cpu / count * 1e6, returned / count, count / (LONG - SHORT)


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    mongod = os.environ.get("MONGOD") or shutil.which("mongod") or ROOT / "target/servers/bin/mongod"
    work = pathlib.Path(tempfile.mkdtemp(prefix="peers"))
    server = Server(mongod, work)
    try:
        peers = Peers(pathlib.Path(sys.argv[1]), work, server)
        say(f"plimsoll stores {RECORDS} documents")
        peers.run(peers.command("plimsoll", "find-10", 1, "drop"))
        if peers.poc:
            say("POCDriver stores documents")
            peers.run(peers.command("POCDriver", "key", 5, "drop"))
        print(f"{THREADS} sessions, medians of {ROUNDS} rounds in turns, {RECORDS} documents\n")
        print("| operation | program | client CPU, µs/op | documents found per operation | op/s |\n|---|---|---|---|---|")
        for operation in ("find-10", "find-1", "insert", "key"):
            seen = {name: [] for name in peers.of(operation)}
            for turn in range(ROUNDS):
                names = list(seen)
                for name in names[turn % len(names) :] + names[: turn % len(names)]:
                    say(f"{operation}, round {turn + 1} of {ROUNDS}: {name}")
                    seen[name].append(peers.cost(name, operation))
            for name, costs in seen.items():
                cpu, returned, rate = (statistics.median(column) for column in zip(*costs))
                print(f"| {operation} | {name} | {cpu:.1f} | {returned:.2f} | {rate:,.0f} |", flush=True)
    finally:
        server.process.terminate()
        server.process.wait()
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
