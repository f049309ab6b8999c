"""The command `python -m tgm.experiments.long_run`."""

from tgm.experiments.harness.study import main
from tgm.experiments.long_run import STUDY

if __name__ == "__main__":
    main(STUDY)
