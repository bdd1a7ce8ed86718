"""What must not be shared -> placeholders, and a log without the secrets."""
