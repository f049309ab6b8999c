"""The command `python -m tgm.experiments.dimension_erratum`."""

from tgm.experiments.dimension_erratum import STUDY
from tgm.experiments.harness.study import main

if __name__ == "__main__":
    main(STUDY)
