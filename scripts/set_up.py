"""Makes ``.venv`` whole: a virtual environment with the locked dependencies and Enlace itself.

Standard library only: this runs before anything is installed. A stamp inside the environment says what it was
made from; it is written last, and a mark of work in progress beside it is written first, so that an interrupted
set-up is never taken for a whole one. A lock on a file makes two set-ups at once wait for each other.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "enlace-set-up"
UNFINISHED = ROOT / ".venv.unfinished"
LOG = ROOT / ".venv.log"
LOCK = ROOT / ".venv.lock"
CPUINFO = Path("/proc/cpuinfo")
MADE_FROM = (
    "requirements.lock",
    "pyproject.toml",
    "setup.py",
    "scripts/set_up.py",
    "scripts/one_token.py",
    *(f"trainer/model/native/{name}" for name in ("numbers.hpp", "layers.cpp", "attention.cpp", "head.cpp")),
)
PACKAGES = ("app", "configs", "engine", "memory", "tools", "trainer")

SAYS_IT_LIVES_EVERY = 20.0  # seconds
LAST_LINES_SHOWN = 25

# Compiled by GCC 12, llama.cpp's code for matrix tiles (AMX) dies of an illegal instruction: that compiler takes
# _tile_loadconfig to read eight bytes of the 64 that it does (docs/decisions/no-matrix-tiles.md).
WITHOUT_TILES = "-DCMAKE_C_FLAGS=-U__AMX_INT8__ -DCMAKE_CXX_FLAGS=-U__AMX_INT8__"

COMPILING = "llama-cpp-python, which runs the model, is being compiled: about 7 minutes on two cores, only this once"


class SetUpFailed(Exception):
    """What went wrong and what to do, in one or two sentences."""


def say(text: str) -> None:
    """One line to the person who waits."""
    print(f"· {text}", flush=True)


def fingerprint() -> str:
    """A digest of all that the environment is made from: lock, project, Python, folder and the processor's features."""
    digest = hashlib.sha256(f"{sys.version}\n{VENV}\n{processor()}\n".encode())
    for name in MADE_FROM:
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def processor() -> str:
    """What the processor can do, as far as the system tells: what was compiled for another one may not run here."""
    told = CPUINFO.read_text(encoding="utf-8").splitlines() if CPUINFO.exists() else []
    features = next((line for line in told if line.startswith(("flags", "Features"))), "")
    return f"{platform.machine()} {' '.join(sorted(features.partition(':')[2].split()))}"


def is_whole(wanted: str) -> bool:
    """Whether the environment was finished, and made from what ``wanted`` stands for."""
    return not UNFINISHED.exists() and STAMP.exists() and STAMP.read_text(encoding="utf-8").strip() == wanted


def require_compilers(environ: Mapping[str, str]) -> None:
    """Raises SetUpFailed without a C and a C++ compiler: llama-cpp-python is compiled on this machine."""
    choices = {
        "C": [environ.get("CC", ""), "cc", "gcc", "clang"],
        "C++": [environ.get("CXX", ""), "c++", "g++", "clang++"],
    }
    for language, names in choices.items():
        if not any(name and shutil.which(name.split()[0]) for name in names):
            raise SetUpFailed(
                f"There is no {language} compiler on this machine, and the engine is compiled here. Install one "
                "(Debian and Ubuntu: apt-get install build-essential; Fedora: dnf install gcc-c++; "
                "macOS: xcode-select --install) and run the same command again."
            )


@contextmanager
def alone() -> Iterator[None]:
    """Holds the set-up's lock; says so when it has to wait for another set-up."""
    with LOCK.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another set-up is at work in this folder; waiting for it.")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def last_line() -> str:
    """The last thing the log says, shortened to fit a line."""
    lines = LOG.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip()[:90] for line in reversed(lines) if line.strip()), "")


