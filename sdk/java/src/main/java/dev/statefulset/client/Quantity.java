// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.statefulset.client;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Objects;

/** An amount as it is spelled, such as "1536Mi", "250m" or "1e3". Nothing is rounded or written otherwise. */
public final class Quantity {
  private final String spelled;

  private Quantity(String spelled) {
    this.spelled = Objects.requireNonNull(spelled, "a quantity");
  }

  public static Quantity of(String spelled) {
    return new Quantity(spelled);
  }

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  static Quantity from(Object value) {
    return new Quantity(value.toString());
  }

  @JsonValue
  @Override
  public String toString() {
    return spelled;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Quantity && ((Quantity) other).spelled.equals(spelled);
  }

  @Override
  public int hashCode() {
    return spelled.hashCode();
  }
}
