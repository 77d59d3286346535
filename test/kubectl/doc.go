// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubectl runs the everyday commands of kubectl on the StatefulSet of apps/v1 and on ours,
// and compares exit codes and output. rows.yaml lists the commands, differences.yaml the expected
// differences and their reasons, and the table in docs/kubectl.md must agree with both.
//
// The rows need a cluster (make test-kubectl). Each is played several times: on apps/v1 with plain
// kubectl, and on ours with plain kubectl and with the plugin, for every version of kubectl on the
// machine, or with -test.short only for that of the cluster. The nodes of the cluster run no
// kubelet, so logs, exec, attach and port-forward end in an error. The suite compares the text of
// the error, and the pod and the request in the audit log.
package kubectl
