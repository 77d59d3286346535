// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

import type { Client } from "./connect.js";
import { errorOf } from "./errors.js";
import { mediaType, type PatchKind, type PatchOptions } from "./patch.js";
import type { components } from "./schema.js";
import { type Change, watch, type WatchOptions } from "./watch.js";

type Schemas = components["schemas"];
export type StatefulSet = Schemas["V1StatefulSet"];
export type StatefulSetList = Schemas["V1StatefulSetList"];
export type StatefulSetPlan = Schemas["V1StatefulSetPlan"];
export type Scale = Schemas["V1Scale"];
export type Replacement = Schemas["V1StatefulSetReplacement"];
export type Rollout = Schemas["V1StatefulSetRollout"];

export interface ListOptions {
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
}

export interface WriteOptions {
  dryRun?: "All";
  fieldManager?: string;
  fieldValidation?: "Ignore" | "Warn" | "Strict";
}

const collection = "/apis/apps.statefulset.dev/v1/namespaces/{namespace}/statefulsets";
const one = `${collection}/{name}` as const;

/** The sets of a namespace. Objects are plain JSON: fields and values that these types do not know are kept. */
export class StatefulSets {
  constructor(private readonly client: Client, readonly namespace: string) {}

  create(set: StatefulSet, query: WriteOptions = {}): Promise<StatefulSet> {
    return answer(this.client.http.POST(collection, { params: { path: { namespace: this.namespace }, query }, body: { ...identity, ...set } }));
  }

  get(name: string): Promise<StatefulSet> {
    return answer(this.client.http.GET(one, { params: { path: this.path(name) } }));
  }

  list(query: ListOptions = {}): Promise<StatefulSetList> {
    return answer(this.client.http.GET(collection, { params: { path: { namespace: this.namespace }, query } }));
  }

  /** All sets, of which each request gets so many. */
  async *all(limit = 500, query: ListOptions = {}): AsyncGenerator<StatefulSet, void, undefined> {
    for (let next: string | undefined = ""; next !== undefined; ) {
      const page: StatefulSetList = await this.list({ ...query, limit, ...(next ? { continue: next } : {}) });
      yield* page.items;
      next = page.metadata?.continue || undefined;
    }
  }

  /** Replaces a set by another, which has the version that it was read with. */
  update(set: StatefulSet, query: WriteOptions = {}): Promise<StatefulSet> {
    return answer(this.client.http.PUT(one, { params: { path: this.path(set.metadata?.name ?? ""), query }, body: { ...identity, ...set } }));
  }

  async delete(name: string, options: Schemas["V1DeleteOptions"] = {}): Promise<void> {
    await answer(this.client.http.DELETE(one, { params: { path: this.path(name) }, body: options }));
  }

  /** Patches in one of the four ways. */
  readonly patch = {
    merge: (name: string, body: object, options: PatchOptions = {}) => this.patchAs("merge", name, body, options),
    strategic: (name: string, body: object, options: PatchOptions = {}) => this.patchAs("strategic", name, body, options),
    json: (name: string, operations: object[], options: PatchOptions = {}) => this.patchAs("json", name, operations, options),
    apply: (name: string, set: StatefulSet, options: PatchOptions) => this.patchAs("apply", name, { ...identity, ...set, metadata: { ...set.metadata, name } }, options),
  };

  /** Patches in a way that is named, and sends nothing if there is none of that name. */
  async patchAs(kind: PatchKind, name: string, body: object, query: PatchOptions = {}): Promise<StatefulSet> {
    const headers = { "Content-Type": mediaType(kind, body, query) };
    return answer(this.client.http.PATCH(one, { params: { path: this.path(name), query }, headers, body: body as never }));
  }

  getScale(name: string): Promise<Scale> {
    return answer(this.client.http.GET(`${one}/scale`, { params: { path: this.path(name) } }));
  }

  updateScale(name: string, scale: Scale): Promise<Scale> {
    return answer(this.client.http.PUT(`${one}/scale`, { params: { path: this.path(name) }, body: scale }));
  }

  async scale(name: string, replicas: number): Promise<Scale> {
    const headers = { "Content-Type": "application/merge-patch+json" };
    return answer(this.client.http.PATCH(`${one}/scale`, { params: { path: this.path(name) }, headers, body: { spec: { replicas } } as never }));
  }

  /** What the controller does for a set, or would do if it were as proposed: a set, a Scale, a replacement or a rollout. */
  plan(name: string, proposed?: StatefulSet | Scale | Replacement | Rollout): Promise<StatefulSetPlan> {
    const params = { path: this.path(name) };
    return answer(
      proposed ? this.client.http.POST(`${one}/plan`, { params, body: proposed as never }) : this.client.http.GET(`${one}/plan`, { params }),
    );
  }

  replace(name: string, request: Replacement): Promise<Replacement> {
    return answer(this.client.http.POST(`${one}/replace`, { params: { path: this.path(name) }, body: request }));
  }

  rollout(name: string, request: Rollout): Promise<Rollout> {
    return answer(this.client.http.POST(`${one}/rollout`, { params: { path: this.path(name) }, body: request }));
  }

  /** Tells of all changes after a version, across connections. */
  watch(options: WatchOptions): AsyncGenerator<Change, void, undefined> {
    return watch(this.client, collection.replace("{namespace}", encodeURIComponent(this.namespace)), options);
  }

  /** Waits until all members of a set serve what its spec says, or until the signal ends it. */
  async waitUntilReady(name: string, signal: AbortSignal = AbortSignal.timeout(600_000)): Promise<StatefulSet> {
    const set = await this.get(name);
    if (isReady(set)) return set;
    const options = { resourceVersion: set.metadata?.resourceVersion ?? "", fieldSelector: `metadata.name=${name}`, signal };
    for await (const change of this.watch(options)) {
      if (change.type === "DELETED") throw new Error(`${name} was deleted`);
      if (isReady(change.object)) return change.object;
    }
    throw new Error(`${name} was not ready in time`);
  }

  private path(name: string) {
    return { namespace: this.namespace, name };
  }
}

const identity = { apiVersion: "apps.statefulset.dev/v1", kind: "StatefulSet" };

function isReady(set: StatefulSet): boolean {
  const { status, spec, metadata } = set;
  return status?.observedGeneration === metadata?.generation && (status?.readyReplicas ?? 0) === (spec?.replicas ?? 1);
}

async function answer<T>(request: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await request;
  if (!response.ok || data === undefined) throw errorOf(response.status, error, response.headers.get("retry-after"));
  return data;
}
