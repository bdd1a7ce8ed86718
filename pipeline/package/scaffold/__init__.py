"""Rollouts -> the drafts a package begins with."""
