"""Report and data -> every figure and citation verified, contradicted or unverifiable."""
