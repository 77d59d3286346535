// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.statefulset.client;

/** A request that cannot work, and that was not sent. */
public class RefusedLocally extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  RefusedLocally(String message) {
    super(message);
  }

  RefusedLocally(String what, Throwable cause) {
    super(what + ": " + cause.getMessage(), cause);
  }
}
