"""What may befall a process: code that prepares, code that is disturbed, code that looks after.

``PREPARE`` is run once. For each case ``begin`` is run in an empty folder, ``job`` in a child
process, and ``after`` when the child has ended, with its exit ``status`` and what it wrote to
standard error, ``said``. Each is plain Python, so that a finding is printed as a program.
"""

from __future__ import annotations

from dataclasses import dataclass

PREPARE = """
import atexit, json, os, resource, shutil, signal, stat, subprocess, sys, tempfile, threading, time
from pathlib import Path
import numpy as np
from isthmus import TransitiveCut, TransitiveKMeans, minimum_spanning_tree
from isthmus.cli.main import run
rng = np.random.default_rng(0)
LINE, PLANE, MANY = (rng.normal(size=shape) for shape in ((20_000, 1), (3_000, 2), (600, 20)))
OLD, NEW = (TransitiveCut(k).fit(LINE) for k in (3, 5))
TABLE = '\\n'.join(f'{x},{y}' for x, y in PLANE[:2000].round(6).tolist()) + '\\n'

def leftovers():
    return sorted(p for p in os.listdir('.') if p not in ('model', 'in.csv', 'out.csv', 'cache'))

def assert_swept(write):
    # What SIGKILL leaves is private, recognisable, and swept by the next write.
    for name in leftovers():
        assert name.startswith('.') and name.endswith('.tmp'), f'a leftover named {name}'
        mode = stat.S_IMODE(os.stat(name).st_mode)
        assert mode & 0o077 == 0, f'a leftover that others may read: {mode:o}'
    if leftovers():
        write()
        assert leftovers() == [], f'not swept by the next write: {leftovers()}'

def cluster():
    return run(['cluster', 'in.csv', '-k', '3', '-o', 'out.csv', '--quiet'])

def content_of(write, name):
    write()
    found = Path(name).read_bytes()
    os.unlink(name)
    return found

FIT = (
    'from isthmus import minimum_spanning_tree; '
    "print(minimum_spanning_tree([[0, 0], [1, 0], [5, 5]], engine='prim').edges.tolist())"
)

def fit_with_cache(folder):
    found = subprocess.run(
        [sys.executable, '-c', FIT], capture_output=True, text=True,
        env={**os.environ, 'NUMBA_CACHE_DIR': os.path.abspath(folder)},
    )
    assert found.returncode == 0, found.stderr[-300:]
    return found.stdout

def limit(what, amount):
    resource.setrlimit(what, (amount, resource.getrlimit(what)[1]))

CALLS = [0, 0]  # of functions that allocate, and the one that fails
def failing(function):
    def counted(*args, **options):
        CALLS[0] += 1
        if CALLS[0] == CALLS[1]:
            raise MemoryError('Unable to allocate')
        return function(*args, **options)
    counted.counts = True
    return counted

def fail_at(number):
    CALLS[:] = 0, number
    for name in ('empty', 'zeros', 'full', 'ones', 'concatenate', 'empty_like', 'argsort', 'array'):
        if not hasattr(getattr(np, name), 'counts'):
            setattr(np, name, failing(getattr(np, name)))

def leave(n_bytes):
    # Python's own stack must not have to grow: that would be a crash, whatever runs.
    sys.setrecursionlimit(20_000)
    json.loads('[' * 15_000 + ']' * 15_000)
    used = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize()
    limit(resource.RLIMIT_AS, used + n_bytes)
"""


@dataclass(frozen=True)
class Scenario:
    """One kind of disturbance.

    Attributes
    ----------
    signals : tuple of names
        Of which one is sent to the job after some time; none: the job ends by itself.
    longest : float
        Seconds after which the signal comes at the latest.
    times : int
        How often it is drawn, beside the others.
    """

    begin: str
    job: str
    after: str
    signals: tuple[str, ...] = ()
    longest: float = 0.03
    times: int = 8


_TWO_MODELS = """
BYTES = [content_of(lambda: model.save('model'), 'model') for model in (OLD, NEW)]
OLD.save('model')
os.chmod('model', 0o600)
"""
_OLD_TABLE = """
Path('in.csv').write_text(TABLE)
CLUSTERED = content_of(cluster, 'out.csv')
Path('out.csv').write_bytes(b'before')
os.chmod('out.csv', 0o600)
"""
_WHOLE_MODEL = """
assert Path('model').read_bytes() in BYTES, 'half of a file'
assert stat.S_IMODE(os.stat('model').st_mode) == 0o600, 'other permissions'
"""
_WHOLE_TABLE = """
assert Path('out.csv').read_bytes() in (b'before', CLUSTERED), 'half of a file'
assert stat.S_IMODE(os.stat('out.csv').st_mode) == 0o600, 'other permissions'
assert Path('in.csv').read_text() == TABLE, 'another input'
assert 'Traceback' not in said, 'a traceback'
"""

