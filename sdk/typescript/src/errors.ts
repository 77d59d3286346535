// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

import type { components } from "./schema.js";

/** What the API says of a request that it refuses. */
export type Status = components["schemas"]["V1Status"];

/** A request that the cluster has answered with an error. */
export class ApiError extends Error {
  constructor(readonly code: number, readonly status: Status, readonly retryAfterSeconds?: number) {
    super(status.message || `the cluster answered ${code}`);
    this.name = new.target.name;
  }

  /** The reason in the words of Kubernetes, such as "Invalid". */
  get reason(): string {
    return this.status.reason ?? "";
  }

  /** What is wrong, by field; for a conflict of server-side apply, the fields and their managers. */
  get causes(): components["schemas"]["V1StatusCause"][] {
    return this.status.details?.causes ?? [];
  }
}

/** 401: the cluster does not know who asks, as with a token that is wrong or has expired. */
export class Unauthorized extends ApiError {}
/** 403: the account may not do that. */
export class Forbidden extends ApiError {}
/** 404: there is no such object. */
export class NotFound extends ApiError {}
/** 409: another client was faster, or manages the field. */
export class Conflict extends ApiError {}
/** 409: there is one of that name. */
export class AlreadyExists extends ApiError {}
/** 410: the version is too old; list again. */
export class Gone extends ApiError {}
/** 422: the object is not valid; the causes say where. */
export class Invalid extends ApiError {}
/** 429: come again after retryAfterSeconds. */
export class TooManyRequests extends ApiError {}

/** A request that cannot work, and that was not sent. */
export class RefusedLocally extends Error {
  constructor(message: string) {
    super(message);
    this.name = "RefusedLocally";
  }
}

/** The error for an answer or an event of a watch. */
export function errorOf(code: number, body: unknown, retryAfter?: string | null): ApiError {
  const status: Status =
    typeof body === "object" && body !== null && (body as Status).kind === "Status"
      ? (body as Status)
      : { kind: "Status", message: typeof body === "string" && body !== "" ? body.trim() : `the cluster answered ${code}` };
  const seconds = Number(retryAfter ?? status.details?.retryAfterSeconds ?? NaN);
  const kind =
    code === 409 && status.reason === "AlreadyExists"
      ? AlreadyExists
      : ({ 401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict, 410: Gone, 422: Invalid, 429: TooManyRequests }[code] ?? ApiError);
  return new kind(code, status, Number.isFinite(seconds) ? seconds : undefined);
}
