"""The command `python -m tgm.experiments.solving`."""

from tgm.experiments.harness.study import main
from tgm.experiments.solving import STUDY

if __name__ == "__main__":
    main(STUDY)
