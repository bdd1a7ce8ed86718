"""`python -m blade`: the command."""

from blade import pipeline

if __name__ == "__main__":
    pipeline.main()
