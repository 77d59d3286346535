// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/servertest"
	"statefulset.dev/client/clientset/versioned"
)

// BenchmarkGet compares a server that proves what it answers with one that does not.
func BenchmarkGet(b *testing.B) {
	for name, guarded := range map[string]bool{"proven": true, "not proven": false} {
		b.Run(name, func(b *testing.B) {
			var configure []func(*apiserver.Config)
			choose := func(*apiserver.Options) {}
			if guarded {
				var guard func(*apiserver.Config)
				choose, guard = newGuardedHost(b).guarded(b, nil)
				configure = append(configure, guard)
			}
			s := servertest.StartWith(b, choose, configure...)
			s.Create(b, servertest.Web("web"))
			config := rest.CopyConfig(s.Loopback)
			config.QPS = -1
			sets, err := versioned.NewForConfig(config)
			if err != nil {
				b.Fatalf("creating a client: %v", err)
			}
			b.ResetTimer()
			b.RunParallel(func(loop *testing.PB) {
				for loop.Next() {
					if _, err := sets.AppsV1().StatefulSets(servertest.Namespace).Get(b.Context(), "web", metav1.GetOptions{}); err != nil {
						b.Errorf("get: %v", err)
					}
				}
			})
		})
	}
}
