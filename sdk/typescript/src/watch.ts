// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

import type { Client } from "./connect.js";
import { ApiError, errorOf, TooManyRequests } from "./errors.js";
import type { StatefulSet } from "./sets.js";

/** What happened to a set. */
export interface Change {
  type: "ADDED" | "MODIFIED" | "DELETED";
  /** The set after that, and before it if it is deleted. */
  object: StatefulSet;
}

export interface WatchOptions {
  /** The version of a list or of a set. The watch returns all changes after it. */
  resourceVersion: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Reconnects after this time without a message, 300 by default. The server sends its version every minute. */
  silenceSeconds?: number;
  /** Ends the watch. */
  signal?: AbortSignal;
}

/**
 * Returns all changes after a version. After a lost connection it continues after the last change that it returned.
 * It fails with Gone if the version is too old; list again then.
 */
export async function* watch(client: Client, path: string, options: WatchOptions): AsyncGenerator<Change, void, undefined> {
  let version = options.resourceVersion;
  let connected = false;
  for (let failures = 0; !options.signal?.aborted; ) {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), 1000 * (options.silenceSeconds ?? 300));
    const signal = options.signal ? AbortSignal.any([options.signal, silence.signal]) : silence.signal;
    try {
      const response = await client.fetch(address(client.server + path, version, options), { signal });
      connected = true;
      if (!response.ok) throw errorOf(response.status, await response.json().catch(() => undefined), response.headers.get("retry-after"));
      for await (const event of events(response, timer)) {
        if (event.type === "ERROR") throw errorOf(event.object.code ?? 500, event.object);
        version = event.object.metadata?.resourceVersion ?? version;
        failures = 0;
        if (event.type !== "BOOKMARK") yield event;
      }
      throw new Error("the connection has ended");
    } catch (error) {
      if (options.signal?.aborted) return;
      const passes = error instanceof TooManyRequests || (error instanceof ApiError && error.code >= 500);
      if (!connected || (error instanceof ApiError && !passes)) throw error;
      failures += 1;
      await pause(error instanceof ApiError ? error.retryAfterSeconds : undefined, failures, options.signal);
    } finally {
      clearTimeout(timer);
    }
  }
}

function address(base: string, version: string, options: WatchOptions): URL {
  const url = new URL(base);
  url.searchParams.set("watch", "true");
  url.searchParams.set("allowWatchBookmarks", "true");
  url.searchParams.set("resourceVersion", version);
  if (options.labelSelector) url.searchParams.set("labelSelector", options.labelSelector);
  if (options.fieldSelector) url.searchParams.set("fieldSelector", options.fieldSelector);
  return url;
}

async function* events(response: Response, timer: NodeJS.Timeout): AsyncGenerator<any> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body ?? []) {
    timer.refresh();
    rest += decoder.decode(chunk as Uint8Array, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield JSON.parse(line);
  }
}

/** Waits as long as the cluster says, and without its word longer from one failure to the next, up to half a minute. */
async function pause(seconds: number | undefined, failures: number, signal?: AbortSignal): Promise<void> {
  const milliseconds = (seconds ?? Math.min(30, 0.2 * 2 ** failures) * (0.5 + Math.random() / 2)) * 1000;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
