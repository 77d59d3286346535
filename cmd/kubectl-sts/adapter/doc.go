// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package adapter makes the commands of kubectl work on StatefulSets of our group as they work on
// those of apps/v1.
//
// Most commands treat every kind alike and need to know only which kind the user means: with
// Getter, "statefulset" and "sts" mean our kind. The other commands know the kinds of apps/v1 by
// their Go types. They handle our kind in one of two ways:
//
//   - They decode our own type, which Install adds to kubectl's scheme. Where kubectl then needs
//     the pods, the template or the restart of an object, Install provides it through the variables
//     that kubectl has for this. The object keeps our type, so it loses no field, and it is printed
//     under its own name.
//   - Where kubectl creates a client of apps/v1 (describe, rollout history and undo), that client
//     uses a transport that sends its requests to our group and returns the answers as apps/v1. The
//     transport changes the JSON value apiVersion where it is the version of an object, and no
//     other byte.
package adapter
