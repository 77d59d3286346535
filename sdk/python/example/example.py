# Copyright The statefulset-apiserver Authors.
# SPDX-License-Identifier: Apache-2.0

"""Takes a set through its life with the Python client, in the namespace that the kubeconfig names."""

import statefulset_client as sdk

NAME = "example-python"
sets = sdk.connect().stateful_sets()

web = sdk.V1StatefulSet(
    metadata=sdk.V1ObjectMeta(name=NAME),
    spec=sdk.V1StatefulSetSpec(
        replicas=1,
        service_name=NAME,
        selector=sdk.V1LabelSelector(match_labels={"app": NAME}),
        template=sdk.V1PodTemplateSpec(
            metadata=sdk.V1ObjectMeta(labels={"app": NAME}),
            spec=sdk.V1PodSpec(containers=[sdk.V1Container(name="web", image="nginx:1")]),
        ),
    ),
)
created = sets.create(web)
print("created", created.metadata.name)
sets.wait_until_ready(NAME)
print("ready")

sets.scale(NAME, 2)
for change in sets.watch(created.metadata.resource_version, field_selector="metadata.name=" + NAME):
    print(change.type, change.object.status.ready_replicas or 0, "of", change.object.spec.replicas, "ready")
    if change.object.status.ready_replicas == 2:
        break
print("scaled")

scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": NAME}, "spec": {"replicas": 4}}
print("plan for 4 replicas:", len(sets.plan(NAME, scale).rounds), "rounds")

sets.patch_merge(NAME, {"metadata": {"annotations": {"by": "merge"}}}, field_manager="example")
sets.patch_strategic(NAME, {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:2"}]}}}}, field_manager="example")
sets.patch_json(NAME, [{"op": "replace", "path": "/metadata/annotations/by", "value": "json"}], field_manager="example")
print("patched: merge, strategic, json")
wanted = {"metadata": {"annotations": {"by": "apply"}}}
try:
    sets.apply(NAME, wanted, field_manager="another")
except sdk.Conflict as conflict:
    print("conflict:", conflict)
sets.apply(NAME, wanted, field_manager="another", force=True)
print("patched: apply")

sets.delete(NAME)
print("deleted", NAME)
