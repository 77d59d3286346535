// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"slices"
	"strings"

	ktypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
)

const (
	group        = "apps.statefulset.dev"
	builtinGroup = "apps"
	kind         = "StatefulSet"
	// object is the path of a manifest in a template for supporting objects.
	object = "spec/objectTemplates/object/"
)

// transformers returns the tables for our group. kustomize's rows for StatefulSets of any group
// apply to ours already, so it repeats only the rows for the group apps. It adds rows for fields
// that apps/v1 does not have.
func (builtin tables) transformers(has func(path string) bool, clusterScoped []string) tables {
	ours := tables{
		CommonLabels:      repeated(builtin.CommonLabels),
		TemplateLabels:    repeated(builtin.TemplateLabels),
		CommonAnnotations: repeated(builtin.CommonAnnotations),
		NamePrefix:        repeated(builtin.NamePrefix),
		NameSuffix:        repeated(builtin.NameSuffix),
		Namespace:         repeated(builtin.Namespace),
		Images:            repeated(builtin.Images),
		Replicas:          repeated(builtin.Replicas),
		VarReference:      append(repeated(builtin.VarReference), inOverrides(builtin.VarReference, has)...),
	}
	// The metadata of supporting objects, like that of claims in kustomize. Their selectors are not
	// changed: a path does not say whether spec.selector belongs to a Service, a claim or a
	// Deployment.
	labels := field("spec/objectTemplates[]/object/metadata/labels")
	labels.CreateIfNotPresent = true
	ours.CommonLabels = append(ours.CommonLabels, labels)
	ours.TemplateLabels = append(ours.TemplateLabels, labels)
	annotations := field("spec/objectTemplates[]/object/metadata/annotations")
	annotations.CreateIfNotPresent = true
	ours.CommonAnnotations = append(ours.CommonAnnotations, annotations)
	for _, r := range builtin.NameReference {
		specs := slices.Concat(repeated(r.FieldSpecs), inOverrides(r.FieldSpecs, has), inObjects(r.FieldSpecs, clusterScoped))
		if len(specs) > 0 {
			ours.NameReference = append(ours.NameReference, references{Gvk: r.Gvk, FieldSpecs: specs})
		}
	}
	return ours
}

func field(path string) ktypes.FieldSpec {
	return ktypes.FieldSpec{Gvk: resid.Gvk{Group: group, Kind: kind}, Path: path}
}

// repeated returns rows for StatefulSets of the group apps as rows for our group.
func repeated(rows []ktypes.FieldSpec) []ktypes.FieldSpec {
	var ours []ktypes.FieldSpec
	for _, row := range rows {
		if row.Kind == kind && row.Group == builtinGroup {
			row.Group = group
			ours = append(ours, row)
		}
	}
	return ours
}

// inOverrides returns the rows for fields of overrides that replace fields of the template.
func inOverrides(rows []ktypes.FieldSpec, has func(path string) bool) []ktypes.FieldSpec {
	var ours []ktypes.FieldSpec
	for _, row := range rows {
		if row.Kind != kind || row.Group != "" && row.Group != builtinGroup {
			continue
		}
		for template, override := range map[string]string{
			"spec/template/spec/containers/":  "spec/overrides/containers/",
			"spec/volumeClaimTemplates/spec/": "spec/overrides/volumeClaims/",
		} {
			if rest, ok := strings.CutPrefix(row.Path, template); ok && has(override+rest) {
				ours = append(ours, field(override+rest))
			}
		}
	}
	return ours
}

// inObjects returns the rows for references in manifests of supporting objects: each path at which
// kustomize knows a reference in a namespaced kind.
func inObjects(rows []ktypes.FieldSpec, clusterScoped []string) []ktypes.FieldSpec {
	var ours []ktypes.FieldSpec
	for _, row := range rows {
		if slices.Contains(clusterScoped, row.Kind) || row.Kind == "HorizontalPodAutoscaler" {
			continue // an autoscaler also names the kind of its target, which a row does not compare
		}
		spec := field(object + row.Path)
		if !slices.Contains(ours, spec) {
			ours = append(ours, spec)
		}
	}
	return ours
}
