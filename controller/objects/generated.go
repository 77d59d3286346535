// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// mostSought is how many Secrets that are gone are looked for at a time.
const mostSought = 64

// Gives is what an object gives to pods: outputs, or, of a Secret for which texts are drawn, which of
// the keys it has. What these hold is not kept.
func Gives(template identity.Object, live *unstructured.Unstructured) map[string]render.Output {
	if !template.Generates() {
		return template.Gives(live.Object)
	}
	data, _, _ := unstructured.NestedMap(live.Object, "data")
	keys := map[string]render.Output{}
	for _, key := range template.Template().Generate {
		output := render.Output{}
		if text, _ := data[key.Key].(string); text == "" {
			output.Missing = plan.LacksKey
		}
		keys[key.Key] = output
	}
	return keys
}

// unreadKeys adds to what an object gives that could not be read the keys that are generated.
func unreadKeys(of *v1.ObjectTemplate, why string, all map[string]render.Output) {
	for _, key := range of.Generate {
		all[key.Key] = render.Output{Missing: "it cannot be read: " + why}
	}
}

// SeekLost has Secrets be looked for in the host, now and then, that are gone and not drawn again: one
// that somebody creates by hand need not have the label that we watch by.
func (m *Memory) SeekLost(lost []identity.ObjectKey, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lost = len(lost) > 0
	if !m.lost || now.Sub(m.soughtAt) < recheckInterval {
		return
	}
	m.soughtAt = now
	if m.taken == nil {
		m.taken = map[takenName]takenObject{}
	}
	for _, key := range lost[:min(len(lost), mostSought)] {
		m.taken[takenName{key.GroupKind(), key.Name}] = takenObject{}
	}
}

// Discreet is a context in which clients log nothing about Secrets: at high verbosity they would log
// what is sent and answered.
func Discreet(ctx context.Context, kind schema.GroupVersionKind) context.Context {
	if kind.GroupKind() != (schema.GroupKind{Kind: "Secret"}) {
		return ctx
	}
	return klog.NewContext(ctx, logr.Discard())
}
