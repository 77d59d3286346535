// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"maps"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

const (
	reservedKey   = v1.GroupName + "/in-place"
	isReservedKey = ": Forbidden: keys of apps.statefulset.dev are set by the controller; remove it, or use a key of another domain"
)

// places are where a set has labels and annotations for pods and claims, by their field.
func places() map[string]func(*v1.StatefulSet) *map[string]string {
	return map[string]func(*v1.StatefulSet) *map[string]string{
		"spec.template.metadata.labels":      func(s *v1.StatefulSet) *map[string]string { return &s.Spec.Template.Labels },
		"spec.template.metadata.annotations": func(s *v1.StatefulSet) *map[string]string { return &s.Spec.Template.Annotations },
		"spec.volumeClaimTemplates[0].metadata.labels": func(s *v1.StatefulSet) *map[string]string {
			return &s.Spec.VolumeClaimTemplates[0].Labels
		},
		"spec.volumeClaimTemplates[0].metadata.annotations": func(s *v1.StatefulSet) *map[string]string {
			return &s.Spec.VolumeClaimTemplates[0].Annotations
		},
		"spec.overrides[0].labels":      func(s *v1.StatefulSet) *map[string]string { return &s.Spec.Overrides[0].Labels },
		"spec.overrides[0].annotations": func(s *v1.StatefulSet) *map[string]string { return &s.Spec.Overrides[0].Annotations },
	}
}

// withValue is a set whose claims follow their templates, and that has a value at a place.
func withValue(at func(*v1.StatefulSet) *map[string]string, key, value string) *v1.StatefulSet {
	set := settest.Valid()
	set.Spec.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: v1.InPlaceVolumeClaimUpdatePolicyType}
	set.Spec.Overrides = []v1.MemberOverride{{Name: "large", Ordinals: []v1.OrdinalRange{{First: 1}}}}
	values := map[string]string{key: value}
	maps.Copy(values, *at(set))
	*at(set) = values
	return set
}

func onUpdateOf(t *testing.T, old, set *v1.StatefulSet) []string {
	t.Helper()
	old.ResourceVersion, set.ResourceVersion = "1", "1"
	return settest.Causes(t, rest.BeforeUpdate(newStrategy(newScheme(t), nil, nil), request(t), set, old))
}

func TestKeysOfTheGroupAreRefused(t *testing.T) {
	for field, at := range places() {
		refused := verdict{want: []string{field + "[" + reservedKey + "]" + isReservedKey}}
		t.Run("in a new set in "+field, func(t *testing.T) {
			refused.check(t, onCreate(t, withValue(at, reservedKey, "x")))
		})
		t.Run("in a change of "+field, func(t *testing.T) {
			refused.check(t, onUpdateOf(t, withValue(at, "other", "x"), withValue(at, reservedKey, "x")))
		})
		t.Run("with another value than is stored in "+field, func(t *testing.T) {
			refused.check(t, onUpdateOf(t, withValue(at, reservedKey, "x"), withValue(at, reservedKey, "y")))
		})
		t.Run("but not keys of a domain below the group in "+field, func(t *testing.T) {
			verdict{}.check(t, onCreate(t, withValue(at, "shop."+v1.GroupName+"/tier", "x")))
		})
	}
}

func TestStoredKeysOfTheGroupStayValid(t *testing.T) {
	for field, at := range places() {
		for situation, change := range map[string]func(*v1.StatefulSet){
			"when nothing changes":             func(*v1.StatefulSet) {},
			"when the set is scaled":           func(s *v1.StatefulSet) { s.Spec.Replicas = new(int32(9)) },
			"when the set gets a finalizer":    func(s *v1.StatefulSet) { s.Finalizers = []string{"example.com/keep"} },
			"when the image changes":           func(s *v1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Image = "nginx:2" },
			"when another annotation is added": func(s *v1.StatefulSet) { s.Spec.Template.Annotations = with(s.Spec.Template.Annotations) },
			"when a claim template grows": func(s *v1.StatefulSet) {
				s.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
			},
			"when a claim template gets a label": func(s *v1.StatefulSet) {
				s.Spec.VolumeClaimTemplates[0].Labels = with(s.Spec.VolumeClaimTemplates[0].Labels)
			},
			"when an override is added": func(s *v1.StatefulSet) {
				s.Spec.Overrides = append([]v1.MemberOverride{{Name: "more", Ordinals: []v1.OrdinalRange{{First: 2}}}}, s.Spec.Overrides...)
			},
			"when the key is removed": func(s *v1.StatefulSet) {
				values := maps.Clone(*at(s))
				delete(values, reservedKey)
				*at(s) = values
			},
		} {
			t.Run("in "+field+" "+situation, func(t *testing.T) {
				set := withValue(at, reservedKey, "x")
				change(set)
				verdict{}.check(t, onUpdateOf(t, withValue(at, reservedKey, "x"), set))
			})
		}
	}
}

