from tgm.experiments.harness.study import main
from tgm.experiments.hidden_worlds import STUDY

if __name__ == "__main__":
    main(STUDY)
