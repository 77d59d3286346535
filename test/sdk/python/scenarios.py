# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

"""Plays the scenarios with the Python client, and prints a line for each."""

import http.server
import json
import os
import sys
import threading
import time
import traceback

import statefulset_client as sdk
import urllib3
from kubernetes.client import Configuration
from statefulset_client.connect import new_api_client

CLIENT = sdk.connect()
SETS = CLIENT.stateful_sets()


def stateful_set(name, replicas=0):
    labels = {"app": name}
    return {
        "metadata": {"name": name, "labels": {"play": name}},
        "spec": {
            "replicas": replicas,
            "serviceName": name,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "example.test/main:1"}]}},
        },
    }


def create(name):
    return SETS.create(stateful_set(name))


def equal(got, want):
    if got != want:
        raise AssertionError("got %r, want %r" % (got, want))


def raises(kind, word, attempt):
    try:
        attempt()
    except kind as error:
        if word not in str(error):
            raise AssertionError("got %r, want the word %s" % (error, word)) from error
        return error
    raise AssertionError("got no %s" % kind.__name__)


def again(attempt):
    for _ in range(10):
        try:
            return attempt()
        except sdk.Conflict:  # the controller writes, too
            pass
    return attempt()


def crud():
    create("crud")

    def put():
        read = SETS.get("crud")
        read.metadata.annotations = {"put": "yes"}
        SETS.update(read)

    again(put)
    SETS.patch_merge("crud", {"metadata": {"annotations": {"merge": "yes"}}})
    SETS.patch_strategic("crud", {"spec": {"template": {"spec": {"containers": [{"name": "second", "image": "example.test/second:1"}]}}}})
    SETS.patch_json("crud", [{"op": "add", "path": "/metadata/annotations/json", "value": "yes"}])
    now = SETS.apply("crud", {"metadata": {"annotations": {"apply": "yes"}}}, field_manager="crud")
    equal(now.metadata.annotations, {"put": "yes", "merge": "yes", "json": "yes", "apply": "yes"})
    equal(len(now.spec.template.spec.containers), 2)
    generated = sdk.StatefulSetsApi(CLIENT.api_client)
    equal(generated.read_namespaced_stateful_set("crud", SETS.namespace).metadata.uid, now.metadata.uid)
    SETS.delete("crud")
    raises(sdk.NotFound, "crud", lambda: SETS.get("crud"))


def pages():
    names = ["page-%d" % i for i in range(5)]
    for name in names:
        create(name)
    equal([one.metadata.name for one in SETS.all(2, label_selector="play in (%s)" % ",".join(names))], names)
    equal(len(SETS.list(limit=2).items), 2)


def follow(name, **options):
    version = SETS.list().metadata.resource_version
    create(name)
    for step in "123":
        SETS.patch_merge(name, {"metadata": {"annotations": {"step": step}}})
    SETS.delete(name)
    told = []
    for change in SETS.watch(version, label_selector="play=" + name, **options):
        step = change.type + (change.object.metadata.annotations or {}).get("step", "")
        if step != "MODIFIED" and step not in told[-1:]:  # between these, the controller writes the status
            told.append(step)
        if change.type == "DELETED":
            break
    equal(told, ["ADDED", "MODIFIED1", "MODIFIED2", "MODIFIED3", "DELETED3"])


def expired():
    raises(sdk.Gone, "too old", lambda: next(SETS.watch("1")))


def scale():
    create("scale")
    equal(SETS.get_scale("scale").spec.replicas or 0, 0)
    SETS.scale("scale", 1)

    def put():
        now = SETS.get_scale("scale")
        now.spec.replicas = 2
        SETS.update_scale("scale", now)

    again(put)
    equal(SETS.wait_until_ready("scale", 100).status.ready_replicas, 2)


def plan():
    create("plan")
    proposed = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "plan"}, "spec": {"replicas": 3}}
    equal(len(SETS.plan("plan", proposed).rounds) >= 3, True)
    equal(SETS.get("plan").spec.replicas, 0)
    SETS.plan("plan")


def conflict():
    create("ssa")

    def wanted(seconds):
        return {"spec": {"minReadySeconds": seconds}}

    SETS.apply("ssa", wanted(1), "one")
    error = raises(sdk.Conflict, "one", lambda: SETS.apply("ssa", wanted(2), "two"))
    equal([cause["field"] for cause in error.causes], [".spec.minReadySeconds"])
    equal(SETS.apply("ssa", wanted(2), "two", force=True).spec.min_ready_seconds, 2)


