"""The command `python -m tgm.experiments.noise`."""

from tgm.experiments.harness.study import main
from tgm.experiments.noise import STUDY

if __name__ == "__main__":
    main(STUDY)
