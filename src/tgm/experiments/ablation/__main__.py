"""The command `python -m tgm.experiments.ablation`."""

from tgm.experiments.ablation import STUDY
from tgm.experiments.harness.study import main

if __name__ == "__main__":
    main(STUDY)
