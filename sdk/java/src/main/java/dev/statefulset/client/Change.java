// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dev.statefulset.client;

import dev.statefulset.client.model.V1StatefulSet;

/**
 * What happened to a set.
 *
 * @param type ADDED, MODIFIED or DELETED
 * @param set the set after that, and before it if it is deleted
 */
public record Change(String type, V1StatefulSet set) {}
