// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

func TestASetLivesFromCreateToDelete(t *testing.T) {
	s := Start(t)
	sets, ctx := s.Sets(), t.Context()

	set := s.Create(t, Web("web"))
	if set.Generation != 1 || set.Spec.PodManagementPolicy != v1.OrderedReadyPodManagement {
		t.Errorf("after create: got generation %d and podManagementPolicy %q, want 1 and the default", set.Generation,
			set.Spec.PodManagementPolicy)
	}
	if c := set.Status.Conditions; len(c) != 1 || c[0].Type != v1.StatefulSetReady || c[0].Status != corev1.ConditionUnknown {
		t.Errorf("after create: got conditions %+v, want Ready=Unknown", c)
	}

	set.Spec.Replicas = ptr.To[int32](5)
	updated, err := sets.Update(ctx, set, metav1.UpdateOptions{})
	if err != nil || updated.Generation != 2 {
		t.Fatalf("update: got %+v, %v, want generation 2", updated, err)
	}
	if _, err := sets.Update(ctx, set, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("update of an old version: got %v, want a conflict", err)
	}

	if err := sets.Delete(ctx, "web", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("other")}); !apierrors.IsConflict(err) {
		t.Errorf("delete of another UID: got %v, want a conflict", err)
	}
	if err := sets.Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
		t.Fatalf("delete: %v", err)
	}
	if got, err := sets.Get(ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("get after delete: got %+v, %v, want not found", got, err)
	}
}

func TestDeletingInTheForegroundWaitsForTheGarbageCollector(t *testing.T) {
	s := Start(t)
	s.Create(t, Web("web"))
	if err := s.Sets().Delete(t.Context(), "web",
		metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}); err != nil {
		t.Fatalf("delete: %v", err)
	}
	set, err := s.Sets().Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || set.DeletionTimestamp == nil || !slices.Equal(set.Finalizers, []string{metav1.FinalizerDeleteDependents}) {
		t.Errorf("get: got %+v, %v, want a set that is being deleted with the finalizer %s", set, err, metav1.FinalizerDeleteDependents)
	}
}

func TestACollectionIsDeletedBySelector(t *testing.T) {
	s := Start(t)
	for _, name := range []string{"a", "b", "c"} {
		set := Web(name)
		set.Labels = map[string]string{"keep": fmt.Sprint(name == "b")}
		s.Create(t, set)
	}
	if err := s.Sets().DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "keep=false"}); err != nil {
		t.Fatalf("deleting the collection: %v", err)
	}
	if got := s.names(t, metav1.ListOptions{}); !slices.Equal(got, []string{"b"}) {
		t.Errorf("sets that remain: got %q, want [b]", got)
	}
}

func TestADryRunChangesNothing(t *testing.T) {
	s := Start(t)
	got, err := s.Sets().Create(t.Context(), Web("web"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil || got.Generation != 1 {
		t.Fatalf("dry run: got %+v, %v, want the set that would have been created", got, err)
	}
	if names := s.names(t, metav1.ListOptions{}); len(names) > 0 {
		t.Errorf("sets after a dry run: got %q, want none", names)
	}
}

func TestPatches(t *testing.T) {
	const sidecar = `{"name":"sidecar","image":"side:1"}`
	tests := map[string]struct {
		kind       types.PatchType
		patch      string
		containers string
	}{
		"JSON": {
			types.JSONPatchType, `[{"op":"add","path":"/spec/template/spec/containers/-","value":` + sidecar + `}]`, "nginx,sidecar"},
		"merge":           {types.MergePatchType, `{"spec":{"template":{"spec":{"containers":[` + sidecar + `]}}}}`, "sidecar"},
		"strategic merge": {types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[` + sidecar + `]}}}}`, "sidecar,nginx"},
		"apply": {types.ApplyYAMLPatchType, `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet","metadata":{"name":"apply"},
			"spec":{"template":{"spec":{"containers":[` + sidecar + `]}}}}`, "nginx,sidecar"},
	}
	s := Start(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := Web(strings.ReplaceAll(name, " ", "-"))
			set.Name = strings.ToLower(set.Name)
			set.Spec.VolumeClaimTemplates, set.Spec.Template.Spec.Containers[0].VolumeMounts = nil, nil
			s.Create(t, set)
			options := metav1.PatchOptions{}
			if test.kind == types.ApplyYAMLPatchType {
				options.FieldManager = "other"
			}
			got, err := s.Sets().Patch(t.Context(), set.Name, test.kind, []byte(test.patch), options)
			if err != nil {
				t.Fatalf("patching: %v", err)
			}
			if names := containerNames(got); names != test.containers || got.Generation != 2 {
				t.Errorf("containers and generation: got %s and %d, want %s and 2", names, got.Generation, test.containers)
			}
		})
	}
}

func TestApplyOwnsFields(t *testing.T) {
	s := Start(t)
	apply := func(manager string, replicas int) (*v1.StatefulSet, error) {
		patch := fmt.Sprintf(`{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet","metadata":{"name":"web"},
			"spec":{"replicas":%d,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
			"spec":{"containers":[{"name":"nginx","image":"nginx:1"}]}}},"status":{"replicas":7}}`, replicas)
		return s.Sets().Patch(t.Context(), "web", types.ApplyYAMLPatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager})
	}
	set, err := apply("first", 1)
	if err != nil {
		t.Fatalf("applying a new set: %v", err)
	}
	if owned := set.ManagedFields[0].FieldsV1.GetRawString(); len(set.ManagedFields) != 1 || strings.Contains(owned, "f:status") ||
		!strings.Contains(owned, "f:replicas") {
		t.Errorf("owned fields: got %s, want those of the spec only", owned)
	}
	if _, err := apply("second", 2); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), ".spec.replicas") {
		t.Errorf("applying another value: got %v, want a conflict about .spec.replicas", err)
	}
}

func TestAnUnknownFieldIsNamed(t *testing.T) {
	s := Start(t)
	body := `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet","metadata":{"name":"web"},"spec":{"servieName":"nginx"}}`
	post := func(validation string) error {
		return s.Clients.AppsV1().RESTClient().Post().Namespace(Namespace).Resource("statefulsets").
			Param("fieldValidation", validation).Body([]byte(body)).SetHeader("Content-Type", "application/json").Do(t.Context()).Error()
	}
	if err := post("Strict"); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), `unknown field "spec.servieName"`) {
		t.Errorf("strict: got %v, want a bad request that names spec.servieName", err)
	}
	if err := post("Ignore"); !apierrors.IsInvalid(err) || strings.Contains(err.Error(), "servieName") {
		t.Errorf("not strict: got %v, want only the errors of validation", err)
	}
}

func TestAnErrorIsReportedOnce(t *testing.T) {
	s := Start(t)
	set := Web("web")
	set.Spec.Replicas, set.Spec.Selector = ptr.To[int32](-1), nil
	_, err := s.Sets().Create(t.Context(), set, metav1.CreateOptions{})
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		t.Fatalf("got %v, want an invalid set", err)
	}
	var fields []string
	for _, cause := range status.ErrStatus.Details.Causes {
		fields = append(fields, cause.Field)
	}
	want := []string{"spec.replicas", "spec.selector", "spec.template.metadata.labels"}
	if slices.Sort(fields); !slices.Equal(fields, want) {
		t.Errorf("fields with an error: got %q, want %q, each once", fields, want)
	}
}

func containerNames(set *v1.StatefulSet) string {
	var names []string
	for _, c := range set.Spec.Template.Spec.Containers {
		names = append(names, c.Name)
	}
	return strings.Join(names, ",")
}
