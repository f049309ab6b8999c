"""`python -m tgm` is `tgm`."""

import sys

from tgm.cli.main import main

sys.exit(main())
