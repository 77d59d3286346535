// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

import { RefusedLocally } from "./errors.js";

/** The ways in which a set can be patched, and their media types. */
export const patchKinds = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

export type PatchKind = keyof typeof patchKinds;

export interface PatchOptions {
  /** Who manages the fields; apply needs one. */
  fieldManager?: string;
  /** Take fields over from other managers. For apply only. */
  force?: boolean;
  dryRun?: "All";
}

/** Refuses a patch that cannot work, and returns its media type. */
export function mediaType(kind: string, body: unknown, options: PatchOptions): string {
  if (!Object.hasOwn(patchKinds, kind)) {
    throw new RefusedLocally(`patch kind ${JSON.stringify(kind)}: want one of ${Object.keys(patchKinds).join(", ")}`);
  }
  if ((kind === "json") !== Array.isArray(body) || typeof body !== "object" || body === null) {
    throw new RefusedLocally(`patch kind ${kind}: want ${kind === "json" ? "a list of operations" : "an object"}`);
  }
  if (kind === "apply" && !options.fieldManager) throw new RefusedLocally("patch kind apply: want a field manager");
  if (kind !== "apply" && options.force) throw new RefusedLocally(`patch kind ${kind}: only apply can be forced`);
  return patchKinds[kind as PatchKind];
}
