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

// mostSought is how many lost Secrets are searched for at a time.
const mostSought = 64

// OutputsFrom returns what an object provides to pods: outputs, or for a Secret with generated
// values, which of the keys it has. The values themselves are not kept.
func OutputsFrom(template identity.Object, live *unstructured.Unstructured) map[string]render.Output {
	if !template.Generates() {
		return template.EvaluateOutputs(live.Object)
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

// unreadKeys adds the generated keys of an object that could not be read.
func unreadKeys(of *v1.ObjectTemplate, why string, all map[string]render.Output) {
	for _, key := range of.Generate {
		all[key.Key] = render.Output{Missing: "cannot read the object: " + why}
	}
}

// SearchLost searches the cluster from time to time for Secrets that were lost and are not
// generated again. One that a user creates by hand may lack the label by which the controller
// watches Secrets.
func (m *Memory) SearchLost(lost []identity.ObjectKey, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lost = len(lost) > 0
	if !m.lost || now.Sub(m.soughtAt) < recheckInterval {
		return
	}
	m.soughtAt = now
	if m.nameConflicts == nil {
		m.nameConflicts = map[conflictKey]nameConflict{}
	}
	for _, key := range lost[:min(len(lost), mostSought)] {
		m.nameConflicts[conflictKey{key.GroupKind(), key.Name}] = nameConflict{}
	}
}

// WithoutSecretLogs returns a context in which clients log nothing about Secrets. At high verbosity
// they would log requests and responses.
func WithoutSecretLogs(ctx context.Context, kind schema.GroupVersionKind) context.Context {
	if kind.GroupKind() != (schema.GroupKind{Kind: "Secret"}) {
		return ctx
	}
	return klog.NewContext(ctx, logr.Discard())
}
