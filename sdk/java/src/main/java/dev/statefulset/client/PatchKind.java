// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.statefulset.client;

import java.util.Arrays;
import java.util.Collection;

/** The ways in which a set can be patched. */
public enum PatchKind {
  MERGE("application/merge-patch+json"),
  STRATEGIC("application/strategic-merge-patch+json"),
  JSON("application/json-patch+json"),
  APPLY("application/apply-patch+yaml");

  final String mediaType;

  PatchKind(String mediaType) {
    this.mediaType = mediaType;
  }

  /** The kind of a name such as "merge". */
  public static PatchKind of(String name) {
    return Arrays.stream(values())
        .filter(kind -> kind.name().equalsIgnoreCase(name))
        .findFirst()
        .orElseThrow(() -> new RefusedLocally("patch kind " + name + ": want one of " + Arrays.toString(values()).toLowerCase()));
  }

  /** Refuses a patch that cannot work. */
  void check(Object body, String fieldManager, boolean force) {
    String kind = "patch kind " + name().toLowerCase();
    if (body == null || body instanceof String || (this == JSON) != (body instanceof Collection)) {
      throw new RefusedLocally(kind + ": want " + (this == JSON ? "a list of operations" : "an object"));
    }
    if (this == APPLY && (fieldManager == null || fieldManager.isEmpty())) {
      throw new RefusedLocally(kind + ": want a field manager");
    }
    if (this != APPLY && force) {
      throw new RefusedLocally(kind + ": only apply can be forced");
    }
  }
}
