"""Emulate other processors: select the OpenBLAS kernels, NumPy loops and libm code they would use.

These differ in the rounding of the last bits. Processors whose instructions this computer lacks are
skipped with a message.
"""

import json
import os
import subprocess
import sys

# CPU features as NumPy 2.0 to 2.4 name them, the newest first.
BEYOND_SKYLAKE = ("AVX512_SPR", "AVX512_ICL", "AVX512_CNL", "AVX512_CLX")
AVX512 = (*BEYOND_SKYLAKE, "X86_V4", "AVX512_SKX", "AVX512CD", "AVX512F")
AVX2_OR_NEWER = (*AVX512, "X86_V3", "AVX2", "FMA3")
# By OpenBLAS's name of a processor: the feature that this computer must have, the features that
# NumPy must not use, and those that glibc's exp, log, ... must not use.
PROCESSORS = {
    "Nehalem": ("SSE42", (*AVX2_OR_NEWER, "F16C", "AVX"), "-AVX,-AVX2,-FMA"),
    "Sandybridge": ("AVX", (*AVX2_OR_NEWER, "F16C"), "-AVX2,-FMA"),
    "Haswell": ("AVX2", AVX512, ""),
    "Zen": ("AVX2", AVX512, ""),
    "SkylakeX": ("AVX512_SKX", BEYOND_SKYLAKE, ""),
}
# Prints the CPU features that are available to NumPy, those that it uses, and OpenBLAS's kernels.
PROBE_SCRIPT = """
import json
import scipy.linalg
from numpy._core import _multiarray_umath as umath
from threadpoolctl import threadpool_info
features = [name for name, available in umath.__cpu_features__.items() if available]
pools = [pool for pool in threadpool_info() if pool["internal_api"] == "openblas"]
print(json.dumps({
    "features": features,
    "dispatched": [name for name in umath.__cpu_dispatch__ if name in features],
    "kernels": sorted({pool["architecture"] for pool in pools}),
}))
"""


def probe(**env):
    """Return what `PROBE_SCRIPT` prints in a process with these environment variables."""
    command = (sys.executable, "-W", "error", "-c", PROBE_SCRIPT)
    return json.loads(subprocess.check_output(command, env={**os.environ, **env}, text=True))


def emulation_variables(name, dispatched):
    """Return the variables that emulate a processor, given the features that NumPy uses here."""
    _, excluded_features, excluded_libm_features = PROCESSORS[name]
    env = {"OPENBLAS_CORETYPE": name}
    # NumPy warns about features that it does not use on this computer.
    if disabled := [feature for feature in dispatched if feature in excluded_features]:
        env["NPY_DISABLE_CPU_FEATURES"] = " ".join(disabled)
    if excluded_libm_features:
        env["GLIBC_TUNABLES"] = f"glibc.cpu.hwcaps={excluded_libm_features}"
    return env


def emulation_environments(names):
    """Return the environment variables for each processor that can be emulated; print which can."""
    native = probe()
    print(f"this processor: OpenBLAS {native['kernels']}, NumPy {native['dispatched']}")
    environments = {}
    for name in names:
        required_feature = PROCESSORS[name][0]
        if required_feature not in native["features"]:
            print(f"{name} is skipped: this processor lacks {required_feature}")
            continue
        env = emulation_variables(name, native["dispatched"])
        emulated = probe(**env)
        if emulated["kernels"] == [name]:
            print(f"{name}: NumPy {emulated['dispatched']}")
            environments[name] = env
        else:
            print(f"{name} is skipped: OpenBLAS uses the kernels of {emulated['kernels']} instead")
    return environments
