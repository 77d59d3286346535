# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

import json

from statefulset_client import watch
from statefulset_client.patch import media_type

COLLECTION = "/apis/apps.statefulset.dev/v1/namespaces/{namespace}/statefulsets"
ONE = COLLECTION + "/{name}"
IDENTITY = {"apiVersion": "apps.statefulset.dev/v1", "kind": "StatefulSet"}


class StatefulSets:
    """The sets of a namespace. Objects to write are models, or dicts with the names of JSON; what is read are models."""

    def __init__(self, api_client, namespace):
        self.api_client = api_client
        self.namespace = namespace

    def create(self, body, **query):
        return self._call("POST", COLLECTION, body=self._identified(body), query=query)

    def get(self, name):
        return self._call("GET", ONE, name)

    def list(self, **query):
        """One page of the sets; label_selector, field_selector, limit and _continue choose which."""
        return self._call("GET", COLLECTION, query=query, kind="V1StatefulSetList")

    def all(self, limit=500, **query):
        """All sets, of which each request gets so many."""
        following = None
        while True:
            page = self.list(limit=limit, **query, **({"_continue": following} if following else {}))
            yield from page.items
            following = page.metadata._continue
            if not following:
                return

    def update(self, body, **query):
        """Replaces a set by another, which has the version that it was read with."""
        body = self._identified(body)
        return self._call("PUT", ONE, body["metadata"]["name"], body=body, query=query)

    def delete(self, name, **options):
        self._call("DELETE", ONE, name, body=options or None, kind="object")

    def patch_merge(self, name, body, **options):
        return self.patch("merge", name, body, **options)

    def patch_strategic(self, name, body, **options):
        return self.patch("strategic", name, body, **options)

    def patch_json(self, name, operations, **options):
        return self.patch("json", name, operations, **options)

    def apply(self, name, body, field_manager, force=False, **query):
        """Server-side apply: fields of other managers are a Conflict, unless force takes them over."""
        body = self._identified(body)
        body["metadata"] = {**body.get("metadata", {}), "name": name}
        return self.patch("apply", name, body, field_manager=field_manager, force=force, **query)

    def patch(self, kind, name, body, field_manager=None, force=False, **query):
        """Patches in a way that is named, and sends nothing if there is none of that name."""
        media = media_type(kind, body, field_manager, force)
        body = self.api_client.sanitize_for_serialization(body)
        if field_manager:
            query["field_manager"] = field_manager
        if force:
            query["force"] = True
        return self._call("PATCH", ONE, name, body=json.dumps(body) if kind == "apply" else body, query=query, media=media)

    def get_scale(self, name):
        return self._call("GET", ONE + "/scale", name, kind="V1Scale")

    def update_scale(self, name, scale):
        return self._call("PUT", ONE + "/scale", name, body=scale, kind="V1Scale")

    def scale(self, name, replicas):
        body = {"spec": {"replicas": replicas}}
        return self._call("PATCH", ONE + "/scale", name, body=body, kind="V1Scale", media="application/merge-patch+json")

    def plan(self, name, proposed=None):
        """What the controller does for a set, or would do if it were as proposed: a set, a Scale, a replacement or a
        rollout."""
        method = "GET" if proposed is None else "POST"
        return self._call(method, ONE + "/plan", name, body=proposed, kind="V1StatefulSetPlan")

    def replace(self, name, request):
        return self._call("POST", ONE + "/replace", name, body=request, kind="V1StatefulSetReplacement")

    def rollout(self, name, request):
        return self._call("POST", ONE + "/rollout", name, body=request, kind="V1StatefulSetRollout")

    def watch(self, resource_version, timeout=None, silence=watch.SILENCE, **query):
        """Returns all changes after a version, across connections, for `timeout` seconds if it is set. Reconnects after
        `silence` seconds without a message. Raises Gone if the version is too old; list again then."""

        def open_watch(version, seconds):
            given = {**query, "watch": True, "allow_watch_bookmarks": True, "resource_version": version, "timeout_seconds": seconds}
            return self._call("GET", COLLECTION, query=given, kind=None, silence=silence)

        return watch.watch(open_watch, lambda data: self.api_client.decode(data, "V1StatefulSet"), resource_version, timeout)

    def wait_until_ready(self, name, timeout=600):
        """Waits until all members of a set serve what its spec says."""
        current = self.get(name)
        if is_ready(current):
            return current
        for change in self.watch(current.metadata.resource_version, timeout, field_selector="metadata.name=" + name):
            if change.type == "DELETED":
                raise LookupError("%s was deleted" % name)
            if is_ready(change.object):
                return change.object
        raise TimeoutError("%s was not ready within %d s" % (name, timeout))

    def _identified(self, body):
        return {**IDENTITY, **self.api_client.sanitize_for_serialization(body)}

    def _call(self, method, path, name=None, body=None, query=None, kind="V1StatefulSet", media="application/json", silence=None):
        given = [(camel(key), "true" if value is True else value) for key, value in (query or {}).items() if value is not None]
        streamed = kind is None
        answer = self.api_client.call_api(
            path,
            method,
            {"namespace": self.namespace, **({"name": name} if name else {})},
            given,
            {"Accept": "application/json", "Content-Type": media},
            body=body,
            response_type=kind,
            auth_settings=["BearerToken"],
            _return_http_data_only=True,
            _preload_content=not streamed,
            _request_timeout=(30, silence) if streamed else None,
        )
        return answer


def camel(name):
    first, *others = name.strip("_").split("_")
    return first + "".join(word.capitalize() for word in others)


def is_ready(one):
    status, wanted = one.status, one.spec.replicas
    seen = status is not None and status.observed_generation == one.metadata.generation
    return seen and (status.ready_replicas or 0) == (1 if wanted is None else wanted)
