"""`kubectl signpost`: what name servers and brokers are up to, from the command line.

It calls kubectl for everything, so that whatever logs you in there does so here; name servers
are asked through the API server, so that no port need be forwarded.
"""

import argparse
import sys
from collections.abc import Sequence

from . import commands
from .kubectl import Kubectl, KubectlError

_EPILOG = """\
exit status: 0 when all is well; 1 when what was looked for is not so (name servers disagree,
nobody knows the topic, a broker was not drained); 2 when it could not be found out."""


def main(words: Sequence[str] | None = None) -> int:
    """Run a command; the exit status."""
    given = _parser().parse_args(words)
    kubectl = Kubectl(given.namespace, given.context, given.kubeconfig)
    try:
        return int(given.run(kubectl, given, sys.stdout.write))
    except KubectlError as error:
        sys.stderr.write(f"kubectl signpost: {error}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("-n", "--namespace", help="where to look; else kubectl's own choice")
    common.add_argument("--context", help="the context of the kubeconfig")
    common.add_argument("--kubeconfig", help="the kubeconfig file")
    parser = argparse.ArgumentParser(
        prog="kubectl signpost",
        description=__doc__.partition("\n")[0],
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subs = parser.add_subparsers(required=True, metavar="COMMAND")

    status = subs.add_parser("status", parents=[common], help="clusters, brokers, their troubles")
    status.add_argument("name", nargs="?", help="one NameServerCluster; else all")
    status.add_argument("-A", "--all-namespaces", action="store_true", help="in all namespaces")
    status.set_defaults(run=commands.status)

    routes = subs.add_parser("routes", parents=[common], help="what each name server tells clients")
    routes.add_argument("topic")
    routes.add_argument("-c", "--cluster", help="the NameServerCluster, when there are several")
    routes.set_defaults(run=commands.routes)

    diff = subs.add_parser("diff", parents=[common], help="which name servers disagree, and where")
    diff.add_argument("-c", "--cluster", help="the NameServerCluster, when there are several")
    diff.set_defaults(run=commands.diff)

    drain = subs.add_parser("drain", parents=[common], help="take a broker out, without an error")
    drain.add_argument("broker", help="a group, such as orders-0, or one of its pods")
    drain.add_argument("--force", action="store_true", help="even if nowhere is left to write to")
    drain.set_defaults(run=commands.drain)
    return parser
