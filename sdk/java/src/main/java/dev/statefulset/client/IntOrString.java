// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.statefulset.client;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/** A number or a text, such as 2 or "25%". It is written as what it was read. */
public final class IntOrString {
  private final Object value;

  private IntOrString(Object value) {
    this.value = value;
  }

  public static IntOrString of(int number) {
    return new IntOrString(number);
  }

  public static IntOrString of(String text) {
    return new IntOrString(text);
  }

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  static IntOrString from(Object value) {
    if (value instanceof Integer || value instanceof String) {
      return new IntOrString(value);
    }
    throw new IllegalArgumentException("got " + value + ", want an int32 or a string");
  }

  public boolean isInt() {
    return value instanceof Integer;
  }

  /** The number; only if isInt. */
  public int asInt() {
    return (Integer) value;
  }

  @JsonValue
  Object value() {
    return value;
  }

  @Override
  public String toString() {
    return value.toString();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof IntOrString && ((IntOrString) other).value.equals(value);
  }

  @Override
  public int hashCode() {
    return value.hashCode();
  }
}
