"""The command `python -m tgm.experiments.larger_worlds`."""

from tgm.experiments.harness.study import main
from tgm.experiments.larger_worlds import STUDY

if __name__ == "__main__":
    main(STUDY)
