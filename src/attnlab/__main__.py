"""``python -m attnlab``, which is also what torchrun starts."""

from attnlab.cli import main

if __name__ == "__main__":
    main()
