"""Fixtures of the attacks, which are those of the application's tests."""

from app_fixtures import loaded, open_parts, serve, settings_of_its_own  # noqa: F401 - fixtures
