# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

import collections
import json
import random
import time

import urllib3

from statefulset_client.errors import ApiError, TooManyRequests, error_of

# What happened to a set: ADDED, MODIFIED or DELETED, and the set after that, or before it if it is deleted.
Change = collections.namedtuple("Change", "type object")

# The server sends its version every minute. After this many seconds without a message, the connection is dead.
SILENCE = 300


def watch(open_watch, decode, resource_version, timeout=None):
    """Tells of all changes after a version, for so many seconds. open_watch opens a connection from a version on."""
    end = None if timeout is None else time.monotonic() + timeout
    connected, failures = False, 0
    while end is None or time.monotonic() < end:
        try:
            response = open_watch(resource_version, None if end is None else max(1, round(end - time.monotonic())))
            connected = True
            try:
                for event in events(response):
                    if event["type"] == "ERROR":
                        raise error_of(event["object"].get("code", 500), event["object"])
                    resource_version = event["object"]["metadata"]["resourceVersion"]
                    failures = 0
                    if event["type"] != "BOOKMARK":
                        yield Change(event["type"], decode(event["object"]))
                raise EOFError("the connection has ended")
            finally:
                response.close()
        except (urllib3.exceptions.HTTPError, EOFError, OSError, ApiError) as error:
            refused = isinstance(error, ApiError) and not isinstance(error, TooManyRequests) and error.status < 500
            if refused or not connected:
                raise
            failures += 1
            rest = pause(error, failures)
            time.sleep(rest if end is None else max(0, min(rest, end - time.monotonic())))


def pause(error, failures):
    """As long as the cluster says, and without its word longer from one failure to the next, up to half a minute."""
    said = getattr(error, "retry_after", None)
    return said if said is not None else min(30, 0.2 * 2**failures) * (0.5 + random.random() / 2)


def events(response):
    rest = b""
    for chunk in response.stream(amt=None, decode_content=False):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line:
                yield json.loads(line)
