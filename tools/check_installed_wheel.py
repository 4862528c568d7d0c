"""Import every module of svmbook from the folder of an installed wheel; check its data files."""

import importlib
import pkgutil
import sys
from pathlib import Path

folder = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(folder))
package = importlib.import_module("svmbook")
module_names = [info.name for info in pkgutil.walk_packages(package.__path__, "svmbook.")]
for name in module_names:
    module = importlib.import_module(name)
    if not Path(module.__file__).is_relative_to(folder):
        raise SystemExit(f"{name} was imported from {module.__file__}, not from the wheel")
if not (folder / "svmbook" / "book.mplstyle").is_file():
    raise SystemExit("the wheel lacks svmbook/book.mplstyle")
records = importlib.import_module("svmbook.experiments").load_records("glass-boxes")
if not records:
    raise SystemExit("the wheel lacks the records that chapters read")
print(f"imported svmbook and {len(module_names)} modules from the wheel")
