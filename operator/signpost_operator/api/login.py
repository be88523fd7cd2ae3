"""Who the operator is to the API server: a pod's service account, or else a kubeconfig."""

from __future__ import annotations

import kopf

from .errors import ApiError


def login() -> kopf.ConnectionInfo:
    """The credentials as they are now; tokens of service accounts are replaced every hour."""
    settings = kopf.OperatorSettings()
    try:
        found = kopf.login_with_service_account(settings=settings) or kopf.login_with_kubeconfig(
            settings=settings
        )
    except (OSError, KeyError, kopf.LoginError) as error:
        raise ApiError(f"the credentials for the Kubernetes API cannot be read: {error}") from error
    if found is None:
        raise ApiError("there is neither a service account nor a kubeconfig (KUBECONFIG) here")
    return found
