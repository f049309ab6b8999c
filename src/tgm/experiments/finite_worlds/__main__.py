"""The command `python -m tgm.experiments.finite_worlds`."""

from tgm.experiments.finite_worlds.command import main

if __name__ == "__main__":
    main()
