"""Settings of all tests."""

import os

from hypothesis import settings

# A loaded machine may take longer than Hypothesis' 200 ms for any example.
# The trials of mutants ask for the same examples each time: a test must not fail by chance.
settings.register_profile("tgm", deadline=None, derandomize="TGM_SAME_EXAMPLES" in os.environ)
settings.load_profile("tgm")
