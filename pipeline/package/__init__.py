"""A benchmark's package, D1 to D3: scaffold, validate, facts, shallow, score, verify, sanitize."""
