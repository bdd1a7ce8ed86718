"""The tests of blade."""

import os
import sys
from pathlib import Path

# Compiled tests and libraries are kept, in a folder of their own: each process would compile them
# again where the environment forbids to write them, which takes as long as many tests do.
sys.dont_write_bytecode = False
sys.pycache_prefix = str(Path(__file__).resolve().parent.parent / ".pytest_cache" / "bytecode")
os.environ["PYTHONDONTWRITEBYTECODE"] = ""
os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
