"""Package -> checks of D1, D2 and D3, each with what it means and how to mend it."""
