"""Profiles of Hypothesis, and which tests run side by side.

`ci` repeats itself exactly; `HYPOTHESIS_PROFILE=deep` searches.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

_quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]

settings.register_profile(
    "ci", derandomize=True, max_examples=60, deadline=None, suppress_health_check=_quiet
)
settings.register_profile("deep", max_examples=2_000, deadline=None, suppress_health_check=_quiet)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

_TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep each folder's tests in one process: they share brokers, servers, an API server."""
    for item in items:
        folder = item.path.relative_to(_TESTS).parts[0]
        item.add_marker(pytest.mark.xdist_group(folder))
