// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"reflect"
	"testing"

	"sigs.k8s.io/kustomize/api/types"
)

func transformerCases(t *testing.T) []kustomizeCase {
	return []kustomizeCase{
		one(t, "labels in selectors", `
labels:
- includeSelectors: true
  pairs:
    team: storage
`),
		labelsInTemplates(t),
		one(t, "labels in metadata", `
labels:
- pairs:
    team: storage
`).anyway(),
		one(t, "common labels", `
commonLabels:
  team: storage
`),
		one(t, "common annotations", `
commonAnnotations:
  example.com/team: storage
`).anyway(),
		one(t, "prefix, suffix and namespace", `
namePrefix: blue-
nameSuffix: -one
namespace: shop
`),
		one(t, "namespace alone", `
namespace: shop
`).anyway(),
		one(t, "images", `
images:
- name: example.com/db
  newTag: "2"
- name: example.com/tools
  newName: mirror.example.com/tools
- name: example.com/models
  digest: sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3
`).anyway(),
		one(t, "replicas", `
replicas:
- name: db
  count: 7
`).anyway(),
		one(t, "variables", `
vars:
- name: LEVEL
  objref:
    apiVersion: v1
    kind: ConfigMap
    name: conf
  fieldref:
    fieldpath: data.level
`).anyway(),
		one(t, "hashes of generated objects in names", `
configMapGenerator:
- name: conf
  behavior: replace
  literals: [level=debug]
secretGenerator:
- name: password
  behavior: replace
  literals: [password=trout]
`).anyway(),
		one(t, "JSON patch", `
patches:
- target:
    group: apps
    kind: StatefulSet
  patch: |
    - op: replace
      path: /spec/template/spec/containers/0/image
      value: example.com/db:2
`).anyway(),
		one(t, "replacements", `
replacements:
- source:
    kind: ConfigMap
    name: conf
    fieldPath: data.level
  targets:
  - select:
      group: apps
      kind: StatefulSet
    fieldPaths:
    - spec.template.spec.containers.[name=db].args.1
`).anyway(),
	}
}

// labelsInTemplates is about labels that kustomize before api v0.21.2 adds to claim templates, too. The component does what
// later ones do, because claim templates cannot be changed later.
func labelsInTemplates(t *testing.T) kustomizeCase {
	t.Helper()
	c := one(t, "labels in templates", `
labels:
- includeTemplates: true
  pairs:
    team: storage
`)
	if _, later := reflect.TypeFor[types.Label]().FieldByName("IncludeVolumeClaimTemplates"); !later {
		c.unlike = "      labels:\n        team: storage\n"
	}
	return c
}

func patchCases(t *testing.T) []kustomizeCase {
	return []kustomizeCase{
		podPatch(t, "image", `
      containers:
      - name: db
        image: example.com/db:2
`),
		podPatch(t, "variable", `
      containers:
      - name: db
        env:
        - name: LEVEL
          value: debug
          valueFrom: null
`),
		podPatch(t, "mount", `
      containers:
      - name: db
        volumeMounts:
        - name: conf
          mountPath: /conf
          readOnly: true
`),
		podPatch(t, "volume", `
      volumes:
      - name: conf
        configMap:
          defaultMode: 0400
`),
		podPatch(t, "port", `
      containers:
      - name: db
        ports:
        - name: members
          containerPort: 5433
          protocol: TCP
`),
		podPatch(t, "another sidecar", `
      containers:
      - name: proxy
        image: example.com/proxy:1
`),
		podPatch(t, "sidecar removed", `
      containers:
      - name: metrics
        $patch: delete
`),
		podPatch(t, "init container", `
      initContainers:
      - name: prepare
        image: example.com/tools:2
`),
		podPatch(t, "spread constraint", `
      topologySpreadConstraints:
      - topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
        maxSkew: 2
`),
		podPatch(t, "list replaced", `
      containers:
      - $patch: replace
      - name: db
        image: example.com/db:2
`),
		patched(t, "claim templates", `
  volumeClaimTemplates:
  - metadata:
      name: data
    spec:
      accessModes: [ReadWriteOnce]
      resources:
        requests:
          storage: 20Gi
`).anyway(),
		patched(t, "number", `
  replicas: 5
`).anyway(),
	}
}

// podPatch is a case with one strategic-merge patch of the spec of the pod template.
func podPatch(t *testing.T, name, spec string) kustomizeCase {
	t.Helper()
	return patched(t, name, "\n  template:\n    spec:"+spec)
}

// patched is a case with one strategic-merge patch of the set's spec.
func patched(t *testing.T, name, spec string) kustomizeCase {
	t.Helper()
	c := one(t, "patch: "+name, "\npatches:\n- path: patch.yaml\n")
	c.files["app/patch.yaml"] = builtin + "\nmetadata:\n  name: db\nspec:" + spec
	return c
}
