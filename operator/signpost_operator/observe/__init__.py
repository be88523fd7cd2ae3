"""What is true now: pods as Kubernetes has them, routes as the name servers tell them."""

from .ask import Asker, Reply
from .compare_routes import Difference, Routes, difference, routes_of
from .pods import PodFacts, Pods
from .sight import Sight, Watcher

__all__ = [
    "Asker",
    "Difference",
    "PodFacts",
    "Pods",
    "Reply",
    "Routes",
    "Sight",
    "Watcher",
    "difference",
    "routes_of",
]
