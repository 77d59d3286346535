// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"

	"statefulset.dev/test/faults/sim/model"
)

// intent is a write as it was sent.
type intent struct {
	*call
	// object is what is to be created, or the status that is to be written.
	object model.Object
	// uid and version are those that the write is conditioned on.
	uid     types.UID
	version string
	// patch is the body of a patch.
	patch patch
	// target is the object of that UID and version, nil if there never was one.
	target model.Object
	// options are those of a delete.
	options metav1.DeleteOptions
}

type patch struct {
	Metadata struct {
		UID             types.UID          `json:"uid"`
		ResourceVersion string             `json:"resourceVersion"`
		OwnerReferences []ownerPatch       `json:"ownerReferences"`
		Labels          map[string]string  `json:"labels"`
		Annotations     map[string]*string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Containers []corev1.Container `json:"containers"`
	} `json:"spec"`
	Revision *int64 `json:"revision"`
}

type ownerPatch struct {
	metav1.OwnerReference `json:",inline"`
	Patch                 string `json:"$patch"`
}

func (j *judge) read(c *call) *intent {
	i := &intent{call: c}
	switch c.Verb {
	case "create", "update":
		i.object = decode(c)
		i.uid, i.version = i.object.GetUID(), i.object.GetResourceVersion()
	case "patch":
		if c.isJSONPatch() {
			j.readFields(i)
			break
		}
		if err := json.Unmarshal(c.Body, &i.patch); err != nil {
			panic(fmt.Sprintf("reading patch %s: %v", c.Body, err))
		}
		i.uid, i.version = i.patch.Metadata.UID, i.patch.Metadata.ResourceVersion
	case "delete":
		options, err := c.server.DeleteOptions(c.Request)
		if err != nil {
			panic(fmt.Sprintf("reading delete options: %v", err))
		}
		i.options = options
		if p := options.Preconditions; p != nil {
			i.uid, i.version = deref(p.UID), deref(p.ResourceVersion)
		}
	}
	i.target = c.server.Past(c.Resource, c.Name, i.uid, i.version)
	return i
}

func deref[T any](pointer *T) T {
	if pointer == nil {
		return *new(T)
	}
	return *pointer
}

func decode(c *call) model.Object {
	object, err := c.server.Decode(c.Request)
	if err != nil {
		panic(fmt.Sprintf("reading the body of %s: %v", c.Request, err))
	}
	return object
}

// decides reports whether the call is one that a sync waits for.
func (c *call) decides() bool {
	return c.writes() || c.isPastCaches() || c.Verb == "get" && c.Resource != model.Leases
}

// isPastCaches reports whether the call is a list that a sync makes: caches are of all namespaces.
func (c *call) isPastCaches() bool { return c.Verb == "list" && c.Namespace != "" }

// asksForHolders reports whether the call is a list, page by page, of those who were given a Secret. It
// serves that alone: the next decision goes by the caches again.
func (c *call) asksForHolders() bool { return c.isPastCaches() && c.List.Limit > 0 }
