// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

func TestASetWithHolesIsNotMoved(t *testing.T) {
	reserve := func(ranges ...v1.OrdinalRange) *v1.StatefulSetOrdinals {
		return &v1.StatefulSetOrdinals{Start: 1, Reserved: ranges}
	}
	for sentence, test := range map[string]struct {
		ordinals *v1.StatefulSetOrdinals
		want     string
	}{
		"no ordinals":           {nil, ""},
		"none reserved":         {reserve(), ""},
		"reserved above all":    {reserve(v1.OrdinalRange{First: 4}), ""},
		"reserved below all":    {reserve(v1.OrdinalRange{First: 0}), ""},
		"a hole":                {reserve(v1.OrdinalRange{First: 2}), "ordinal 2 is reserved: apps/v1 would create web-2 and remove web-4"},
		"the first is reserved": {reserve(v1.OrdinalRange{First: 1}), "ordinal 1 is reserved: apps/v1 would create web-1 and remove web-4"},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := ourSet("")
			set.Name, set.Spec.Replicas, set.Spec.Ordinals = "web", new(int32(3)), test.ordinals
			err := refuseHoles(set)
			if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestASetWhoseMembersLackClaimsIsNotMoved(t *testing.T) {
	set := ourSet("")
	set.Name, set.UID = "web", "ours"
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	before := *identity.Pod(set, &set.Spec.Template, "web-1", 1)
	set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates,
		corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "log"}})
	set.Spec.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: v1.NewClaimsVolumeClaimUpdatePolicyType}
	after := *identity.Pod(set, &set.Spec.Template, "web-1", 0)
	for sentence, test := range map[string]struct {
		pods []corev1.Pod
		want string
	}{
		"all mount what they should": {[]corev1.Pod{after}, ""},
		"one was created before":     {[]corev1.Pod{after, before}, "pod web-1 does not mount claim log-web-1 yet"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := refuseUnmountedClaims(set, test.pods)
			if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestASetWhoseGatesAreAskedIsNotMoved(t *testing.T) {
	set := ourSet("")
	set.Name, set.UID = "web", "ours"
	pod := *identity.Pod(set, &set.Spec.Template, "web-1", 1)
	asked, foreign := *pod.DeepCopy(), *pod.DeepCopy()
	asked.Annotations = map[string]string{v1.DisruptionAnnotation: `{"id":1,"operation":"Update"}`}
	foreign.Annotations, foreign.OwnerReferences = asked.Annotations, nil
	for sentence, test := range map[string]struct {
		pods []corev1.Pod
		want string
	}{
		"no gate is asked":           {[]corev1.Pod{pod}, ""},
		"they are asked about a pod": {[]corev1.Pod{pod, asked}, "the gates of spec.disruption are requested for web-1"},
		"the pod is somebody else's": {[]corev1.Pod{foreign}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := refuseRequested(set, test.pods)
			if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestASetWithOverriddenMembersIsNotMoved(t *testing.T) {
	set := ourSet("")
	set.Name, set.UID = "web", "ours"
	plain := *identity.Pod(set, &set.Spec.Template, "web-1", 1)
	set.Spec.Overrides = []v1.MemberOverride{
		{Name: "big", Ordinals: []v1.OrdinalRange{{First: 0}}, NodeSelector: map[string]string{"disk": "nvme"}}}
	big := *identity.Pod(set, &set.Spec.Template, "web-1", 0)
	earlier := *big.DeepCopy()
	earlier.Annotations[v1.OverrideAnnotation] = "1-of-before"
	notOurs := *big.DeepCopy()
	notOurs.OwnerReferences = nil
	for sentence, test := range map[string]struct {
		pods []corev1.Pod
		want string
	}{
		"no member has its override yet":            {[]corev1.Pod{plain}, ""},
		"the pod of a member is that of nobody":     {[]corev1.Pod{notOurs}, ""},
		"a member has its override":                 {[]corev1.Pod{plain, big}, "pod web-0 was created with override big"},
		"a member has an override that was changed": {[]corev1.Pod{plain, earlier}, "pod web-0 was created with an earlier override"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := refuseOverridden(set, test.pods)
			if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestASetWhoseMembersAreRenderedIsNotMoved(t *testing.T) {
	set := ourSet("")
	set.Name, set.UID = "web", "ours"
	pod := *identity.Pod(set, &set.Spec.Template, "web-1", 0)
	recorded := func(with *v1.MemberIdentity) []appsv1.ControllerRevision {
		return []appsv1.ControllerRevision{{ObjectMeta: metav1.ObjectMeta{Name: "web-1"},
			Data: runtime.RawExtension{Raw: identity.RevisionData(identity.Source{Template: &set.Spec.Template, Identity: with})}}}
	}
	for sentence, test := range map[string]struct {
		identity  *v1.MemberIdentity
		args      []string
		revisions []appsv1.ControllerRevision
		want      string
	}{
		"they are not, whatever the template says": {nil, []string{"$(ORDINAL)"}, recorded(nil), ""},
		"the template names a parameter": {
			&v1.MemberIdentity{}, []string{"$(ORDINAL)"}, nil,
			`spec.template.spec.containers[0].args[0]: Invalid value: "$(ORDINAL)": names $(ORDINAL): apps/v1 would use that as plain text; write a text that is right for all members, or $(...) with a variable from metadata.name`},
		"the template names what is no parameter": {
			&v1.MemberIdentity{}, []string{"$(hostname)"}, nil, "members are created with spec.identity"},
		"an update has yet to reach a member": {
			nil, nil, recorded(&v1.MemberIdentity{}), "pod web-0 was created with an earlier spec.identity"},
		"no member has a revision with an identity": {nil, nil, recorded(nil), ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			one := set.DeepCopy()
			one.Spec.Identity, one.Spec.Template.Spec.Containers = test.identity, []corev1.Container{{Name: "web", Args: test.args}}
			err := refuseRendered(one, test.revisions, []corev1.Pod{pod})
			if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestObjectsThatAMoveLeavesAreTold(t *testing.T) {
	set := ourSet("")
	if got := leftObjects(set); got != "" {
		t.Errorf("of a set without: got %q, want nothing", got)
	}
	set.Name = "web"
	for _, name := range []string{"$(IDENTITY)-conf", "$(IDENTITY)-more"} {
		set.Spec.ObjectTemplates = append(set.Spec.ObjectTemplates, v1.ObjectTemplate{Name: name[12:],
			Object: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `"}}`)}})
	}
	if got, want := leftObjects(set),
		"stays: the objects of spec.objectTemplates (ConfigMap $(IDENTITY)-conf, ConfigMap $(IDENTITY)-more), with their labels and annotations; "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want it to begin with %q", got, want)
	}
}

func TestASetWhoseTemplateNamesWhatObjectsGiveIsNotMoved(t *testing.T) {
	set := ourSet("")
	set.Name, set.UID, set.Spec.Identity = "web", "ours", &v1.MemberIdentity{}
	object := func(text string) runtime.RawExtension { return runtime.RawExtension{Raw: []byte(text)} }
	set.Spec.ObjectTemplates = []v1.ObjectTemplate{
		{Name: "outside", Object: object(`{"apiVersion":"v1","kind":"Service","metadata":{"name":"$(IDENTITY)-outside"}}`),
			Outputs: []v1.ObjectOutput{{Name: "ADDRESS", Expression: "object.spec.clusterIP"}}},
		{Name: "token", Object: object(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"$(IDENTITY)-token"}}`),
			Generate: []v1.GeneratedKey{{Key: "token", Bytes: 32}}},
	}
	secret := func(name string) *corev1.SecretKeySelector {
		return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "token"}
	}
	for sentence, test := range map[string]struct {
		container corev1.Container
		volumes   []corev1.Volume
		want      string
	}{
		"an output in an argument": {container: corev1.Container{Args: []string{"--id=x", "--at=$(ADDRESS)"}},
			want: `spec.template.spec.containers[0].args[1]: Invalid value: "--at=$(ADDRESS)": names $(ADDRESS): apps/v1 would use that as plain text`},
		"an output in a variable": {container: corev1.Container{Env: []corev1.EnvVar{{Name: "AT", Value: "$(ADDRESS):80"}}},
			want: `spec.template.spec.containers[0].env[0].value: Invalid value: "$(ADDRESS):80": names $(ADDRESS)`},
		"the Secret of a member in a variable": {container: corev1.Container{
			Env: []corev1.EnvVar{{Name: "T", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: secret("$(IDENTITY)-token")}}}},
			want: `spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef.name: Invalid value: "$(IDENTITY)-token": names $(IDENTITY)`},
		"the Secret of a member in a volume": {volumes: []corev1.Volume{
			{Name: "t", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "$(IDENTITY)-token"}}}},
			want: `spec.template.spec.volumes[0].secret.secretName: Invalid value: "$(IDENTITY)-token": names $(IDENTITY)`},
	} {
		t.Run(sentence, func(t *testing.T) {
			one := set.DeepCopy()
			one.Spec.Template.Spec.Containers, one.Spec.Template.Spec.Volumes = []corev1.Container{test.container}, test.volumes
			if err := refuseRendered(one, nil, nil); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestASetInTheMiddleOfAnUpdateInPlaceIsNotMoved(t *testing.T) {
	set := ourSet("")
	set.Name, set.UID = "web", "ours"
	settled := *identity.Pod(set, &set.Spec.Template, "web-1", 0)
	restarting := *identity.Pod(set, &set.Spec.Template, "web-1", 1)
	restarting.Annotations = map[string]string{v1.InPlaceAnnotation: "{}"}
	foreign := restarting
	foreign.OwnerReferences = nil
	out := *settled.DeepCopy()
	out.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: v1.PodInService}}
	in := *out.DeepCopy()
	in.Status.Conditions = []corev1.PodCondition{{Type: v1.PodInService, Status: corev1.ConditionTrue}}
	for sentence, test := range map[string]struct {
		pods []corev1.Pod
		want string
	}{
		"none is":      {[]corev1.Pod{settled}, ""},
		"another's is": {[]corev1.Pod{settled, foreign}, ""},
		"all serve":    {[]corev1.Pod{in}, ""},
		"one does not": {[]corev1.Pod{out}, "pod web-0 is out of service; wait until its containers have restarted, or delete it"},
		"one is": {
			[]corev1.Pod{settled, restarting}, "pod web-1 is being updated in place; wait until its containers have restarted, or delete it"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if err := refuseRestarting(set, test.pods); (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
