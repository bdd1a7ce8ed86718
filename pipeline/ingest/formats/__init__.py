"""How to read each kind of artifact: declarations and pure functions, one module a format."""
