// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/client/clientset/versioned"
)

// bulkSize is the content of one set of a Bulk, in bytes: not much less than annotations may have.
const bulkSize = 200 << 10

// Bulk creates large sets, so that a disk without free space is noticed after few writes. They have
// a namespace of their own and are no part of a history.
type Bulk struct {
	Sets      versioned.Interface
	Namespace string
	count     int
}

// Write creates one set.
func (b *Bulk) Write(ctx context.Context) error {
	b.count++
	set := newSet(b.Namespace, fmt.Sprintf("bulk-%d", b.count), "none", "none")
	set.Annotations["example.test/bulk"] = strings.Repeat("x", bulkSize)
	if _, err := b.Sets.AppsV1().StatefulSets(b.Namespace).Create(ctx, set, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating a large set: %w", err)
	}
	return nil
}
