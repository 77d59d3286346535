// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// dueObject is an object as it is to be.
type dueObject struct {
	key      identity.ObjectKey
	template string
	content
	set bool
	// refuses is true if nobody else's will do.
	refuses bool
	// generates is true if texts are drawn for it.
	generates bool
}

// content is what an object has besides what marks it as the set's, which is all in labels.
type content struct{ data, by string }

func contentOf(labels map[string]string) content { return content{labels["data"], labels["by"]} }

// dueObjects are those that a member needs, its own and those of the set.
func (f evidence) dueObjects(ordinal int) (all []dueObject) {
	for _, template := range f.Set.Spec.ObjectTemplates {
		var written metav1.PartialObjectMetadata
		if err := json.Unmarshal(template.Object.Raw, &written); err != nil {
			continue
		}
		roster := ""
		if bytes.Contains(template.Object.Raw, []byte("$(MEMBERS)")) {
			roster = strings.Trim(strings.ReplaceAll(fmt.Sprint(f.ordinals), " ", "-"), "[]")
		}
		fill := strings.NewReplacer("$(IDENTITY)", f.podName(ordinal), "$(SET)", f.Set.Name, "$(REPLICAS)", strconv.Itoa(len(f.ordinals)),
			"$(MEMBERS)", roster,
			"$(SERVICE)", cmp.Or(f.Set.Spec.ServiceName, "$(SERVICE)")).Replace
		all = append(all, dueObject{key: identity.ObjectKey{Kind: written.Kind, Name: fill(written.Name)},
			content: content{fill(written.Labels["data"]), fill(written.Labels["by"])}, template: template.Name,
			set: template.Scope == v1.SetObjectScope, refuses: template.ExistingPolicy == v1.RefuseExistingObject,
			generates: len(template.Generate) > 0})
	}
	return all
}
