// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func TestANewSet(t *testing.T) {
	tests := map[string]verdict{
		"with all defaults is accepted": {change: func(*v1.StatefulSet) {}},
		"without replicas is accepted":  {change: settest.Spec(func(s *v1.StatefulSetSpec) { s.Replicas = ptr.To[int32](0) })},
		"without a service is accepted": {change: settest.Spec(func(s *v1.StatefulSetSpec) { s.ServiceName = "" })},
		"that is recreated on update is accepted": {change: settest.Spec(func(s *v1.StatefulSetSpec) {
			s.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: v1.RecreateStatefulSetStrategyType}
		})},
		"up to the highest ordinal is accepted": {change: settest.Spec(func(s *v1.StatefulSetSpec) {
			s.Ordinals = &v1.StatefulSetOrdinals{Start: math.MaxInt32 - 2}
		})},
		"whose name is no label": {
			change: func(set *v1.StatefulSet) { set.Name = "web.site" },
			want:   []string{`metadata.name: Invalid value: "web.site": must not contain dots`},
		},
		"with a finalizer that says not whose it is": {
			change: func(set *v1.StatefulSet) {
				set.Finalizers = []string{"example.com/mine", metav1.FinalizerOrphanDependents, "keep"}
			},
			want: []string{`metadata.finalizers[2]: Invalid value: "keep": must begin with a domain`},
		},
		"with a device of no volume": {
			change: settest.Pod(func(p *corev1.PodSpec) {
				p.Containers[0].VolumeDevices = []corev1.VolumeDevice{{Name: "www"}, {Name: "raw"}}
			}),
			want: []string{`spec.template.spec.containers[0].volumeDevices[1].name: Not found: "raw"`},
		},
		"with claims that are filled from a pod": {
			change: settest.Claim(func(c *corev1.PersistentVolumeClaim) {
				c.Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "Pod", Name: "x"}
			}),
			want: []string{`spec.volumeClaimTemplates[0].spec.dataSource: Invalid value: "Pod": must be "PersistentVolumeClaim"`},
		},
		"with claims that are filled from another claim is accepted": {change: settest.Claim(func(c *corev1.PersistentVolumeClaim) {
			c.Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "x"}
		})},
		"with fewer than no replicas": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.Replicas = ptr.To[int32](-1) }),
			want:   []string{"spec.replicas: Invalid value: -1: must be greater than or equal to 0"},
		},
		"with a negative time to be available": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.MinReadySeconds = -1 }),
			want:   []string{"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"},
		},
		"that starts below zero": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.Ordinals = &v1.StatefulSetOrdinals{Start: -1} }),
			want:   []string{"spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0"},
		},
		"that counts beyond the highest ordinal": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.Ordinals = &v1.StatefulSetOrdinals{Start: math.MaxInt32 - 1} }),
			want: []string{
				"spec.ordinals.start: Invalid value: 2147483646: with 3 replicas the highest ordinal would be 2147483648; it must be at most 2147483647"},
		},
		"with an unknown management policy": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.PodManagementPolicy = "Random" }),
			want:   []string{`spec.podManagementPolicy: Invalid value: "Random": must be "OrderedReady" or "Parallel"`},
		},
		"whose service name is no label": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.ServiceName = "my.service" }),
			want:   []string{`spec.serviceName: Invalid value: "my.service": must not contain dots`},
		},
		"that retains claims sometimes": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) {
				s.PersistentVolumeClaimRetentionPolicy.WhenDeleted = "Sometimes"
				s.PersistentVolumeClaimRetentionPolicy.WhenScaled = "Never"
			}),
			want: []string{
				`spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Sometimes": supported values: "Retain", "Delete"`,
				`spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Never"`,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test.check(t, onCreate(t, settest.Changed(test.change))) })
	}
}

