"""Writes made-up NeMo Gym results: realistic ones to analyse, big ones to measure with."""
