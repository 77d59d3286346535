// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubectl runs the everyday commands of kubectl on the StatefulSet of apps/v1 and on ours, and compares exit
// codes and output. rows.yaml says what is run, differences.yaml which differences are known and why, and the table in
// docs/kubectl.md must say the same as both.
//
// The rows need a cluster (make test-kubectl). Each is played several times: on apps/v1 with plain kubectl, and on ours
// with plain kubectl and with the plugin, for every version of kubectl on the machine, or with -test.short for that of the
// cluster alone. The nodes of the cluster run no kubelet, so logs, exec, attach and port-forward end
// in an error: compared are its text, and in the audit log which pod was asked for what.
package kubectl
