"""A PostgreSQL server of the test's own, on a socket in a temporary folder, without a port."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg

from tests.normal_user import NOBODY

PATIENCE = 60  # seconds: a guard, it starts in one


def program(name: str) -> str | None:
    """The path of one of the server's programs: Debian keeps them beside PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    return shutil.which(name) or (str(found[-1]) if found else None)


class Server:
    """Makes databases; `process` is the server's own."""

    def __init__(self, folder: Path, process: subprocess.Popen):
        self._folder, self.process = folder, process

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        return psycopg.connect(host=str(self._folder), user="grader", dbname=database, autocommit=True)

    def new(self, name: str) -> str:
        """The address of a new database."""
        with self.connect() as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return f"postgresql+psycopg://grader@/{name}?host={self._folder}"


@contextlib.contextmanager
def postgresql():
    """A Server. It does not run as root, and waits for no disk."""
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="postgresql-") as name:
        folder = Path(name)
        if user:
            os.chown(folder, NOBODY, NOBODY)
        options = {"cwd": folder, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, **user}
        made = subprocess.run([program("initdb"), "-D", folder / "data", "-U", "grader", "--auth=trust", "--no-sync",
                               "--encoding=UTF8", "--no-locale"], **options)
        assert made.returncode == 0, made.stdout
        with open(folder / "said", "w") as said, subprocess.Popen(
                [program("postgres"), "-D", folder / "data", "-k", folder, "-F", "-c", "listen_addresses="],
                **options | {"stdout": said}) as process:
            try:
                server = Server(folder, process)
                _wait(server, folder / "said")
                yield server
            finally:
                process.send_signal(signal.SIGINT)  # a fast shutdown: no waiting for who is connected


def _wait(server, said):
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return server.connect().close()
        except psycopg.OperationalError:
            assert server.process.poll() is None and time.monotonic() < until, said.read_text()
            time.sleep(0.05)
