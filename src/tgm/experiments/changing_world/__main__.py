"""The command `python -m tgm.experiments.changing_world`."""

from tgm.experiments.changing_world import STUDY
from tgm.experiments.harness.study import main

if __name__ == "__main__":
    main(STUDY)
