"""Play other processors: the kernels of OpenBLAS, the loops of NumPy and libm that they would take.

Rounding in the last bits differs among them. A kernel whose instructions this processor lacks is
skipped with a sentence.
"""

import json
import os
import subprocess
import sys

# Features by the names that NumPy 2.0 to 2.4 give them, the newest first.
BEYOND_SKYLAKE = ("AVX512_SPR", "AVX512_ICL", "AVX512_CNL", "AVX512_CLX")
AVX512 = (*BEYOND_SKYLAKE, "X86_V4", "AVX512_SKX", "AVX512CD", "AVX512F")
AVX2 = (*AVX512, "X86_V3", "AVX2", "FMA3")
# Of each processor, by the name that OpenBLAS gives it: a feature that this one must have, those
# that NumPy must not use, and those that exp and its like in glibc must not use.
PROCESSORS = {
    "Nehalem": ("SSE42", (*AVX2, "F16C", "AVX"), "-AVX,-AVX2,-FMA"),
    "Sandybridge": ("AVX", (*AVX2, "F16C"), "-AVX2,-FMA"),
    "Haswell": ("AVX2", AVX512, ""),
    "Zen": ("AVX2", AVX512, ""),
    "SkylakeX": ("AVX512_SKX", BEYOND_SKYLAKE, ""),
}
# Prints what NumPy and OpenBLAS use in a process.
PROBE = """
import json
import scipy.linalg
from numpy._core import _multiarray_umath as umath
from threadpoolctl import threadpool_info
features = [name for name, there in umath.__cpu_features__.items() if there]
pools = [pool for pool in threadpool_info() if pool["internal_api"] == "openblas"]
print(json.dumps({
    "features": features,
    "dispatched": [name for name in umath.__cpu_dispatch__ if name in features],
    "kernels": sorted({pool["architecture"] for pool in pools}),
}))
"""


def probe(**env):
    """Return the features and kernels that NumPy and OpenBLAS use with these variables set."""
    command = (sys.executable, "-W", "error", "-c", PROBE)
    told = subprocess.run(
        command, env={**os.environ, **env}, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(told.stdout)


def variables(name, dispatched):
    """Return the environment variables that play a processor where NumPy uses these features."""
    _, unused, libm = PROCESSORS[name]
    env = {"OPENBLAS_CORETYPE": name}
    # NumPy warns about names that it does not use here.
    if lowered := [feature for feature in dispatched if feature in unused]:
        env["NPY_DISABLE_CPU_FEATURES"] = " ".join(lowered)
    if libm:
        env["GLIBC_TUNABLES"] = f"glibc.cpu.hwcaps={libm}"
    return env


def playable(names):
    """Return the variables for each of these processors that can be played; say which cannot."""
    here = probe()
    print(f"this processor: OpenBLAS {here['kernels']}, NumPy {here['dispatched']}")
    found = {}
    for name in names:
        needed = PROCESSORS[name][0]
        if needed not in here["features"]:
            print(f"{name} is skipped: this processor lacks {needed}")
            continue
        env = variables(name, here["dispatched"])
        told = probe(**env)
        if told["kernels"] == [name]:
            print(f"{name}: NumPy {told['dispatched']}")
            found[name] = env
        else:
            print(f"{name} is skipped: OpenBLAS takes the kernels of {told['kernels']} for it")
    return found
