// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.statefulset.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.statefulset.client.model.V1Status;
import dev.statefulset.client.model.V1StatusCause;
import java.util.List;
import java.util.OptionalInt;

/** A request that the cluster has answered with an error. */
public class ApiError extends RuntimeException {
  private static final long serialVersionUID = 1;
  private final int code;
  private final transient V1Status status;
  private final int retryAfter;

  private ApiError(int code, V1Status status, int retryAfter) {
    super(status.getMessage() == null ? "the cluster answered " + code : status.getMessage());
    this.code = code;
    this.status = status;
    this.retryAfter = retryAfter;
  }

  public int code() {
    return code;
  }

  /** The reason in the words of Kubernetes, such as "Invalid". */
  public String reason() {
    return status.getReason() == null ? "" : status.getReason();
  }

  /** What is wrong, by field; for a conflict of server-side apply, the fields and their managers. */
  public List<V1StatusCause> causes() {
    return status.getDetails() == null || status.getDetails().getCauses() == null ? List.of() : status.getDetails().getCauses();
  }

  /** After how many seconds to come again, if the cluster says so. */
  public OptionalInt retryAfterSeconds() {
    return retryAfter < 0 ? OptionalInt.empty() : OptionalInt.of(retryAfter);
  }

  boolean passes() {
    return code == 429 || code >= 500;
  }

  /** 401: the cluster does not know who asks, as with a token that is wrong or has expired. */
  public static final class Unauthorized extends ApiError {
    private static final long serialVersionUID = 1;

    Unauthorized(V1Status status) {
      super(401, status, -1);
    }
  }

  /** 403: the account may not do that. */
  public static final class Forbidden extends ApiError {
    private static final long serialVersionUID = 1;

    Forbidden(V1Status status) {
      super(403, status, -1);
    }
  }

  /** 404: there is no such object. */
  public static final class NotFound extends ApiError {
    private static final long serialVersionUID = 1;

    NotFound(V1Status status) {
      super(404, status, -1);
    }
  }

  /** 409: another client was faster, or manages the field. */
  public static final class Conflict extends ApiError {
    private static final long serialVersionUID = 1;

    Conflict(V1Status status) {
      super(409, status, -1);
    }
  }

  /** 409: there is one of that name. */
  public static final class AlreadyExists extends ApiError {
    private static final long serialVersionUID = 1;

    AlreadyExists(V1Status status) {
      super(409, status, -1);
    }
  }

  /** 410: the version is too old; list again. */
  public static final class Gone extends ApiError {
    private static final long serialVersionUID = 1;

    Gone(V1Status status) {
      super(410, status, -1);
    }
  }

  /** 422: the object is not valid; the causes say where. */
  public static final class Invalid extends ApiError {
    private static final long serialVersionUID = 1;

    Invalid(V1Status status) {
      super(422, status, -1);
    }
  }

  /** 429: come again after retryAfterSeconds. */
  public static final class TooManyRequests extends ApiError {
    private static final long serialVersionUID = 1;

    TooManyRequests(V1Status status, int retryAfter) {
      super(429, status, retryAfter);
    }
  }

  /** The error for an answer or an event of a watch. */
  static ApiError of(int code, String body, String retryAfter) {
    V1Status status;
    try {
      status = Json.MAPPER.readValue(body, V1Status.class);
    } catch (JsonProcessingException | IllegalArgumentException e) {
      status = new V1Status().message(body == null || body.isBlank() ? null : body.strip());
    }
    int after = -1;
    if (retryAfter != null && retryAfter.matches("\\d{1,9}")) {
      after = Integer.parseInt(retryAfter);
    } else if (status.getDetails() != null && status.getDetails().getRetryAfterSeconds() != null) {
      after = status.getDetails().getRetryAfterSeconds();
    }
    switch (code) {
      case 401:
        return new Unauthorized(status);
      case 403:
        return new Forbidden(status);
      case 404:
        return new NotFound(status);
      case 409:
        return "AlreadyExists".equals(status.getReason()) ? new AlreadyExists(status) : new Conflict(status);
      case 410:
        return new Gone(status);
      case 422:
        return new Invalid(status);
      case 429:
        return new TooManyRequests(status, after);
      default:
        return new ApiError(code, status, after);
    }
  }
}
