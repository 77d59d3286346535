// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"k8s.io/client-go/tools/cache"

	"statefulset.dev/controller/plan"
)

// readRecords remembers for each set what its last plan has read of its revisions. A set
// that is as it should be needs nothing of the kind.
type readRecords struct {
	mu   sync.Mutex
	sets map[cache.ObjectName]plan.Records
}

func newReadRecords() *readRecords {
	return &readRecords{sets: map[cache.ObjectName]plan.Records{}}
}

func (r *readRecords) of(key cache.ObjectName) plan.Records {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sets[key]
}

func (r *readRecords) keep(key cache.ObjectName, records plan.Records) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if records.None() {
		delete(r.sets, key)
		return
	}
	r.sets[key] = records
}

func (r *readRecords) forget(key cache.ObjectName) { r.keep(key, plan.Records{}) }
