// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

import { X509Certificate } from "node:crypto";
import http from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import { createSecureContext } from "node:tls";

import { KubeConfig } from "@kubernetes/client-node";
import createClient from "openapi-fetch";

import { RefusedLocally } from "./errors.js";
import type { paths } from "./schema.js";
import { StatefulSets } from "./sets.js";

/** How to find a cluster. */
export interface ConnectOptions {
  /** The path of a kubeconfig. Without it, what kubectl would take, and in a pod the pod's own cluster. */
  kubeconfig?: string;
  /** The context of the kubeconfig, if not its current one. */
  context?: string;
}

/** A connection to a cluster. */
export class Client {
  readonly http: ReturnType<typeof createClient<paths>>;
  readonly fetch: typeof globalThis.fetch;
  readonly server: string;

  constructor(kubeconfig: KubeConfig) {
    this.server = (kubeconfig.getCurrentCluster()?.server ?? "").replace(/\/+$/, "");
    this.fetch = through(kubeconfig);
    this.http = createClient<paths>({ baseUrl: this.server, fetch: this.fetch });
    this.namespace = kubeconfig.getContextObject(kubeconfig.getCurrentContext())?.namespace ?? "default";
  }

  /** The namespace of the kubeconfig's context. */
  readonly namespace: string;

  /** The sets of a namespace. */
  statefulSets(namespace = this.namespace): StatefulSets {
    return new StatefulSets(this, namespace);
  }
}

/** Reads the way to a cluster, and refuses one that cannot work. Nothing is sent yet. */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const kubeconfig = new KubeConfig();
  try {
    if (options.kubeconfig) kubeconfig.loadFromFile(options.kubeconfig);
    else kubeconfig.loadFromDefault();
  } catch (error) {
    throw new RefusedLocally(`kubeconfig: ${(error as Error).message}`);
  }
  if (options.context) {
    if (!kubeconfig.getContextObject(options.context)) throw new RefusedLocally(`context: the kubeconfig has no ${options.context}`);
    kubeconfig.setCurrentContext(options.context);
  }
  await check(kubeconfig);
  return new Client(kubeconfig);
}

/** Says what of the way to a cluster cannot work, whatever is at its end. */
export async function check(kubeconfig: KubeConfig): Promise<void> {
  const server = kubeconfig.getCurrentCluster()?.server;
  if (!server) throw new RefusedLocally("host: the context names no cluster");
  let address: URL;
  try {
    address = new URL(server);
  } catch {
    throw new RefusedLocally(`host: ${server} is no address`);
  }
  if (address.protocol !== "https:" && address.protocol !== "http:") throw new RefusedLocally(`host: ${server}: want https:// or http://`);
  const options: https.RequestOptions = {};
  try {
    await kubeconfig.applyToHTTPSOptions(options);
  } catch (error) {
    throw new RefusedLocally(`credentials: ${(error as Error).message}`);
  }
  try {
    if (options.ca) new X509Certificate(options.ca as Buffer);
  } catch (error) {
    throw new RefusedLocally(`certificate authority: ${(error as Error).message}`);
  }
  try {
    createSecureContext({ cert: options.cert, key: options.key });
  } catch (error) {
    throw new RefusedLocally(`client certificate and key: ${(error as Error).message}`);
  }
  const token = kubeconfig.getCurrentUser()?.token ?? "";
  const wrong = [...token].findIndex((character) => character <= " " || character > "~");
  if (wrong >= 0) throw new RefusedLocally(`token: character ${wrong + 1} of ${token.length} cannot stand in a header`);
}

/** A fetch that goes to the cluster as the kubeconfig says, with its authority, certificate, token or exec plugin. */
function through(kubeconfig: KubeConfig): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
    const options: https.RequestOptions = { method: request.method, headers: Object.fromEntries(request.headers), signal: request.signal };
    await kubeconfig.applyToHTTPSOptions(options);
    return new Promise<Response>((resolve, reject) => {
      const sent = (request.url.startsWith("http:") ? http : https).request(request.url, options, (answer) => {
        const headers = new Headers();
        for (const [name, value] of Object.entries(answer.headers)) headers.set(name, String(value));
        resolve(new Response(Readable.toWeb(answer) as ReadableStream, { status: answer.statusCode ?? 500, headers }));
      });
      sent.on("error", reject);
      sent.end(body);
    });
  };
}
