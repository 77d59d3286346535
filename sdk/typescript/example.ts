// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Takes a set through its life with the TypeScript client, in the namespace that the kubeconfig names.

import { Conflict, connect, type StatefulSet } from "@statefulset/client";

const name = "example-typescript";
const sets = (await connect()).statefulSets();

const web: StatefulSet = {
  metadata: { name },
  spec: {
    replicas: 1,
    serviceName: name,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "web", image: "nginx:1" }] } },
  },
};
const created = await sets.create(web);
console.log("created", created.metadata?.name);
await sets.waitUntilReady(name);
console.log("ready");

await sets.scale(name, 2);
for await (const { type, object } of sets.watch({ resourceVersion: created.metadata!.resourceVersion!, fieldSelector: `metadata.name=${name}` })) {
  console.log(type, object.status?.readyReplicas ?? 0, "of", object.spec?.replicas, "ready");
  if (object.status?.readyReplicas === 2) break;
}
console.log("scaled");

const plan = await sets.plan(name, { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name }, spec: { replicas: 4 } });
console.log("plan for 4 replicas:", plan.rounds?.length, "rounds");

const options = { fieldManager: "example" };
await sets.patch.merge(name, { metadata: { annotations: { by: "merge" } } }, options);
await sets.patch.strategic(name, { spec: { template: { spec: { containers: [{ name: "web", image: "nginx:2" }] } } } }, options);
await sets.patch.json(name, [{ op: "replace", path: "/metadata/annotations/by", value: "json" }], options);
console.log("patched: merge, strategic, json");
const wanted = { metadata: { annotations: { by: "apply" } } };
try {
  await sets.patch.apply(name, wanted, { fieldManager: "another" });
} catch (error) {
  if (!(error instanceof Conflict)) throw error;
  console.log("conflict:", error.message);
}
await sets.patch.apply(name, wanted, { fieldManager: "another", force: true });
console.log("patched: apply");

await sets.delete(name);
console.log("deleted", name);
