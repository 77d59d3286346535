// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// hashVersion is the prefix of every hash. A release that encodes the parts of an override that
// apply to pods in another way needs another version, and must know the earlier ones: a member
// whose override has another hash is recreated.
const hashVersion = "1-"

// podOverride has the parts of an override that apply to pods. It does not have the name, the
// ordinals and the claims: no member is recreated for them.
type podOverride struct {
	Labels       map[string]string      `json:"labels,omitempty"`
	Annotations  map[string]string      `json:"annotations,omitempty"`
	NodeSelector map[string]string      `json:"nodeSelector,omitempty"`
	Tolerations  []corev1.Toleration    `json:"tolerations,omitempty"`
	Containers   []podContainerOverride `json:"containers,omitempty"`
	Values       map[string]string      `json:"values,omitempty"`
}

type podContainerOverride struct {
	Name     string              `json:"name"`
	Image    string              `json:"image,omitempty"`
	Limits   corev1.ResourceList `json:"limits,omitempty"`
	Requests corev1.ResourceList `json:"requests,omitempty"`
	Env      []corev1.EnvVar     `json:"env,omitempty"`
}

// hashOf is a digest of the parts of an override that apply to pods. It is empty if there are none.
// It does not depend on the order of containers.
func hashOf(override *v1.MemberOverride) string {
	all := podOverride{Labels: override.Labels, Annotations: override.Annotations, NodeSelector: override.NodeSelector,
		Tolerations: override.Tolerations, Values: override.Values}
	for i := range override.Containers {
		c := &override.Containers[i]
		one := podContainerOverride{Name: c.Name, Image: c.Image, Env: c.Env}
		if c.Resources != nil {
			one.Limits, one.Requests = c.Resources.Limits, c.Resources.Requests
		}
		if one.Image != "" || len(one.Limits)+len(one.Requests)+len(one.Env) > 0 {
			all.Containers = append(all.Containers, one)
		}
	}
	slices.SortStableFunc(all.Containers, func(a, b podContainerOverride) int { return cmp.Compare(a.Name, b.Name) })
	text, err := json.Marshal(all)
	if err != nil {
		// Values that were decoded can be encoded.
		panic(fmt.Sprintf("encoding an override: %v", err))
	}
	if string(text) == "{}" {
		return ""
	}
	sum := sha256.Sum256(text)
	return hashVersion + hex.EncodeToString(sum[:8])
}

// withoutRecords returns the template without annotations that the controller would take for its
// own records on a pod. A user may have copied them from a pod. With them, the member would be
// recreated again and again, or would wait for an answer that never comes.
func withoutRecords(template *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	annotations := withoutReserved(template.Annotations)
	if len(annotations) == len(template.Annotations) {
		return template
	}
	plain := *template
	plain.Annotations = annotations
	return &plain
}

// overridden returns a template with an override, and with the hash of the override in an
// annotation.
func overridden(template *corev1.PodTemplateSpec, override *v1.MemberOverride, hash string) *corev1.PodTemplateSpec {
	changed := *template
	changed.Labels = merged(template.Labels, override.Labels)
	changed.Annotations = merged(withoutReserved(template.Annotations), withoutReserved(override.Annotations),
		map[string]string{v1.OverrideAnnotation: hash})
	changed.Spec.NodeSelector = merged(template.Spec.NodeSelector, override.NodeSelector)
	changed.Spec.Tolerations = slices.Concat(template.Spec.Tolerations, override.Tolerations)
	changed.Spec.Containers = overriddenContainers(template.Spec.Containers, override.Containers)
	changed.Spec.InitContainers = overriddenContainers(template.Spec.InitContainers, override.Containers)
	return &changed
}

func overriddenContainers(containers []corev1.Container, overrides []v1.ContainerOverride) []corev1.Container {
	byName := make(map[string]*v1.ContainerOverride, len(overrides))
	for i := range overrides {
		byName[overrides[i].Name] = &overrides[i]
	}
	changed := containers
	for i := range containers {
		override := byName[containers[i].Name]
		if override == nil {
			continue
		}
		if &changed[0] == &containers[0] {
			changed = slices.Clone(containers)
		}
		overrideContainer(&changed[i], override)
	}
	return changed
}

func overrideContainer(container *corev1.Container, override *v1.ContainerOverride) {
	container.Image = cmp.Or(override.Image, container.Image)
	if override.Resources != nil {
		container.Resources.Limits = merged(container.Resources.Limits, override.Resources.Limits)
		container.Resources.Requests = merged(container.Resources.Requests, override.Resources.Requests)
	}
	if len(override.Env) > 0 {
		container.Env = mergedEnv(container.Env, override.Env)
	}
}

// mergedEnv replaces variables of the same name at their position, because later variables may
// refer to them. It appends the other variables.
func mergedEnv(env, override []corev1.EnvVar) []corev1.EnvVar {
	all := slices.Clone(env)
	at := make(map[string]int, len(env))
	for i := range env {
		at[env[i].Name] = i // the last variable of a name wins
	}
	for _, variable := range override {
		if i, ok := at[variable.Name]; ok {
			all[i] = variable
		} else {
			all = append(all, variable)
		}
	}
	return all
}

// merged merges maps, in which later values win. It returns nil if all maps are empty.
func merged[M ~map[K]V, K comparable, V any](all ...M) M {
	var one M
	for _, values := range all {
		if one == nil && len(values) > 0 {
			one = make(M, len(values))
		}
		maps.Copy(one, values)
	}
	return one
}

// overriddenClaims are the claim templates of a set that an override changes, by index.
func overriddenClaims(templates []corev1.PersistentVolumeClaim, overrides []v1.VolumeClaimOverride) map[int]*corev1.PersistentVolumeClaim {
	if len(overrides) == 0 {
		return nil
	}
	byName := make(map[string]*v1.VolumeClaimOverride, len(overrides))
	for i := range overrides {
		byName[overrides[i].Name] = &overrides[i]
	}
	changed := make(map[int]*corev1.PersistentVolumeClaim, len(overrides))
	for i := range templates {
		if override := byName[templates[i].Name]; override != nil {
			changed[i] = overriddenClaim(&templates[i], override)
		}
	}
	return changed
}

// overriddenClaim returns a claim template with an override.
func overriddenClaim(template *corev1.PersistentVolumeClaim, override *v1.VolumeClaimOverride) *corev1.PersistentVolumeClaim {
	changed := *template
	if override.Storage != nil {
		changed.Spec.Resources.Requests = merged(template.Spec.Resources.Requests, corev1.ResourceList{corev1.ResourceStorage: *override.Storage})
	}
	if override.StorageClassName != nil {
		changed.Spec.StorageClassName = override.StorageClassName
	}
	if override.VolumeAttributesClassName != nil {
		changed.Spec.VolumeAttributesClassName = override.VolumeAttributesClassName
	}
	return &changed
}
