"""Settings of all tests."""

from hypothesis import settings

# A loaded machine may take longer than Hypothesis' 200 ms for any example.
settings.register_profile("tgm", deadline=None)
settings.load_profile("tgm")
