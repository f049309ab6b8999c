"""The command `python -m tgm.experiments.units`."""

from tgm.experiments.harness.study import main
from tgm.experiments.units import STUDY

if __name__ == "__main__":
    main(STUDY)
