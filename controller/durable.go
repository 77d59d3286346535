// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
)

// incarnation is a set as the user last wanted it.
type incarnation struct {
	uid        types.UID
	generation int64
}

// waitDurable returns when what the user wants of the set cannot get lost unnoticed. It
// asks once for each generation in each term.
func (t *term) waitDurable(ctx context.Context, set *v1.StatefulSet) error {
	if t.WaitDurable == nil {
		return nil
	}
	known, wanted := t.memory.of(cache.MetaObjectToName(set)), incarnation{set.UID, set.Generation}
	if known.isDurable(wanted) {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := t.WaitDurable(limited, set.ResourceVersion); err != nil {
		if ctx.Err() != nil {
			return errTermOver
		}
		return fmt.Errorf("before anything is written to the host: %w", err)
	}
	known.keepDurable(wanted)
	return nil
}

func (m *memo) isDurable(wanted incarnation) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.durable == wanted
}

func (m *memo) keepDurable(wanted incarnation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.durable = wanted
}