SCENARIOS = {
    "killed while saving": Scenario(
        _TWO_MODELS,
        "while True:\n    NEW.save('model')\n    OLD.save('model')",
        _WHOLE_MODEL + "assert_swept(lambda: OLD.save('model'))",
        ("SIGKILL",),
    ),
    "ended while saving": Scenario(
        _TWO_MODELS,
        "while True:\n    NEW.save('model')\n    OLD.save('model')",
        _WHOLE_MODEL + "assert leftovers() == [], 'a leftover'",
        ("SIGINT", "SIGTERM"),
    ),
    "command killed": Scenario(
        _OLD_TABLE,
        "while True:\n    cluster()",
        _WHOLE_TABLE + "assert_swept(cluster)",
        ("SIGKILL",),
        0.15,
    ),
    "command ended": Scenario(
        _OLD_TABLE,
        "sys.exit(cluster())",
        _WHOLE_TABLE
        + "assert leftovers() == [], 'a leftover'\n"
        + "assert status in (0, 130, 143, -15), f'exit status {status}'",
        ("SIGINT", "SIGTERM"),
        0.08,
    ),
    "fit interrupted": Scenario(
        "EXPECTED = TransitiveKMeans(4).fit(PLANE).labels_",
        """
model = TransitiveKMeans(4, n_jobs=2)
try:
    while True:
        model.fit(PLANE)
except KeyboardInterrupt:
    pass
assert threading.active_count() == 1 or not time.sleep(1.0) and threading.active_count() == 1
fitted = hasattr(model, 'labels_')
assert not fitted or (model.labels_ == EXPECTED).all(), 'half of a fit'
assert (model.fit(PLANE).labels_ == EXPECTED).all(), 'another result after an interrupted fit'
sys.exit(7)
""",
        # 130: it came before the first fit began.
        "assert status == 7 or (status, said) == (130, ''), f'after Ctrl-C: {said[-300:]}'",
        ("SIGINT",),
    ),
    "killed while caching a tree": Scenario(
        "EXPECTED = TransitiveCut(4).fit(PLANE).labels_",
        "i = 0\nwhile True:\n    i += 1\n    TransitiveCut(4, memory='cache').fit(PLANE + i % 3)",
        "found = [TransitiveCut(4, memory='cache').fit(PLANE + i).labels_ for i in range(3)]\n"
        "assert (found[0] == EXPECTED).all(), 'another tree from the cache'",
        ("SIGKILL", "SIGTERM"),
        0.1,
    ),
    "killed while compiling": Scenario(
        "EXPECTED = '[[0, 1], [1, 2]]'",
        "os.environ['NUMBA_CACHE_DIR'] = os.path.abspath('cache')\n"
        "os.execv(sys.executable, [sys.executable, '-c', FIT])",
        "assert fit_with_cache('cache').strip() == EXPECTED, 'another result'",
        ("SIGKILL", "SIGTERM", "SIGINT"),
        4.0,
        1,
    ),
    "compiled code that is cut short": Scenario(
        """
if 'CACHE' not in globals():
    CACHE = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, CACHE, ignore_errors=True)
    EXPECTED = fit_with_cache(CACHE)
shutil.copytree(CACHE, 'cache')
FILES = sorted(Path('cache').rglob('*.nb?'))
""",
        "os.truncate(FILES[AMOUNT % len(FILES)], AMOUNT % 3000)",
        "assert [fit_with_cache('cache') for _ in range(2)] == [EXPECTED] * 2, 'another result'",
        times=1,
    ),
    "disk full while saving": Scenario(
        _TWO_MODELS,
        """
limit(resource.RLIMIT_FSIZE, AMOUNT)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    NEW.save('model')
except OSError:
    sys.exit(7)
""",
        _WHOLE_MODEL + "assert status in (0, 7), f'on a full disk: {said[-300:]}'\n"
        "assert leftovers() == [], 'a leftover'",
    ),
    "disk full under the command": Scenario(
        _OLD_TABLE,
        """
limit(resource.RLIMIT_FSIZE, AMOUNT // 16)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.exit(cluster())
""",
        _WHOLE_TABLE + "assert leftovers() == [], 'a leftover'\n"
        "assert status == 0 or (status, said.count('\\n')) == (2, 1), said[-300:]",
    ),
    "little memory": Scenario(
        "EXPECTED = TransitiveKMeans(4).fit(PLANE).labels_",
        """
leave((64 << 20) + AMOUNT * 8)
try:
    OLD.tree_.matrix()  # 3 GB
    sys.exit(8)
except MemoryError:
    pass
assert (TransitiveKMeans(4).fit(PLANE).labels_ == EXPECTED).all(), 'wrong labels'
sys.exit(7)
""",
        "assert status == 7, f'with little memory: {status} {said[-300:]}'",
        times=2,
    ),
    "an allocation that fails": Scenario(
        "EXPECTED = [TransitiveKMeans(4).fit(X).labels_ for X in (PLANE, MANY)]",
        """
for X, expected in zip((PLANE, MANY), EXPECTED):
    model = TransitiveKMeans(4, n_jobs=1 + AMOUNT % 2)
    fail_at(1 + AMOUNT % 150)
    try:
        model.fit(X)
    except MemoryError:
        assert not hasattr(model, 'labels_'), 'half of a fit'
    fail_at(0)
    assert (model.fit(X).labels_ == expected).all(), 'wrong labels'
sys.exit(7)
""",
        "assert status == 7, f'{status} {said[-300:]}'",
        times=2,
    ),
    "an allocation of the command that fails": Scenario(
        _OLD_TABLE,
        "fail_at(1 + AMOUNT % 150)\nsys.exit(cluster())",
        _WHOLE_TABLE + "assert leftovers() == [], 'a leftover'\n"
        "assert status == 0 or (status, said.count('\\n')) == (2, 1), said[-300:]",
    ),
    "a memory limit": Scenario(
        "EXPECTED = [TransitiveCut(4).fit(X).labels_ for X in (PLANE, MANY)]",
        """
for X, expected in zip((PLANE, MANY), EXPECTED):
    try:
        model = TransitiveCut(4, memory_limit=1 + AMOUNT * 8, n_jobs=2).fit(X)
        assert (model.labels_ == expected).all(), 'wrong labels'
    except MemoryError as error:
        assert 'memory_limit' in str(error)
sys.exit(7)
""",
        "assert status == 7, f'{status} {said[-300:]}'",
        times=2,
    ),
    "many threads": Scenario(
        "EXPECTED = TransitiveKMeans(4).fit(PLANE[:900]).labels_\n"
        "SHARED = TransitiveKMeans(5).fit(PLANE[:900])\nPREDICTED = SHARED.predict(PLANE)\n"
        "SHARED = TransitiveKMeans(5).fit(PLANE[:900])",
        """
wrong = []
def work(number):
    try:
        if number % 2:
            found = TransitiveKMeans(4, n_jobs=1 + number % 3).fit(PLANE[:900]).labels_
            right = (found == EXPECTED).all()
        else:
            right = (SHARED.predict(PLANE) == PREDICTED).all() and SHARED.path(2, 4)
        if not right:
            wrong.append(number)
    except BaseException as error:
        wrong.append(repr(error))
threads = [threading.Thread(target=work, args=(i,)) for i in range(12)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not wrong, wrong
sys.exit(7)
""",
        "assert status == 7, f'{status} {said[-300:]}'",
        times=2,
    ),
    "refitted while predicting": Scenario(
        """
SETS = PLANE[:500], PLANE[500:1500] + 3.0
ANSWERS = [
    (m.labels_.tolist(), m.predict(PLANE).tolist(), m.transform(PLANE[:9]).tolist())
    for m in (TransitiveKMeans(4).fit(X) for X in SETS)
]
""",
        """
model = TransitiveKMeans(4).fit(SETS[0])
wrong, ended = [], threading.Event()
def ask():
    while not ended.is_set():
        try:
            answers = model.labels_, model.predict(PLANE), model.transform(PLANE[:9])
            for i, found in enumerate(answers):
                if found.tolist() not in [answer[i] for answer in ANSWERS]:
                    wrong.append(i)
            model.inertia_, model.outlier_scores_, model.n_features_in_, model.labels_for(3)
        except BaseException as error:
            wrong.append(repr(error))
threads = [threading.Thread(target=ask) for _ in range(3)]
for thread in threads: thread.start()
for i in range(12): model.fit(SETS[i % 2])
ended.set()
for thread in threads: thread.join()
assert not wrong, wrong[:5]
sys.exit(7)
""",
        "assert status == 7, f'{status} {said[-300:]}'",
        times=2,
    ),
}
