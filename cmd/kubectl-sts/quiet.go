// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// unreachable is the message that the discovery client logs, several times, when it gets no answer.
// The command then fails with an error that says the same.
const unreachable = "Couldn't get current server API group list"

// quietDiscovery prevents repeated reports of a cluster that cannot be reached. With -v=1 all of
// them are logged.
func quietDiscovery() {
	report := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
		func(ctx context.Context, err error, message string, keysAndValues ...any) {
			if message == unreachable {
				klog.FromContext(ctx).V(1).Info(message, append(keysAndValues, "err", err)...)
				return
			}
			for _, handle := range report {
				handle(ctx, err, message, keysAndValues...)
			}
		},
	}
}