// with is a copy of a map with one more value.
func with(values map[string]string) map[string]string {
	more := map[string]string{"more": "x"}
	maps.Copy(more, values)
	return more
}

// A set that is rebuilt from its pods and its revision has the template that was stored.
func TestARebuiltSetKeepsKeysThatWereStored(t *testing.T) {
	for field, at := range places() {
		set := withValue(at, reservedKey, "x")
		if errs := ValidateRebuilt(set); len(errs) > 0 {
			t.Errorf("a rebuilt set with a key of the group in %s: got %v, want no error", field, errs)
		}
	}
	set := settest.Changed(func(s *v1.StatefulSet) { s.Spec.Template.Spec.Containers = nil })
	if errs := ValidateRebuilt(set); len(errs) == 0 {
		t.Error("a rebuilt set without containers: got no error, want one")
	}
}

func TestManyKeysOfTheGroupGiveAFewErrors(t *testing.T) {
	set := settest.Valid()
	set.Spec.Template.Annotations = map[string]string{}
	for i := range 2000 {
		set.Spec.Template.Annotations[v1.GroupName+"/"+strconv.Itoa(i)] = "x"
	}
	if got := onCreate(t, set); len(got) != mostReservedKeys {
		t.Errorf("got %d errors, want %d", len(got), mostReservedKeys)
	}
}

const claimMeta = "spec.volumeClaimTemplates[0].metadata."

// invalidClaimMetadata are changes of a claim template of which the host could make no claim.
func invalidClaimMetadata() map[string]verdict {
	return map[string]verdict{
		"with a label that has no valid key": {
			change: settest.Claim(func(c *corev1.PersistentVolumeClaim) { c.Labels = map[string]string{"not a label": "x"} }),
			want:   []string{claimMeta + `labels: Invalid value: "not a label": `},
		},
		"with a label that has no valid value": {
			change: settest.Claim(func(c *corev1.PersistentVolumeClaim) { c.Labels = map[string]string{"tier": "neither/ this"} }),
			want:   []string{claimMeta + `labels: Invalid value: "neither/ this": `},
		},
		"with a parameter in a label of a set that renders nothing": {
			change: settest.Claim(func(c *corev1.PersistentVolumeClaim) { c.Labels = map[string]string{"member": "$(ORDINAL)"} }),
			want:   []string{claimMeta + `labels: Invalid value: "$(ORDINAL)": `},
		},
		"with an annotation that has no valid key": {
			change: settest.Claim(func(c *corev1.PersistentVolumeClaim) { c.Annotations = map[string]string{"not a key": "x"} }),
			want:   []string{claimMeta + `annotations: Invalid value: "not a key": `},
		},
		"with more annotations than an object may have": {
			change: settest.Claim(func(c *corev1.PersistentVolumeClaim) {
				c.Annotations = map[string]string{"note": strings.Repeat("x", 256<<10)}
			}),
			want: []string{claimMeta + "annotations: Too long: may not be more than 262144 bytes"},
		},
	}
}

func TestMetadataOfAClaimTemplate(t *testing.T) {
	tests := invalidClaimMetadata()
	tests["with annotations as long as they may be"] = verdict{change: settest.Claim(func(c *corev1.PersistentVolumeClaim) {
		c.Annotations = map[string]string{"note": strings.Repeat("x", 256<<10-len("note"))}
	})}
	tests["with a label in whose place its claims get that of the selector"] = verdict{
		change: settest.Claim(func(c *corev1.PersistentVolumeClaim) {
			c.Labels = map[string]string{"app": "neither/ this"}
		})}
	tests["with a parameter in a label of a set with an identity"] = verdict{change: func(set *v1.StatefulSet) {
		set.Spec.Identity = &v1.MemberIdentity{}
		set.Spec.VolumeClaimTemplates[0].Labels = map[string]string{"member": "$(ORDINAL)"}
	}}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) { test.check(t, onCreate(t, settest.Changed(test.change))) })
	}
}

func TestStoredMetadataOfAClaimTemplateStaysValid(t *testing.T) {
	for sentence, test := range invalidClaimMetadata() {
		t.Run(sentence, func(t *testing.T) {
			stored := func() *v1.StatefulSet {
				set := settest.Changed(test.change)
				set.Spec.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: v1.InPlaceVolumeClaimUpdatePolicyType}
				return set
			}
			grown := stored()
			grown.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
			verdict{}.check(t, onUpdateOf(t, stored(), grown))
			scaled := stored()
			scaled.Spec.Replicas = new(int32(1))
			verdict{}.check(t, onUpdateOf(t, stored(), scaled))
		})
	}
}
