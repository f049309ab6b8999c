"""The command `python -m tgm.experiments.results`."""

from tgm.experiments.results.command import main

if __name__ == "__main__":
    main()
