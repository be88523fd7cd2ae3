"""The running configuration: what it says, and what of it may change while the server runs."""

from collections.abc import Callable

from signpost_namesrv import logs
from signpost_namesrv.dispatch.state import ConfigRefusedError
from signpost_namesrv.settings import Settings, SettingsError, parse_properties

log = logs.get("config")


class RunningConfig:
    """The settings in force. A change lasts until the process ends: files are not rewritten."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._apply: Callable[[Settings], None]

    def on_change(self, apply: Callable[[Settings], None]) -> None:
        """Call `apply` with the settings now, and whenever they change."""
        self._apply = apply
        apply(self._settings)

    def text(self) -> str:
        """All stock settings as properties."""
        return self._settings.stock_properties()

    def update(self, text: str) -> None:
        """Change settings over the wire: off by default, and never beyond the allow-list.

        Name servers have been taken over through this request (CVE-2023-37582): whatever is not
        listed is refused, whole and with nothing changed.
        """
        access = self._settings.access
        if not access.config_update_enabled:
            raise ConfigRefusedError("configUpdateEnabled is off: settings are not changed here")
        changes = self._parse(text)
        allowed = set(access.config_update_keys) - set(access.config_black_list)
        if refused := sorted(set(changes) - allowed):
            raise ConfigRefusedError(
                f"{', '.join(refused)}: not in configUpdateKeys, nothing was changed"
            )
        try:
            self._settings = self._settings.with_updates(changes, "UPDATE_NAMESRV_CONFIG")
        except SettingsError as e:
            raise _refused(e) from e
        self._apply(self._settings)
        log.info("settings changed", **changes)

    def _parse(self, text: str) -> dict[str, str]:
        try:
            return parse_properties(text, "UPDATE_NAMESRV_CONFIG")
        except SettingsError as e:
            raise _refused(e) from e


def _refused(error: SettingsError) -> ConfigRefusedError:
    return ConfigRefusedError("; ".join(str(problem) for problem in error.problems))
