"""A report as one HTML file: the full account; it asks nothing of any network."""
