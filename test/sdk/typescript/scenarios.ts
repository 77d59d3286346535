// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Plays the scenarios with the TypeScript client, and prints a line for each.

import { deepStrictEqual, equal, ok, rejects } from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { KubeConfig } from "@kubernetes/client-node";
import {
  AlreadyExists, type ApiError, check, Client, Conflict, connect, Forbidden, Gone, NotFound, RefusedLocally, type StatefulSet, TooManyRequests, Unauthorized,
} from "@statefulset/client";

const client = await connect();
const sets = client.statefulSets();

function set(name: string, replicas = 0): StatefulSet {
  return {
    metadata: { name, labels: { play: name } },
    spec: {
      replicas,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "example.test/main:1" }] } },
    },
  };
}

const create = (name: string) => sets.create(set(name));

async function again<T>(attempt: () => Promise<T>): Promise<T> {
  for (let i = 0; ; i++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Conflict) || i > 10) throw error; // the controller writes, too
    }
  }
}

async function follow(name: string, silenceSeconds?: number): Promise<void> {
  const { metadata } = await sets.list();
  await create(name);
  for (const step of ["1", "2", "3"]) await sets.patch.merge(name, { metadata: { annotations: { step } } });
  await sets.delete(name);
  const told: string[] = [];
  for await (const change of sets.watch({ resourceVersion: metadata!.resourceVersion!, labelSelector: `play=${name}`, silenceSeconds })) {
    const step = change.type + (change.object.metadata?.annotations?.["step"] ?? "");
    if (step !== "MODIFIED" && step !== told.at(-1)) told.push(step); // between these, the controller writes the status
    if (change.type === "DELETED") break;
  }
  deepStrictEqual(told, ["ADDED", "MODIFIED1", "MODIFIED2", "MODIFIED3", "DELETED3"]);
}

