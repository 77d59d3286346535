# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

"""Client of the Kubernetes API apps.statefulset.dev/v1, on top of the package kubernetes."""

from statefulset_client.api.stateful_sets_api import StatefulSetsApi
from statefulset_client.api_client import ApiClient
from statefulset_client.connect import Client, check, connect
from statefulset_client.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    RefusedLocally,
    TooManyRequests,
    Unauthorized,
)
from statefulset_client.models import *  # noqa: F401,F403
from statefulset_client.patch import PATCH_KINDS
from statefulset_client.sets import StatefulSets
from statefulset_client.watch import Change

__version__ = "0.0.0"

__all__ = [
    "AlreadyExists",
    "ApiClient",
    "ApiError",
    "Change",
    "Client",
    "Conflict",
    "Forbidden",
    "Gone",
    "Invalid",
    "NotFound",
    "PATCH_KINDS",
    "RefusedLocally",
    "StatefulSets",
    "StatefulSetsApi",
    "TooManyRequests",
    "Unauthorized",
    "check",
    "connect",
]