def run_logged(what: str, command: Sequence[str]) -> None:
    """Run ``command`` into the log, saying now and then that it lives. Raises SetUpFailed."""
    say(f"{what} …")
    started = said = time.monotonic()
    environ = _environment()
    warned = False
    with LOG.open("ab") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environ)
        while True:
            try:
                code = process.wait(timeout=1.0)
                break
            except subprocess.TimeoutExpired:
                now = time.monotonic()
            line = last_line()
            if not warned and "Building wheel for llama-cpp-python" in line:
                say(f"  {COMPILING} …")
                warned = True
            if now - said >= SAYS_IT_LIVES_EVERY:
                say(f"  {now - started:.0f} s: {line or 'pip is at work'}")
                said = now
    if code != 0:
        tail = LOG.read_text(encoding="utf-8", errors="replace").splitlines()[-LAST_LINES_SHOWN:]
        raise SetUpFailed(
            "\n".join(
                [
                    *tail,
                    "",
                    f"{what}: that did not work (code {code}; the whole story is in {LOG.name}).",
                    "If the machine is not connected to a package index, connect it; then run the same command again.",
                ]
            )
        )


def _environment() -> dict[str, str]:
    """The caller's, less what would lead Python elsewhere, and how the engine is compiled; theirs on it counts last."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "PYTHONPATH")}
    return kept | {"CMAKE_ARGS": f"{WITHOUT_TILES} {kept.get('CMAKE_ARGS', '')}".strip()}


def make_environment() -> None:
    """Make ``.venv`` anew where it is missing, half made or of another Python; raises SetUpFailed."""
    python = VENV / "bin" / "python"
    reusable = python.exists() and not UNFINISHED.exists() and _version_of(python) == list(sys.version_info[:2])
    if not reusable:
        UNFINISHED.touch()
        run_logged(f"Making a virtual environment in {VENV.name}", [sys.executable, "-m", "venv", "--clear", str(VENV)])
    UNFINISHED.touch()


def _version_of(python: Path) -> list[int]:
    """Major and minor version of ``python``; an empty list where it does not run."""
    asked = subprocess.run(
        [str(python), "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=False
    )
    return [int(part) for part in asked.stdout.split()] if asked.returncode == 0 else []


def install() -> None:
    """Install the locked dependencies, then the project itself without any. Raises SetUpFailed."""
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    run_logged("Installing what requirements.lock names, the starter model included", [*pip, "-r", "requirements.lock"])
    if not engine_runs():
        # pip keeps what it compiled, and takes it again whatever it was compiled for.
        say("The engine was compiled for another processor, or in another way: compiling it for this one.")
        again = ["--no-cache-dir", "--force-reinstall", "--no-deps", locked("llama-cpp-python")]
        run_logged("Compiling the engine", [*pip, *again])
        if not engine_runs():
            raise SetUpFailed(
                "The engine was compiled but does not run on this machine. Another compiler may help: name one (for "
                f"example CC=clang CXX=clang++) before the same command. The whole story is in {LOG.name}."
            )
    for compiled in (ROOT / "trainer" / "model" / "native").glob("*.so"):
        compiled.unlink()  # setuptools would take it for done, whatever processor it was compiled for
    # One plain path instead of setuptools' import hook: the hook costs every start some milliseconds.
    editable = ["--no-deps", "--no-build-isolation", "--config-settings", "editable_mode=compat", "--editable", "."]
    run_logged("Installing Enlace", [*pip, *editable])
    compile_all = [str(VENV / "bin" / "python"), "-m", "compileall", "-q", *PACKAGES]
    run_logged("Compiling Enlace's modules, so that it opens quickly", compile_all)


def engine_runs() -> bool:
    """Whether the installed engine writes a token on this processor."""
    command = [str(VENV / "bin" / "python"), "-m", "scripts.one_token"]
    with LOG.open("ab") as log:
        tried = subprocess.run(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=_environment(), check=False
        )
    return tried.returncode == 0


def locked(name: str) -> str:
    """The requirement of this name in the lock."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(f"{name}=="))


def set_up() -> None:
    """Leave a whole environment behind. Raises SetUpFailed."""
    with alone():
        wanted = fingerprint()
        if is_whole(wanted):
            STAMP.touch()  # make compares times; nothing else has changed
            return
        started = time.monotonic()
        require_compilers(os.environ)
        LOG.write_text("", encoding="utf-8")
        make_environment()
        install()
        STAMP.write_text(wanted + "\n", encoding="utf-8")
        UNFINISHED.unlink()
        say(f"Set up in {time.monotonic() - started:.0f} s. The next start goes straight on.")


def main() -> int:
    """Set up; the exit code."""
    try:
        set_up()
    except SetUpFailed as failure:
        print(f"\n{failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nSet-up was interrupted. Run the same command again: it goes on cleanly.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
