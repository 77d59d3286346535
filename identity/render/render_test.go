// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/yaml"

	v1 "statefulset.dev/api/apps/v1"
)

// source is that of a set db with five members.
func source(identity v1.MemberIdentity) Source {
	return Source{Identity: &identity, Name: "db", Namespace: "shop", ServiceName: "peers", Replicas: 5, Selected: []string{"app"}}
}

func read[T any](t *testing.T, text string) *T {
	t.Helper()
	into := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatal(err)
	}
	return into
}

const head = "metadata: {labels: {app: db}}\n"

func TestPod(t *testing.T) {
	values := map[string]string{"SIZE": "small", "RAW": "a$(SET)$b"}
	for sentence, c := range map[string]struct {
		identity       v1.MemberIdentity
		template, want string
	}{
		"a container gets what it names, in front of its own": {
			template: "spec: {containers: [{name: a, args: ['--id=$(IDENTITY)', '$(hostname)'], env: [{name: X, value: '$(ORDINAL)/$(DNS_NAME)'}]}, {name: b}]}",
			want:     "spec: {containers: [{name: a, args: ['--id=$(IDENTITY)', '$(hostname)'], env: [{name: DNS_NAME, value: db-2.peers.shop.svc}, {name: IDENTITY, value: db-2}, {name: ORDINAL, value: '2'}, {name: X, value: '$(ORDINAL)/$(DNS_NAME)'}]}, {name: b}]}",
		},
		"an init container does, too, for its command and the path of a mount": {
			template: "spec: {containers: [], initContainers: [{name: a, command: ['$(SET)'], volumeMounts: [{name: d, mountPath: /d, subPathExpr: '$(NAMESPACE)'}]}]}",
			want:     "spec: {containers: [], initContainers: [{name: a, command: ['$(SET)'], volumeMounts: [{name: d, mountPath: /d, subPathExpr: '$(NAMESPACE)'}], env: [{name: NAMESPACE, value: shop}, {name: SET, value: db}]}]}",
		},
		"what a container defines it does not get": {
			template: "spec: {containers: [{name: a, args: ['$(ORDINAL)'], env: [{name: ORDINAL, value: mine}]}]}",
			want:     "spec: {containers: [{name: a, args: ['$(ORDINAL)'], env: [{name: ORDINAL, value: mine}]}]}",
		},
		"what is always to be there comes first": {
			identity: v1.MemberIdentity{Env: []string{"SET", "IDENTITY"}},
			template: "spec: {containers: [{name: a, args: ['$(ORDINAL) $$(SERVICE)']}]}",
			want:     "spec: {containers: [{name: a, args: ['$(ORDINAL) $$(SERVICE)'], env: [{name: SET, value: db}, {name: IDENTITY, value: db-2}, {name: ORDINAL, value: '2'}]}]}",
		},
		"nobody looks up names in the value of a parameter": {
			identity: v1.MemberIdentity{Values: values},
			template: "spec: {priorityClassName: $(RAW), containers: [{name: a, args: ['$(RAW)']}]}",
			want:     "spec: {priorityClassName: a$(SET)$b, containers: [{name: a, args: ['$(RAW)'], env: [{name: RAW, value: 'a$$(SET)$$b'}]}]}",
		},
		"REPLICAS is read from an annotation": {
			template: "spec: {containers: [{name: a, args: ['$(REPLICAS)']}]}",
			want:     "metadata: {annotations: {apps.statefulset.dev/replicas: '5'}}\nspec: {containers: [{name: a, args: ['$(REPLICAS)'], env: [{name: REPLICAS, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: \"metadata.annotations['apps.statefulset.dev/replicas']\"}}}]}]}",
		},
		"a volume that shows the annotation has it, too": {
			template: "spec: {containers: [], volumes: [{name: d, downwardAPI: {items: [{path: 'n', fieldRef: {fieldPath: \"metadata.annotations['apps.statefulset.dev/replicas']\"}}]}}]}",
			want:     "metadata: {annotations: {apps.statefulset.dev/replicas: '5'}}\nspec: {containers: [], volumes: [{name: d, downwardAPI: {items: [{path: 'n', fieldRef: {fieldPath: \"metadata.annotations['apps.statefulset.dev/replicas']\"}}]}}]}",
		},
		"an annotation that nobody reads goes": {
			template: "metadata: {annotations: {apps.statefulset.dev/replicas: '7', note: x}}\nspec: {containers: []}",
			want:     "metadata: {annotations: {note: x}}\nspec: {containers: []}",
		},
		"everywhere else the controller looks up names": {
			identity: v1.MemberIdentity{Values: values},
			template: "metadata: {annotations: {id: '$(IDENTITY)', '$(SET)': x}}\nspec: {nodeSelector: {'n': node-$(ORDINAL)}, containers: [{name: a, image: 'db:$(SIZE)', readinessProbe: {exec: {command: [check, $(IDENTITY)]}}, envFrom: [{configMapRef: {name: $(SET)-env}}]}], volumes: [{name: c, secret: {secretName: $(IDENTITY)-tls}}]}",
			want:     "metadata: {annotations: {id: db-2, '$(SET)': x}}\nspec: {nodeSelector: {'n': node-2}, containers: [{name: a, image: 'db:small', readinessProbe: {exec: {command: [check, db-2]}}, envFrom: [{configMapRef: {name: db-env}}]}], volumes: [{name: c, secret: {secretName: db-2-tls}}]}",
		},
		"only what it knows it touches": {
			template: "metadata: {annotations: {a: '$$(SET) $$(other) $$ $(other) $SET $( $(SET', b: $$$(SET)}}\nspec: {containers: []}",
			want:     "metadata: {annotations: {a: '$(SET) $$(other) $$ $(other) $SET $( $(SET', b: $$(SET)}}\nspec: {containers: []}",
		},
		"transforms keep the type of what they give": {
			identity: v1.MemberIdentity{Transforms: []v1.Transform{
				{Path: "/spec/containers/0/ports/0/containerPort", Expression: "8000 + ORDINAL"},
				{Path: "/spec/terminationGracePeriodSeconds", Expression: "ORDINAL == 0 ? 60 : 30"},
				{Path: "/metadata/annotations/example.test~1weight", Expression: "string(ORDINAL + 1)"},
				{Path: "/spec/containers/0/resources", Expression: "{'requests': {'memory': ORDINAL == 2 ? '2Gi' : '1Gi', 'cpu': 1}}"},
				{Path: "/spec/tolerations/-", Expression: "{'key': SET.upperAscii(), 'operator': 'Exists'}"},
				{Path: "/metadata/annotations/more",
					Expression: "SET + '/' + string(ORDINAL * 2) + '%s %d'.format([base64.encode(bytes(SET)), ORDINAL]).lowerAscii()"},
				{Path: "/metadata/annotations/parts", Expression: "IDENTITY.split('-').map(p, p.replace('d', 'e')).join('+')"},
				{Path: "/spec/hostUsers", Expression: "ORDINAL > 1"},
				{Path: "/spec/schedulerName", Expression: "regex.replace(IDENTITY, '^(.*)-', 's-')"},
				{Path: "/spec/containers/0/args",
					Expression: "['--id', base64.encode(b'x'), '$(IDENTITY)'] + lists.range(2).map(i, string(math.greatest(i, 1)))"},
			}},
			template: "spec: {containers: [{name: a, ports: [{containerPort: 80}]}]}",
			want:     "metadata: {annotations: {example.test/weight: '3', more: db/4zgi= 2, parts: eb+2}}\nspec: {hostUsers: true, schedulerName: s-2, tolerations: [{key: DB, operator: Exists}], terminationGracePeriodSeconds: 30, containers: [{name: a, ports: [{containerPort: 8002}], resources: {requests: {memory: 2Gi, cpu: 1}}, args: ['--id', eA==, '$(IDENTITY)', '1', '1'], env: [{name: IDENTITY, value: db-2}]}]}",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			template, want := read[corev1.PodTemplateSpec](t, c.template), read[corev1.PodTemplateSpec](t, c.want)
			before := template.DeepCopy()
			got, wrong := New(source(c.identity)).Pod(template, Member{Ordinal: 2})
			if wrong != nil {
				t.Fatal(wrong)
			}
			if !equality.Semantic.DeepEqual(got, want) {
				t.Errorf("got\n%s\nwant\n%s", yamlOf(t, got), yamlOf(t, want))
			}
			if !equality.Semantic.DeepEqual(template, before) {
				t.Errorf("the template became\n%s\nfrom\n%s", yamlOf(t, template), yamlOf(t, before))
			}
		})
	}
}

