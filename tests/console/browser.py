"""Debian's Chromium: found, or installed where that is possible, or said aloud to be missing."""

import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

INSTALL_SECONDS = 600
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find() -> str | None:
    """The path of Chromium; None: there is none, and it cannot be installed here."""
    return shutil.which("chromium") or (_install() if _may_install() else None)


def _may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def _install() -> str | None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    packages = ("chromium", "fonts-dejavu-core")
    for command in (("update",), ("install", "--yes", "--no-install-recommends", *packages)):
        done = subprocess.run(
            ["apt-get", "-qq", *command],
            env=environment,
            stdout=subprocess.DEVNULL,
            timeout=INSTALL_SECONDS,
            check=False,
        )
        if done.returncode:
            return None
    return shutil.which("chromium")


@asynccontextmanager
async def launch(path: str) -> AsyncIterator[Browser]:
    """A browser with an empty profile of its own."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            await browser.close()