func TestAnUpdateStrategy(t *testing.T) {
	tests := map[string]verdict{
		"with a number is accepted":    {change: rolling(intstr.FromInt32(200))},
		"with all at once is accepted": {change: rolling(intstr.FromString("100%"))},
		"that allows none unavailable": {change: rolling(intstr.FromInt32(0)),
			want: []string{"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: must not be 0"}},
		"that allows 0% unavailable": {change: rolling(intstr.FromString("0%")),
			want: []string{`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "0%": must not be 0`}},
		"that allows fewer than none": {change: rolling(intstr.FromInt32(-1)),
			want: []string{"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: -1: must be greater than or equal to 0"}},
		"that allows more than all": {change: rolling(intstr.FromString("101%")),
			want: []string{`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%`}},
		"that allows far more than all": {change: rolling(intstr.FromString("99999999999999999999%")), want: []string{
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "99999999999999999999%": must not be greater than 100%`}},
		"that allows a word": {change: rolling(intstr.FromString("many")),
			want: []string{`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "many": a valid percent`}},
		"with a negative partition": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.UpdateStrategy.RollingUpdate.Partition = ptr.To[int32](-1) }),
			want:   []string{"spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0"},
		},
		"that rolls although it is OnDelete": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.UpdateStrategy.Type = v1.OnDeleteStatefulSetStrategyType }),
			want: []string{
				`spec.updateStrategy.rollingUpdate: Invalid value: {"partition":0,"maxUnavailable":1}: only allowed with type "RollingUpdate", but type is "OnDelete"`},
		},
		"that rolls although it is Recreate": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.UpdateStrategy.Type = v1.RecreateStatefulSetStrategyType }),
			want: []string{
				`spec.updateStrategy.rollingUpdate: Invalid value: {"partition":0,"maxUnavailable":1}: only allowed with type "RollingUpdate", but type is "Recreate"`},
		},
		"of an unknown type": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.UpdateStrategy = v1.StatefulSetUpdateStrategy{Type: "Canary"} }),
			want:   []string{`spec.updateStrategy: Invalid value: {"type":"Canary"}: type must be "RollingUpdate", "OnDelete" or "Recreate"`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test.check(t, onCreate(t, settest.Changed(test.change))) })
	}
}

func TestASelectorAndTheLabelsOfTheTemplate(t *testing.T) {
	tests := map[string]verdict{
		"that is missing": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.Selector = nil }),
			want: []string{"spec.selector: Required value",
				`spec.template.metadata.labels: Invalid value: {"app":"web"}: must match spec.selector, which is "<none>"`},
		},
		"that is empty": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.Selector = &metav1.LabelSelector{} }),
			want:   []string{"spec.selector: Invalid value: {}: must not be empty"},
		},
		"that is malformed": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) {
				s.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Like"}}
			}),
			want: []string{`spec.selector.matchExpressions[0].operator: Invalid value: "Like"`, "spec.selector: Invalid value: "},
		},
		"that do not match": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) { s.Template.Labels = map[string]string{"app": "other"} }),
			want:   []string{`spec.template.metadata.labels: Invalid value: {"app":"other"}: must match spec.selector, which is "app=web"`},
		},
		"that are malformed": {
			change: settest.Spec(func(s *v1.StatefulSetSpec) {
				s.Template.Labels = map[string]string{"app": "web", "a": "?"}
				s.Template.Annotations = map[string]string{"a/b/c": ""}
			}),
			want: []string{
				`spec.template.annotations: Invalid value: "a/b/c"`,
				`spec.template.labels: Invalid value: "?"`,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test.check(t, onCreate(t, settest.Changed(test.change))) })
	}
}

func TestAPodTemplate(t *testing.T) {
	tests := map[string]verdict{
		"that ends": {
			change: settest.Pod(func(p *corev1.PodSpec) {
				p.RestartPolicy, p.ActiveDeadlineSeconds = corev1.RestartPolicyNever, ptr.To[int64](60)
			}),
			want: []string{
				"spec.template.spec.activeDeadlineSeconds: Forbidden: must not be set",
				`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`,
			},
		},
		"without containers": {
			change: settest.Pod(func(p *corev1.PodSpec) { p.Containers = nil }),
			want:   []string{"spec.template.spec.containers: Required value: at least one container is needed"},
		},
		"with a container that has neither name nor image": {
			change: settest.Pod(func(p *corev1.PodSpec) { p.Containers[0].Name, p.Containers[0].Image = "", "" }),
			want: []string{
				"spec.template.spec.containers[0].image: Required value",
				"spec.template.spec.containers[0].name: Required value",
			},
		},
		"with a container whose name is no label": {
			change: settest.Pod(func(p *corev1.PodSpec) { p.Containers[0].Name = "Nginx" }),
			want:   []string{`spec.template.spec.containers[0].name: Invalid value: "Nginx": a lowercase RFC 1123 label`},
		},
		"with two containers of one name": {
			change: settest.Pod(func(p *corev1.PodSpec) { p.InitContainers[0].Name = p.Containers[0].Name }),
			want:   []string{`spec.template.spec.initContainers[0].name: Duplicate value: "nginx"`},
		},
		"that mounts what is not there": {
			change: settest.Pod(func(p *corev1.PodSpec) { p.Containers[0].VolumeMounts[0].Name = "data" }),
			want:   []string{`spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test.check(t, onCreate(t, settest.Changed(test.change))) })
	}
}

