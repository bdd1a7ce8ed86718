"""Numbers in JSON: enough digits for any comparison, none that sums may wobble in."""

from __future__ import annotations

import math
from typing import Any

DIGITS = 12


def rounded(value: Any) -> Any:
    """A float to twelve digits, null where it is not finite; anything else as it is."""
    if not isinstance(value, float):
        return value
    # Adding 0 makes a negative zero plain.
    return round(value, DIGITS) + 0.0 if math.isfinite(value) else None