def int_or_string():
    for name, value in {"number": 2, "share": "25%"}.items():
        wanted = stateful_set(name)
        wanted["spec"]["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": value}}
        equal(SETS.create(wanted).spec.update_strategy.rolling_update.max_unavailable, value)


def quantity():
    requests = {"cpu": "250m", "memory": "1536Mi", "ephemeral-storage": "1e3"}
    wanted = stateful_set("quantity")
    wanted["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": requests}
    equal(SETS.create(wanted).spec.template.spec.containers[0].resources.requests, requests)


def forbidden():
    raises(sdk.Forbidden, "forbidden", lambda: CLIENT.stateful_sets("default").list())


def not_found():
    raises(sdk.NotFound, "nobody", lambda: SETS.get("nobody"))


def stale():
    old = create("stale")
    raises(sdk.AlreadyExists, "stale", lambda: create("stale"))
    SETS.patch_merge("stale", {"metadata": {"annotations": {"a": "b"}}})
    raises(sdk.Conflict, "stale", lambda: SETS.update(old))


def throttled():
    create("throttled")
    for _ in range(2):
        error = raises(sdk.TooManyRequests, "too many", lambda: SETS.get("throttled"))
        equal(error.retry_after, 1)
        time.sleep(error.retry_after)
    equal(SETS.get("throttled").metadata.name, "throttled")


def bad_input():
    """What has to be refused before anything is sent, or with the reason."""

    def way(**given):
        configuration = Configuration()
        configuration.host = "https://127.0.0.1:1"
        for key, value in given.items():
            setattr(configuration, key, value)
        return lambda: sdk.check(configuration)

    way(api_key={"authorization": "Bearer good"})()
    for word, attempt in [
        ("host", way(host="ftp://example.org")),
        ("host", way(host="no address")),
        ("token", way(api_key={"authorization": "Bearer two words"})),
        ("certificate authority", way(ssl_ca_cert=__file__)),
        ("client certificate", way(cert_file=__file__, key_file=__file__)),
        ("kubeconfig", lambda: sdk.connect("/does/not/exist")),
        ("patch kind", lambda: SETS.patch("toml", "a", {})),
        ("list of operations", lambda: SETS.patch("json", "a", {})),
        ("an object", lambda: SETS.patch("merge", "a", [])),
        ("field manager", lambda: SETS.patch("apply", "a", {})),
    ]:
        raises(sdk.RefusedLocally, word, attempt)

    def wrong(variable):
        return lambda: sdk.connect(os.environ[variable]).stateful_sets().list()

    raises(sdk.Unauthorized, "", wrong("WRONG_TOKEN"))
    raises(urllib3.exceptions.HTTPError, "refused", wrong("WRONG_HOST"))
    raises(urllib3.exceptions.HTTPError, "certificate", wrong("WRONG_AUTHORITY"))


def unknown():
    """A later version's fields and values survive being read and written."""
    future = {"apiVersion": "apps.statefulset.dev/v1", "kind": "StatefulSet", **stateful_set("future"), "later": {"a": [1]}}
    future["metadata"]["creationTimestamp"] = "2026-01-02T03:04:05Z"
    future["spec"].update({"podManagementPolicy": "Later", "laterToo": 1})
    future["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "emptyDir": {}, "later": "x"}]
    sent = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self):
            sent.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(future).encode())

        do_GET = do_PUT = answer

        def log_message(self, *_):
            """Nothing."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    configuration = Configuration()
    configuration.host = "http://127.0.0.1:%d" % server.server_port
    there = sdk.Client(new_api_client(configuration)).stateful_sets()
    there.update(there.get("future"))
    server.shutdown()
    equal(json.loads(sent[-1]), future)


SCENARIOS = {
    "CRUD": crud, "pages": pages, "watch": lambda: follow("watched"), "resume": lambda: follow("cut"), "410": expired,
    "scale": scale, "/plan": plan, "SSA conflict": conflict, "IntOrString": int_or_string, "Quantity": quantity,
    "403": forbidden, "404": not_found, "409": stale, "429": throttled, "bad input": bad_input, "unknown": unknown,
    "silence": lambda: follow("silent", silence=2),
}  # fmt: skip


def main():
    failed = False
    for name, play in SCENARIOS.items():
        line = {"scenario": name}
        try:
            play()
        except Exception:  # pylint: disable=broad-except
            line["error"], failed = traceback.format_exc(), True
        print(json.dumps(line), flush=True)
    sys.exit(failed)


main()