func yamlOf(t *testing.T, value any) string {
	t.Helper()
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAnOverrideReplacesAValue(t *testing.T) {
	r := New(source(v1.MemberIdentity{Values: map[string]string{"SIZE": "small"}}))
	template := read[corev1.PodTemplateSpec](t, "spec: {priorityClassName: $(SIZE), schedulerName: '$(OTHER)', containers: []}")
	got, wrong := r.Pod(template, Member{Values: map[string]string{"SIZE": "big", "OTHER": "x"}})
	if wrong != nil || got.Spec.PriorityClassName != "big" || got.Spec.SchedulerName != "$(OTHER)" {
		t.Errorf("got %+v, %v; want priorityClassName big, and schedulerName as it was", got, wrong)
	}
}

func TestWithoutAServiceItsNamesAreUnknown(t *testing.T) {
	s := source(v1.MemberIdentity{})
	s.ServiceName = ""
	template := read[corev1.PodTemplateSpec](t, "spec: {schedulerName: $(DNS_NAME), containers: []}")
	if got, wrong := New(s).Pod(template, Member{}); wrong != nil || got.Spec.SchedulerName != "$(DNS_NAME)" {
		t.Errorf("got %+v, %v; want the name untouched", got, wrong)
	}
}

func TestClaim(t *testing.T) {
	claim := read[corev1.PersistentVolumeClaim](t,
		"metadata: {name: data, annotations: {of: $(IDENTITY), node: n$(ORDINAL)}}\nspec: {volumeName: 'pv-$(SET)-$(ORDINAL)', resources: {requests: {storage: 1Gi}}}")
	want := read[corev1.PersistentVolumeClaim](t,
		"metadata: {name: data, annotations: {of: db-3, node: n3}}\nspec: {volumeName: pv-db-3, resources: {requests: {storage: 1Gi}}}")
	got, wrong := New(source(v1.MemberIdentity{})).Claim(0, claim, Member{Ordinal: 3})
	if wrong != nil || !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("got\n%s, %v; want\n%s", yamlOf(t, got), wrong, yamlOf(t, want))
	}
	claim.Annotations["of"] = "$(REPLICAS)"
	if _, wrong := New(source(v1.MemberIdentity{})).Claim(1, claim, Member{}); wrong == nil ||
		wrong.Error() != "volumeClaimTemplates[1].metadata.annotations[of]: "+changes {
		t.Errorf("got %v, want REPLICAS refused", wrong)
	}
}

