"""`python -m blade`: the command."""

from pipeline.cli import main

if __name__ == "__main__":
    main()
