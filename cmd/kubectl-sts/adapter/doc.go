// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package adapter makes the commands of kubectl work on StatefulSets of our group as they work on those of apps/v1.
//
// Most commands treat every kind alike and need only to know which kind is meant: Getter lets "statefulset" and "sts"
// mean ours. The others know the kinds of apps/v1 by their Go types. They meet ours in one of two ways:
//
//   - What they decode is our own type, which Install adds to kubectl's scheme. Where kubectl then asks what to do with
//     an object (its pods, its template, its restart), Install answers through the variables that kubectl has for this.
//     The object stays ours, so nothing of it is lost and it is printed under its own name.
//   - Where kubectl makes a client of apps/v1 (describe, rollout history and undo), that client talks through a
//     transport that sends its requests to our group and gives the answers back as apps/v1. It changes the JSON
//     value apiVersion in the places where one belongs, and leaves every other byte as it is.
package adapter
