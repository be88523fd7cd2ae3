"""How a roll-out gets on, in words. Pure."""

from signpost_operator.facts import Workload

from .conditions import Finding


def progressing(workload: Workload | None, wanted: int, what: str) -> Finding:
    """Whether anything is under way."""
    kind = "Progressing"
    if workload is None:
        return Finding(kind, "True", "Creating", f"creating {wanted} {what}")
    if workload.stuck:
        return Finding(kind, "False", "Stuck", workload.stuck)
    if not workload.current:
        return Finding(kind, "True", "Applying", f"a change to the {what} was just made")
    if workload.updated < wanted:
        said = f"{workload.updated} of {wanted} {what} are as the spec says"
        return Finding(kind, "True", "RollingOut", said)
    if workload.replicas > wanted:
        return Finding(kind, "True", "ScalingDown", f"{workload.replicas - wanted} {what} leave")
    if workload.ready < wanted:
        said = f"{workload.ready} of {wanted} {what} are ready"
        return Finding(kind, "True", "Starting", said)
    return Finding(kind, "False", "Settled", "everything is as the spec says")