const scenarios: Record<string, () => Promise<void>> = {
  async CRUD() {
    await create("crud");
    await again(async () => {
      const read = await sets.get("crud");
      read.metadata!.annotations = { put: "yes" };
      await sets.update(read);
    });
    await sets.patch.merge("crud", { metadata: { annotations: { merge: "yes" } } });
    await sets.patch.strategic("crud", { spec: { template: { spec: { containers: [{ name: "second", image: "example.test/second:1" }] } } } });
    await sets.patch.json("crud", [{ op: "add", path: "/metadata/annotations/json", value: "yes" }]);
    const now = await sets.patch.apply("crud", { metadata: { annotations: { apply: "yes" } } }, { fieldManager: "crud" });
    deepStrictEqual(now.metadata?.annotations, { put: "yes", merge: "yes", json: "yes", apply: "yes" });
    equal(now.spec?.template.spec?.containers.length, 2);
    await sets.delete("crud");
    await rejects(sets.get("crud"), NotFound);
  },
  async pages() {
    const names = ["page-0", "page-1", "page-2", "page-3", "page-4"];
    for (const name of names) await create(name);
    const found: string[] = [];
    for await (const one of sets.all(2, { labelSelector: `play in (${names.join(",")})` })) found.push(one.metadata!.name!);
    deepStrictEqual(found, names);
    equal((await sets.list({ limit: 2 })).items.length, 2);
  },
  watch: () => follow("watched"),
  resume: () => follow("cut"),
  async 410() {
    await rejects(sets.watch({ resourceVersion: "1" }).next(), Gone);
  },
  async scale() {
    await create("scale");
    equal((await sets.getScale("scale")).spec?.replicas ?? 0, 0);
    await sets.scale("scale", 1);
    await again(async () => {
      const scale = await sets.getScale("scale");
      scale.spec = { replicas: 2 };
      await sets.updateScale("scale", scale);
    });
    equal((await sets.waitUntilReady("scale")).status?.readyReplicas, 2);
  },
  async "/plan"() {
    await create("plan");
    const plan = await sets.plan("plan", { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "plan" }, spec: { replicas: 3 } });
    ok((plan.rounds ?? []).length >= 3, `got ${plan.rounds?.length} rounds, want 3`);
    equal((await sets.get("plan")).spec?.replicas, 0);
    await sets.plan("plan");
  },
  async "SSA conflict"() {
    await create("ssa");
    const wanted = (seconds: number) => ({ spec: { minReadySeconds: seconds } }) as StatefulSet;
    await sets.patch.apply("ssa", wanted(1), { fieldManager: "one" });
    await rejects(sets.patch.apply("ssa", wanted(2), { fieldManager: "two" }), (error: ApiError) => {
      ok(error instanceof Conflict);
      deepStrictEqual(error.causes.map((cause) => cause.field), [".spec.minReadySeconds"]);
      return true;
    });
    equal((await sets.patch.apply("ssa", wanted(2), { fieldManager: "two", force: true })).spec?.minReadySeconds, 2);
  },
  async IntOrString() {
    for (const [name, maxUnavailable] of [["number", 2], ["share", "25%"]] as const) {
      const wanted = set(name);
      wanted.spec!.updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxUnavailable } };
      equal((await sets.create(wanted)).spec?.updateStrategy?.rollingUpdate?.maxUnavailable, maxUnavailable);
    }
  },
  async Quantity() {
    const requests = { cpu: "250m", memory: "1536Mi", "ephemeral-storage": "1e3" };
    const wanted = set("quantity");
    wanted.spec!.template.spec!.containers[0]!.resources = { requests };
    deepStrictEqual((await sets.create(wanted)).spec?.template.spec?.containers[0]?.resources?.requests, requests);
  },
  async 403() {
    await rejects(client.statefulSets("default").list(), Forbidden);
  },
  async 404() {
    await rejects(sets.get("nobody"), NotFound);
  },
  async 409() {
    const stale = await create("stale");
    await rejects(create("stale"), AlreadyExists);
    await sets.patch.merge("stale", { metadata: { annotations: { a: "b" } } });
    await rejects(sets.update(stale), Conflict);
  },
  async 429() {
    await create("throttled");
    for (let turn = 1; ; turn++) {
      try {
        await sets.get("throttled");
        equal(turn, 3);
        return;
      } catch (error) {
        if (!(error instanceof TooManyRequests)) throw error;
        equal(error.retryAfterSeconds, 1);
        await new Promise((resolve) => setTimeout(resolve, 1000 * error.retryAfterSeconds!));
      }
    }
  },
  // What has to be refused before anything is sent, or with the reason.
  async "bad input"() {
    const base = { server: "https://127.0.0.1:1", caData: undefined as string | undefined };
    const none = Buffer.from("none").toString("base64");
    const way = (cluster: object, user: object = {}) => {
      const config = new KubeConfig();
      config.loadFromClusterAndUser({ name: "c", skipTLSVerify: false, ...base, ...cluster } as never, { name: "u", ...user });
      return check(config);
    };
    const refused = (attempt: Promise<unknown>, word: string) =>
      rejects(attempt, (error: Error) => error instanceof RefusedLocally && error.message.includes(word));
    await way({}, { token: "good" });
    await refused(way({ server: "ftp://example.org" }), "host");
    await refused(way({ server: "no address" }), "host");
    await refused(way({}, { token: "two words" }), "token");
    await refused(way({ caData: none }), "certificate authority");
    await refused(way({}, { certData: none, keyData: none }), "client certificate");
    await refused(connect({ kubeconfig: "/does/not/exist" }), "kubeconfig");
    const wrong = async (variable: string) => (await connect({ kubeconfig: process.env[variable]! })).statefulSets().list();
    await rejects(wrong("WRONG_TOKEN"), Unauthorized);
    await rejects(wrong("WRONG_HOST"), /ECONNREFUSED/);
    await rejects(wrong("WRONG_AUTHORITY"), /certificate/);
    await refused(sets.patchAs("toml" as never, "a", {}), "patch kind");
    await refused(sets.patchAs("json", "a", {}), "list of operations");
    await refused(sets.patchAs("merge", "a", []), "an object");
    await refused(sets.patchAs("apply", "a", {}), "field manager");
  },
  // A connection on which nothing comes any more is given up.
  silence: () => follow("silent", 2),
  // A later version's fields and values survive being read and written.
  async unknown() {
    const future = { ...set("future"), apiVersion: "apps.statefulset.dev/v1", kind: "StatefulSet", later: { a: [1] } } as StatefulSet;
    Object.assign(future.spec!, { podManagementPolicy: "Later", laterToo: 1 });
    let sent = "";
    const server = createServer((request, answer) => {
      request.on("data", (chunk) => (sent += chunk)).on("end", () => answer.setHeader("content-type", "application/json").end(JSON.stringify(future)));
    }).listen(0, "127.0.0.1");
    const config = new KubeConfig();
    await new Promise((resolve) => server.once("listening", resolve));
    config.loadFromClusterAndUser({ name: "c", server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, skipTLSVerify: true }, { name: "u" });
    const there = new Client(config).statefulSets("default");
    await there.update(await there.get("future"));
    server.close();
    deepStrictEqual(JSON.parse(sent), future);
  },
};

let failed = false;
for (const [scenario, play] of Object.entries(scenarios)) {
  try {
    await play();
    console.log(JSON.stringify({ scenario }));
  } catch (error) {
    failed = true;
    console.log(JSON.stringify({ scenario, error: (error as Error).stack ?? String(error) }));
  }
}
process.exit(failed ? 1 : 0);
