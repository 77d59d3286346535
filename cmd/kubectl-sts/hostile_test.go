// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
)

// hostile is what somebody may write into a field of free text: a window title, control
// sequences of several characters, of one and of C1, a change of direction, and a line.
const hostile = "x\x1b]0;owned\a\x1b[2J\x1b[41m\u009b31m\u202egnp\u2066\x7f\r\nforged line\n\tforged line\u2028"

func TestNothingSteersTheTerminal(t *testing.T) {
	config := hostileCluster(t)
	for name, args := range map[string][]string{
		"doctor":                {"doctor", "--all-namespaces"},
		"tree":                  {"tree", "web"},
		"plan":                  {"plan", "web"},
		"plan in YAML":          {"plan", "web", "-o", "yaml"},
		"plan in JSON":          {"plan", "web", "-o", "json"},
		"migrate":               {"migrate", "web", "--back"},
		"migrate, dry":          {"migrate", "web", "--back", "--dry-run"},
		"describe":              {"describe", "statefulset", "web"},
		"uninstall":             {"uninstall"},
		"a refusal":             {"scale", "statefulset", "refused", "--replicas=2"},
		"a refusal to our own":  {"plan", "refused"},
		"a refusal to the tree": {"tree", "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, stdout, stderr := runCommand(t, append([]string{"kubectl-sts", "--kubeconfig=" + config}, args...)...)
			if !strings.Contains(stdout+stderr, "owned") {
				t.Fatalf("got\n%s%s\nwant the hostile text in it: the test does not show anything", stdout, stderr)
			}
			for line := range strings.Lines(stdout + stderr) {
				if i := strings.IndexFunc(strings.Trim(line, "\n\t"), func(r rune) bool { return !unicode.IsGraphic(r) && r != '\t' }); i >= 0 {
					t.Errorf("got a control character in %q", line)
				}
			}
			// What kubectl describes may have several lines.
			if name != "describe" && strings.Contains(stdout, "\nforged") {
				t.Errorf("got\n%s\nwant no line that begins with a text of others", stdout)
			}
		})
	}
}

// hostileCluster serves objects with hostile text wherever the API takes free text. It
// returns a kubeconfig.
func hostileCluster(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(server.Close)
	config := t.TempDir() + "/kubeconfig"
	if err := os.WriteFile(config, []byte(strings.Replace(nowhere, "https://127.0.0.1:1", server.URL, 1)), 0o600); err != nil {
		t.Fatalf("writing a kubeconfig: %v", err)
	}
	return config
}

func answer(w http.ResponseWriter, request *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if request.URL.Query().Get("watch") != "" {
		if request.URL.Query().Get("sendInitialEvents") != "" {
			refuse(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
			return
		}
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-request.Context().Done()
		return
	}
	object, found := hostileObjects()[request.URL.Path]
	if !found {
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden)
		return
	}
	_ = json.NewEncoder(w).Encode(object)
}

func refuse(w http.ResponseWriter, code int32, reason metav1.StatusReason) {
	w.WriteHeader(int(code))
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: code, Reason: reason,
		Message: "no: " + hostile,
	})
}