func TestWhatCannotBeRendered(t *testing.T) {
	long := strings.Repeat("x", 4096)
	for sentence, c := range map[string]struct {
		transforms []v1.Transform
		template   string
		want       string
	}{
		"a name that is not declared": {
			one("/spec/priority", "ORDINAL + foo"), "", "identity.transforms[0]: 1:11: undeclared reference to 'foo'"},
		"a parameter that changes": {one("/spec/priority", "REPLICAS + 1"), "",
			"identity.transforms[0]: REPLICAS changes while pods run; use it in env, args, command or objectTemplates"},
		"what changes, in a string": {nil, "spec: {nodeSelector: {'n': $(REPLICAS)}, containers: []}",
			"template.spec.nodeSelector[n]: changes while pods run; use it in env, args, command or objectTemplates"},
		"a hostname": {
			one("/spec/hostname", "'x'"), "", "identity.transforms[0]: /spec/hostname belongs to the member's identity"},
		"a label of the selector": {
			one("/metadata/labels/app", "'x'"), "", "identity.transforms[0]: /metadata/labels/app belongs to the member's identity"},
		"what holds the hostname": {
			one("/spec", "{}"), "", "identity.transforms[0]: /spec contains a field that belongs to the member's identity; use the path of another field in it"},
		"a path that is none": {
			one("spec/priority", "1"), "", "identity.transforms[0]: must be a JSON pointer from the template, such as /spec/priority"},
		"an escape that is none":     {one("/spec/~2", "1"), "", "identity.transforms[0]: ~ must be followed by 0, for ~, or 1, for /"},
		"an entry that is not there": {one("/spec/containers/1/image", "'x'"), "", "identity.transforms[0]: there is no entry 1: the length of the list is 1"},
		"an index that is none": {
			one("/spec/containers/01/image", "'x'"), "", `identity.transforms[0]: "01" is not an index of a list or -`},
		"a field that is not there": {
			one("/spec/foo", "1"), "", `identity.transforms[0]: /spec/foo: strict decoding error: unknown field "spec.foo"`},
		"a value of another type": {one("/spec/priority", "'high'"), "",
			`identity.transforms[0]: /spec/priority: json: cannot unmarshal string into Go struct field PodSpec.spec.priority of type int32`},
		"a field in a text": {one("/spec/schedulerName/x", "1"), "spec: {schedulerName: a, containers: []}",
			`identity.transforms[0]: "x" is in a value that is not a map or a list`},
		"an index beyond a list": {one("/spec/priority", "[1][ORDINAL]"), "", "identity.transforms[0]: 1:4: index out of bounds: 7"},
		"a division by zero":     {one("/spec/priority", "1 / (ORDINAL - 7)"), "", "identity.transforms[0]: 1:3: division by zero"},
		"nothing": {one("/spec/priority", "null"), "",
			"identity.transforms[0]: gives a value of type null_type; only strings, numbers, booleans, and lists and maps of these are allowed"},
		"a number without end": {one("/spec/priority", "1.0 / 0.0"), "", "identity.transforms[0]: gives a number that is not finite"},
		"keys that are no text": {
			one("/metadata/annotations", "{1: 'a'}"), "", "identity.transforms[0]: gives a map with a key of type int; keys must be strings"},
		"the order of a map": {one("/spec/schedulerName", "{'a': 1, 'b': 2}.map(k, k)[0]"), "",
			"identity.transforms[0]: 1:1: only lists can be iterated; map(string, int) has no order"},
		"what costs too much": {one("/spec/schedulerName", "lists.range(1000).map(i, lists.range(1000).map(j, 'x').join()).join()"), "",
			"identity.transforms[0]: may cost "},
		"a long expression": {one("/spec/schedulerName", "'"+long+"'"), "", "identity.transforms[0]: must have at most 4096 bytes"},
		"a long result": {one("/spec/schedulerName", "lists.range(80).map(i, '"+long[:900]+"').join()"), "",
			"identity.transforms[0]: 1:932: would create a string of 65700 bytes, at most 65536 are allowed"},
		"too many transforms": {make([]v1.Transform, 33), "", "identity.transforms: must be at most 32"},
		"a long string": {nil, "spec: {schedulerName: '" + strings.Repeat("$(BIG)", 17) + "', containers: []}",
			"template.spec.schedulerName: has more than 65536 bytes after its parameters are replaced"},
	} {
		t.Run(sentence, func(t *testing.T) {
			text := c.template
			if text == "" {
				text = head + "spec: {containers: [{name: a}]}"
			}
			r := New(source(v1.MemberIdentity{Transforms: c.transforms, Values: map[string]string{"BIG": long}}))
			_, wrong := r.Pod(read[corev1.PodTemplateSpec](t, text), Member{Ordinal: 7})
			if wrong == nil || !strings.HasPrefix(wrong.Error(), c.want) {
				t.Errorf("got %v, want %s", wrong, c.want)
			}
		})
	}
}

