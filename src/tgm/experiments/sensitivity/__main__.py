"""The command `python -m tgm.experiments.sensitivity`."""

from tgm.experiments.sensitivity.command import main

if __name__ == "__main__":
    main()