// hostileObjects are answers by path.
func hostileObjects() map[string]any {
	const group, namespace = "/apis/apps.statefulset.dev", "/namespaces/default"
	set, pod, revision := hostileSet(), hostilePod(), hostileRevision()
	lease := map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"name": "statefulset-apiserver-controller"},
		"spec": map[string]any{"holderIdentity": hostile, "renewTime": metav1.NewMicroTime(time.Now()), "leaseDurationSeconds": 15},
	}
	registration := map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": "v1.apps.statefulset.dev", "finalizers": []string{hostile}},
		"status": map[string]any{
			"conditions": []any{map[string]any{"type": "Available", "status": "False", "reason": hostile, "message": hostile}}},
	}
	plan := &v1.StatefulSetPlan{TypeMeta: metav1.TypeMeta{APIVersion: v1.GroupName + "/v1", Kind: "StatefulSetPlan"}, Outcome: hostile,
		Reason: hostile, Message: hostile, Rounds: []v1.PlanRound{{
			Steps:    []v1.PlanStep{{Actions: []v1.PlanAction{{Description: hostile, Message: hostile}}}},
			Warnings: []v1.PlanWarning{{Reason: hostile, Message: hostile}}, WaitingFor: hostile, ExpectedEvents: []string{hostile, hostile},
		}}}
	note := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		Data: map[string]string{"store": hostile, "revision": hostile, "requestheader-client-ca-file": hostile}}
	report := &corev1.ConfigMap{TypeMeta: note.TypeMeta,
		Data: map[string]string{"every": "6h", "verified": "2026-11-22T12:00:00Z", "name": hostile, "failed": hostile, "failure": hostile}}
	stock := &appsv1.StatefulSetList{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSetList"}}
	return map[string]any{
		"/version": map[string]string{"major": "1", "minor": "37", "gitVersion": "v1.37.1"},
		"/api":     metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}},
		"/api/v1":  resources("v1", "pods", "Pod"),
		"/apis": metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{
			{Name: v1.GroupName, Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: v1.GroupName + "/v1", Version: "v1"}}},
			{Name: "apps", Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: "apps/v1", Version: "v1"}}},
		}},
		"/apis/apps/v1": resources("apps/v1", "statefulsets", "StatefulSet"),
		group + "/v1":   resources(v1.GroupName+"/v1", "statefulsets", "StatefulSet"),
		group + "/v1/statefulsets": &v1.StatefulSetList{
			TypeMeta: metav1.TypeMeta{APIVersion: v1.GroupName + "/v1", Kind: "StatefulSetList"}, Items: []v1.StatefulSet{*set}},
		group + "/v1" + namespace + "/statefulsets": &v1.StatefulSetList{
			TypeMeta: metav1.TypeMeta{APIVersion: v1.GroupName + "/v1", Kind: "StatefulSetList"}, Items: []v1.StatefulSet{*set}},
		group + "/v1" + namespace + "/statefulsets/web":      set,
		group + "/v1" + namespace + "/statefulsets/web/plan": plan,
		"/apis/apps/v1" + namespace + "/statefulsets":        stock,
		"/apis/apps/v1" + namespace + "/controllerrevisions": &appsv1.ControllerRevisionList{
			TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ControllerRevisionList"}, Items: []appsv1.ControllerRevision{*revision}},
		"/api/v1" + namespace + "/pods": &corev1.PodList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{*pod}},
		"/api/v1" + namespace + "/persistentvolumeclaims": &corev1.PersistentVolumeClaimList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaimList"}, Items: []corev1.PersistentVolumeClaim{*hostileClaim()}},
		"/api/v1" + namespace + "/events": &corev1.EventList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "EventList"}, Items: []corev1.Event{*hostileEvent()}},
		"/apis/apiregistration.k8s.io/v1/apiservices/v1.apps.statefulset.dev":                                registration,
		"/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication":                       note,
		"/api/v1/namespaces/statefulset-system/configmaps/statefulset-apiserver-store":                       note,
		"/api/v1/namespaces/statefulset-system/configmaps/statefulset-apiserver-backups":                     report,
		"/apis/coordination.k8s.io/v1/namespaces/statefulset-system/leases/statefulset-apiserver-controller": lease,
	}
}

func resources(version, name, kind string) metav1.APIResourceList {
	return metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version, APIResources: []metav1.APIResource{
			{Name: name, Kind: kind, Namespaced: true, Verbs: metav1.Verbs{"get", "list", "watch", "delete", "patch"}},
		}}
}

func hostileSet() *v1.StatefulSet {
	labels := map[string]string{"app": "web"}
	set := &v1.StatefulSet{
		TypeMeta: metav1.TypeMeta{APIVersion: v1.GroupName + "/v1", Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "web", UID: "1", Generation: 1, Annotations: map[string]string{"note": hostile, v1.HoldAnnotation: hostile},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: hostile, Name: hostile, UID: "9"}}, Finalizers: []string{hostile}},
		Spec: v1.StatefulSetSpec{Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}},
	}
	set.Spec.Template.Labels = labels
	set.Spec.Template.Annotations = map[string]string{"note": hostile}
	set.Spec.Template.Spec.Containers = []corev1.Container{
		{Name: "main", Image: hostile, Command: []string{hostile}, Env: []corev1.EnvVar{{Name: "A", Value: hostile}}}}
	for _, kind := range []v1.StatefulSetConditionType{v1.StatefulSetReady, v1.StatefulSetStalled} {
		set.Status.Conditions = append(set.Status.Conditions,
			v1.StatefulSetCondition{Type: kind, Status: corev1.ConditionTrue, Reason: hostile, Message: hostile})
	}
	set.Status.ObservedGeneration, set.Status.UpdateRevision = 1, "web-"+hostile
	return set
}

func hostilePod() *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0", UID: "2",
		Labels: map[string]string{"app": "web", appsv1.ControllerRevisionHashLabelKey: "web-" + hostile}}}
	pod.Spec.NodeName, pod.Status.Phase, pod.Status.Message = hostile, corev1.PodRunning, hostile
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{
		{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: hostile, Message: hostile}}}}
	return pod
}

func hostileRevision() *appsv1.ControllerRevision {
	controls := true
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "web-" + hostile, OwnerReferences: []metav1.OwnerReference{{UID: "1", Controller: &controls}}},
		Data: runtime.RawExtension{Raw: []byte(`{}`)}, Revision: 1,
	}
}

func hostileClaim() *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data-web-0"}}
	claim.Status.Phase = hostile
	return claim
}

func hostileEvent() *corev1.Event {
	return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web.1"}, Reason: hostile, Message: hostile, Type: hostile,
		Source: corev1.EventSource{Component: hostile}, ReportingController: hostile,
		InvolvedObject: corev1.ObjectReference{FieldPath: fmt.Sprintf("spec.%s", hostile)}}
}