func one(path, expression string) []v1.Transform {
	return []v1.Transform{{Path: path, Expression: expression}}
}

func TestOneExpressionAfterTheOtherCosts(t *testing.T) {
	var transforms []v1.Transform
	for range 32 {
		transforms = append(transforms, v1.Transform{Path: "/spec/schedulerName", Expression: "lists.range(600).map(i, 'x').join()"})
	}
	errs := New(source(v1.MemberIdentity{Transforms: transforms})).Check()
	if len(errs) == 0 || len(errs) == len(transforms) {
		t.Errorf("got %d errors (%v), want that the first expressions are let through, and the last are not", len(errs), errs)
	}
}

func TestTransformsSetNoReservedAnnotations(t *testing.T) {
	of := source(v1.MemberIdentity{Transforms: []v1.Transform{
		{Path: "/metadata/annotations",
			Expression: `{"a": "1", "apps.statefulset.dev/in-place": "forged", "apps.statefulset.dev/override": "forged"}`},
	}})
	template := read[corev1.PodTemplateSpec](t, "metadata: {annotations: {apps.statefulset.dev/override: hash}}\nspec: {containers: []}")
	got, wrong := New(of).Pod(template, Member{})
	if wrong != nil {
		t.Fatal(wrong)
	}
	if want := "map[a:1 apps.statefulset.dev/override:hash]"; fmt.Sprint(got.Annotations) != want {
		t.Errorf("got annotations %v, want %s", got.Annotations, want)
	}
	for path, want := range map[string]string{
		"/metadata/annotations/apps.statefulset.dev~1in-place": "apps.statefulset.dev/in-place",
		"/metadata/labels/apps.statefulset.dev~1set":           "apps.statefulset.dev/set",
		"/metadata/annotations/example.com~1a":                 "",
		"/spec/nodeSelector/apps.statefulset.dev~1a":           "",
		"/metadata/annotations":                                "",
	} {
		if got := ReservedKey(path); got != want {
			t.Errorf("%s: got reserved key %q, want %q", path, got, want)
		}
	}
}
