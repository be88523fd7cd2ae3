"""Profiles of Hypothesis: `ci` repeats itself exactly; `HYPOTHESIS_PROFILE=deep` searches."""

import os

from hypothesis import HealthCheck, settings

_quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]

settings.register_profile(
    "ci", derandomize=True, max_examples=60, deadline=None, suppress_health_check=_quiet
)
settings.register_profile("deep", max_examples=2_000, deadline=None, suppress_health_check=_quiet)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
