// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
)

// coveredSets remembers, for each set, which generation is known not to get lost
// unnoticed (Config.Covered).
type coveredSets struct {
	mu   sync.Mutex
	sets map[cache.ObjectName]incarnation
}

// incarnation is a set as the user last wanted it.
type incarnation struct {
	uid        types.UID
	generation int64
}

func newCoveredSets() *coveredSets {
	return &coveredSets{sets: map[cache.ObjectName]incarnation{}}
}

func (c *coveredSets) has(key cache.ObjectName, wanted incarnation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sets[key] == wanted
}

func (c *coveredSets) add(key cache.ObjectName, wanted incarnation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sets[key] = wanted
}

func (c *coveredSets) forget(key cache.ObjectName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sets, key)
}

// cover returns when what the user wants of the set cannot get lost unnoticed. It
// asks once for each generation in each term.
func (t *term) cover(ctx context.Context, key cache.ObjectName, set *v1.StatefulSet) error {
	wanted := incarnation{set.UID, set.Generation}
	if t.Covered == nil || t.covered.has(key, wanted) {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := t.Covered(limited, set.ResourceVersion); err != nil {
		if ctx.Err() != nil {
			return errTermOver
		}
		return fmt.Errorf("before anything is written to the host: %w", err)
	}
	t.covered.add(key, wanted)
	return nil
}
