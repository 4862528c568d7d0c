"""Hostile code in place of the first answer of the small assignment of `coursework`."""

# The code of each kind; a kind says what the code does.
CODE_BY_KIND = {
    "loops forever": "while True: pass",
    "loops and ignores interrupts": (
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    ),
    "forks in an endless loop": "import os\nwhile True: os.fork()",
    "allocates 100 GB of memory": "x = bytearray(100 * 2**30)",
    "fills the disk": "for k in range(1000):\n  open(f'/tmp/{k}', 'wb').write(bytes(2**20))",
    "fills shared memory": "open('/dev/shm/x', 'wb').write(bytes(2**28))",
    "fills anonymous files in memory": (
        "import os\nfor k in range(1000):\n  os.write(os.memfd_create('x'), bytes(2**24))"
    ),
    "connects to the network": "import socket\nsocket.create_connection(('1.1.1.1', 80), 5)",
    "prints in an endless loop": "while True: print('x' * 100_000)",
    "exits the process": "import os\nos._exit(0)",
    "kills all visible processes": (
        "import os, signal\n"
        "for p in [*map(int, filter(str.isdigit, os.listdir('/proc')))]:\n"
        "  if p != os.getpid():\n"
        "    try: os.kill(p, signal.SIGKILL)\n"
        "    except OSError: pass"
    ),
    "raises SystemExit": "raise SystemExit",
    "disables the assertions of NumPy": (
        "import numpy as np\nnp.testing.assert_allclose = lambda *a, **k: None"
    ),
    "replaces the functions that check answers": (
        "import svmbook.course.checks as c\ncheck_close = c.check_close = lambda *a, **k: None"
    ),
    "replaces a built-in function": "import builtins\nbuiltins.abs = lambda x: 0.0",
    "rewrites cells before they run": (
        "get_ipython().input_transformers_post.append(\n"
        "  lambda lines: ['pass'] if 'check_' in ''.join(lines) else lines)\n"
        "def square(x): return 0.0"
    ),
    "inspects the frames of its callers": (
        "import sys\n"
        "def square(x):\n"
        "  frame = sys._getframe()\n"
        "  while frame:\n"
        "    for name in ('expected', 'right'):\n"
        "      if name in frame.f_locals: return frame.f_locals[name]\n"
        "    frame = frame.f_back\n"
        "  return 0.0"
    ),
    "replaces the method that runs cells": (
        "kernel = getattr(get_ipython(), 'kernel', None)\n"
        "if kernel: kernel.do_execute = lambda *a, **k: {'status': 'ok'}\n"
        "def square(x): return 0.0"
    ),
    "prints the cells that run": (
        "get_ipython().events.register('pre_run_cell', lambda info: print(info.raw_cell))\n"
        "def square(x): return x * x"
    ),
    "redefines names that tests use": (
        "abs = len = lambda x: 0\ncheck_close = lambda *a, **k: None\ndef square(x): return 0.0"
    ),
    "removes assertions from cells": (
        "import ast\n"
        "class Pass(ast.NodeTransformer):\n"
        "  def visit_Expr(self, node): return ast.Pass()\n"
        "  def visit_Assert(self, node): return ast.Pass()\n"
        "get_ipython().ast_transformers.append(Pass())"
    ),
    "suppresses tracebacks": (
        "get_ipython().showtraceback = lambda *a, **k: None\n"
        "get_ipython()._showtraceback = lambda *a, **k: None"
    ),
    "returns an object that equals everything": (
        "class Yes(float):\n"
        "  def __eq__(self, other): return True\n"
        "  def __sub__(self, other): return 0.0\n"
        "  __rsub__ = __sub__\n"
        "def square(x): return Yes(7)"
    ),
    "returns a constant": "def square(x): return 4.0",
    "searches for the course": (
        "import os\n"
        "tops = [f'/{top}' for top in os.listdir('/') if top not in ('proc', 'sys', 'usr')]\n"
        "found = [name for top in tops for _, _, names in os.walk(top) for name in names\n"
        "         if name in ('outside.txt', 'small.ipynb')]\n"
        "assert found, 'no course files found'\n"
        "def square(x): return x * x"
    ),
    "writes into the package": (
        "import svmbook\nopen(svmbook.__file__, 'a').write('raise SystemExit')"
    ),
    "writes to the files of other processes": (
        "import os\n"
        "for p in filter(str.isdigit, os.listdir('/proc')):\n"
        "  for f in range(20):\n"
        "    try: open(f'/proc/{p}/fd/{f}', 'w').write('{\"done\": true}\\n')\n"
        "    except OSError: pass"
    ),
    "prints text that UTF-8 cannot encode": (
        "import json\n"
        "get_ipython().kernel.session.pack = lambda o: json.dumps(o, default=str).encode()\n"
        "print('\\ud800')\n"
        "def square(x): return x * x"
    ),
    "displays scripts and HTML": (
        "from IPython.display import HTML, Javascript, display\n"
        "display(HTML('<script>stolen()</script>'), Javascript('stolen()'))\n"
        "print('<script>stolen()</script>')\n"
        "def square(x): return x * x"
    ),
    "contains a sum of 90,000 terms": "x = " + "+".join(["1"] * 90_000),
    "raises a BaseException": "class Stop(BaseException): pass\ndef square(x): raise Stop",
    "recurses forever": "def square(x): return square(x)",
    "crashes the interpreter": "import ctypes\nctypes.string_at(0)",
    "closes all its files": "import os\nos.closerange(3, 1000)",
    "stops its own process": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
    "replaces NumPy": (
        "import numpy as np\nnp.array = np.asarray = np.ndarray = np.float64 = None\n"
        "def square(x): return 0.0"
    ),
    "sets stdout and stderr to None": (
        "import sys\nsys.stdout = sys.stderr = sys.__stdout__ = None\ndef square(x): return 0.0"
    ),
    "connects to the port of the tests": (
        "import socket\n"
        "for line in open('/proc/net/tcp').readlines()[1:]:\n"
        "  port = int(line.split()[1].split(':')[1], 16)\n"
        "  try:\n"
        "    with socket.create_connection(('127.0.0.1', port), 1) as caller:\n"
        '      caller.sendall(b\'{"key": "", "end": true, "serving": true}\\n\')\n'
        "  except OSError: pass\n"
        "def square(x): return 0.0"
    ),
    "returns a list that contains itself": "x = []\nx.append(x)\ndef square(_): return x",
    "returns an array larger than the memory limit": (
        "import numpy as np\ndef square(x): return np.ones(10**8)"
    ),
}
# The largest number of points that a kind may get, if it is not 2 (the points of the other answer).
SCORE_LIMITS = {
    "loops and ignores interrupts": 0,
    "exits the process": 0,
    "prints the cells that run": 5,
    "removes assertions from cells": 0,
    "prints text that UTF-8 cannot encode": 5,
    "displays scripts and HTML": 5,
    "crashes the interpreter": 0,
    "stops its own process": 0,
}
# A part of the report's message, for the kinds that have one.
MESSAGES = {
    "loops and ignores interrupts": "took more than",
    "exits the process": "the kernel died",
    "crashes the interpreter": "the kernel died",
    "stops its own process": "took more than",
}

# Kinds that affect only the kernel in which they run, so that no sandbox is needed.
KINDS_SAFE_WITHOUT_SANDBOX = (
    "exits the process",
    "raises SystemExit",
    "disables the assertions of NumPy",
    "replaces the functions that check answers",
    "replaces a built-in function",
    "redefines names that tests use",
    "removes assertions from cells",
    "suppresses tracebacks",
    "rewrites cells before they run",
    "inspects the frames of its callers",
    "replaces the method that runs cells",
    "prints the cells that run",
    "returns an object that equals everything",
    "returns a constant",
    "displays scripts and HTML",
    "raises a BaseException",
    "recurses forever",
    "crashes the interpreter",
    "replaces NumPy",
    "sets stdout and stderr to None",
    "connects to the port of the tests",
    "returns a list that contains itself",
    "contains a sum of 90,000 terms",
)
# Kinds that raise an error in the sandbox and leave the kernel intact: one kernel can run them all.
KINDS_FAILING_IN_SANDBOX = (
    "allocates 100 GB of memory",
    "fills shared memory",
    "fills anonymous files in memory",
    "connects to the network",
    "searches for the course",
    "writes into the package",
    "fills the disk",
)