func TestAClaimTemplate(t *testing.T) {
	const path = "spec.volumeClaimTemplates[0]"
	tests := map[string]verdict{
		"without a name": {
			change: func(set *v1.StatefulSet) {
				set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, settest.ClaimTemplate(""))
			},
			want: []string{"spec.volumeClaimTemplates[1].metadata.name: Required value"},
		},
		"with a name that is taken": {
			change: func(set *v1.StatefulSet) {
				set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, settest.ClaimTemplate("www"))
			},
			want: []string{`spec.volumeClaimTemplates[1].metadata.name: Duplicate value: "www"`},
		},
		"without access modes": {
			change: settest.Claim(func(c *corev1.PersistentVolumeClaim) { c.Spec.AccessModes = nil }),
			want:   []string{path + ".spec.accessModes: Required value"},
		},
		"with an unknown access mode": {
			change: settest.Claim(func(c *corev1.PersistentVolumeClaim) { c.Spec.AccessModes[0] = "WriteOnly" }),
			want: []string{
				path + `.spec.accessModes: Unsupported value: "WriteOnly": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`},
		},
		"for one pod and for many": {
			change: settest.Claim(func(c *corev1.PersistentVolumeClaim) {
				c.Spec.AccessModes = append(c.Spec.AccessModes, corev1.ReadWriteOncePod)
			}),
			want: []string{path + ".spec.accessModes: Forbidden: ReadWriteOncePod cannot be combined"},
		},
		"without a size": {
			change: settest.Claim(func(c *corev1.PersistentVolumeClaim) { c.Spec.Resources.Requests = nil }),
			want:   []string{path + ".spec.resources[storage]: Required value"},
		},
		"of size zero": {
			change: settest.Claim(func(c *corev1.PersistentVolumeClaim) {
				c.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("0")
			}),
			want: []string{path + `.spec.resources[storage]: Invalid value: "0": must be greater than zero`},
		},
		"of a class and a mode that cannot be": {
			change: settest.Claim(func(c *corev1.PersistentVolumeClaim) {
				c.Spec.StorageClassName, c.Spec.VolumeMode = new("Fast"), ptr.To[corev1.PersistentVolumeMode]("Tape")
			}),
			want: []string{
				path + `.spec.storageClassName: Invalid value: "Fast"`,
				path + `.spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"`,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test.check(t, onCreate(t, settest.Changed(test.change))) })
	}
}
