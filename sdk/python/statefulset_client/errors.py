# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

import json

from kubernetes.client.exceptions import ApiException


class ApiError(ApiException):
    """A request that the cluster has answered with an error. `status` is the code."""

    def __init__(self, status, answer, retry_after=None):
        super().__init__(status=status, reason=answer.get("reason", ""))
        self.answer = answer
        self.message = answer.get("message") or "the cluster answered %d" % status
        details = answer.get("details") or {}
        # What is wrong, by field; for a conflict of server-side apply, the fields and their managers.
        self.causes = details.get("causes") or []
        # After how many seconds to come again, if the cluster says so.
        self.retry_after = retry_after if retry_after is not None else details.get("retryAfterSeconds")

    def __str__(self):
        return self.message


class Unauthorized(ApiError):
    """401: the cluster does not know who asks, as with a token that is wrong or has expired."""


class Forbidden(ApiError):
    """403: the account may not do that."""


class NotFound(ApiError):
    """404: there is no such object."""


class Conflict(ApiError):
    """409: another client was faster, or manages the field."""


class AlreadyExists(ApiError):
    """409: there is one of that name."""


class Gone(ApiError):
    """410: the version is too old; list again."""


class Invalid(ApiError):
    """422: the object is not valid; the causes say where."""


class TooManyRequests(ApiError):
    """429: come again after retry_after seconds."""


class RefusedLocally(ValueError):
    """A request that cannot work, and that was not sent."""


KINDS = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
}


def error_of(code, answer, retry_after=None):
    """The error for an answer or an event of a watch."""
    if not isinstance(answer, dict) or answer.get("kind") != "Status":
        answer = {"message": str(answer or "").strip()}
    kind = KINDS.get(code, ApiError)
    if kind is Conflict and answer.get("reason") == "AlreadyExists":
        kind = AlreadyExists
    return kind(code, answer, retry_after)


def error_of_exception(exception):
    """The error for what the package kubernetes raises."""
    text = exception.body
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    try:
        answer = json.loads(text or "")
    except ValueError:
        answer = text or exception.reason
    after = (exception.headers or {}).get("Retry-After", "")
    return error_of(exception.status, answer, int(after) if str(after).isdigit() else None)
