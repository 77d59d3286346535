// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

export { Client, type ConnectOptions, connect, check } from "./connect.js";
export { AlreadyExists, ApiError, Conflict, Forbidden, Gone, Invalid, NotFound, RefusedLocally, type Status, TooManyRequests, Unauthorized } from "./errors.js";
export { patchKinds, type PatchKind, type PatchOptions } from "./patch.js";
export type { components, operations, paths } from "./schema.js";
export { type ListOptions, type Replacement, type Rollout, type Scale, type StatefulSet, type StatefulSetList, type StatefulSetPlan, StatefulSets, type WriteOptions } from "./sets.js";
export type { Change, WatchOptions } from "./watch.js";
