// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// generating is a template of a Secret for which texts are drawn.
func generating(rest string, keys ...v1.GeneratedKey) v1.ObjectTemplate {
	o := objectTemplate("sst", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"$(IDENTITY)-sst"}`+rest+`}`)
	o.Generate = keys
	return o
}

func TestGeneratedKeys(t *testing.T) {
	password := v1.GeneratedKey{Key: "password", Bytes: 24}
	many := make([]v1.GeneratedKey, 17)
	for i := range many {
		many[i] = v1.GeneratedKey{Key: fmt.Sprintf("k%d", i), Bytes: 16}
	}
	configMap := generating("", password)
	configMap.Object.Raw = []byte(strings.Replace(string(configMap.Object.Raw), "Secret", "ConfigMap", 1))
	const at = "spec.objectTemplates[0]."
	for sentence, test := range map[string]struct {
		template v1.ObjectTemplate
		want     string
	}{
		"one":                       {generating("", password), ""},
		"of the most and the least": {generating("", v1.GeneratedKey{Key: "a", Bytes: 16}, v1.GeneratedKey{Key: "b", Bytes: 64}), ""},
		"as many as there may be":   {generating("", many[:16]...), ""},
		"of an immutable Secret":    {generating(`,"immutable":true`, password), ""},
		"of an opaque Secret":       {generating(`,"type":"Opaque"`, password), ""},
		"of a password":             {generating(`,"type":"kubernetes.io/basic-auth"`, password), ""},
		"too many":                  {generating("", many...), at + "generate: Too many: 17: must have at most 16 items"},
		"one twice":                 {generating("", password, password), at + `generate[1]: Duplicate value: {"key":"password"`},
		"too few bytes": {
			generating("", v1.GeneratedKey{Key: "a", Bytes: 15}), at + "generate[0].bytes: Invalid value: 15: must be from 16 to 64"},
		"too many bytes": {
			generating("", v1.GeneratedKey{Key: "a", Bytes: 65}), at + "generate[0].bytes: Invalid value: 65: must be from 16 to 64"},
		"no bytes": {generating("", v1.GeneratedKey{Key: "a"}), at + "generate[0].bytes: Required value"},
		"no key":   {generating("", v1.GeneratedKey{Bytes: 16}), at + "generate[0].key: Required value"},
		"a key that no Secret can have": {generating("", v1.GeneratedKey{Key: "a/b", Bytes: 16}),
			at + `generate[0].key: Invalid value: "a/b": a valid config key must consist of`},
		"of a ConfigMap": {configMap, at + "generate: Forbidden: only allowed for objects of apiVersion v1 and kind Secret"},
		"beside data": {generating(`,"data":{"a":"aGk="}`, password),
			at + "object.data: Forbidden: every user who can read the set could read it; use generate, or create the Secret yourself"},
		"beside texts": {generating(`,"stringData":{"a":"hi"}`, password),
			at + "object.stringData: Forbidden: every user who can read the set could read it; use generate, or create the Secret yourself"},
		"of a certificate": {generating(`,"type":"kubernetes.io/tls"`, password),
			at + `object.type: Unsupported value: "kubernetes.io/tls": supported values: "Opaque", "kubernetes.io/basic-auth"`},
		"of a password that is called otherwise": {generating(`,"type":"kubernetes.io/basic-auth"`, v1.GeneratedKey{Key: "pass", Bytes: 16}),
			at + `generate: Required value: a Secret of type kubernetes.io/basic-auth needs a key "username" or "password"`},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) { s.ObjectTemplates = []v1.ObjectTemplate{test.template} }))
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			verdict{want: want}.check(t, onCreate(t, set))
		})
	}
}

func TestNoKeyIsAddedToASecretThatIsThere(t *testing.T) {
	password, token := v1.GeneratedKey{Key: "password", Bytes: 24}, v1.GeneratedKey{Key: "token", Bytes: 24}
	renamed := generating("", password, token)
	renamed.Name = "other"
	elsewhere := generating("", password, token)
	elsewhere.Object.Raw = []byte(strings.Replace(string(elsewhere.Object.Raw), "-sst", "-sst-v2", 1))
	longer := generating("", v1.GeneratedKey{Key: "password", Bytes: 32})
	const refused = `generate[1]: Forbidden: key "token" cannot be added to Secrets that exist without it; give the Secret another name`
	for sentence, test := range map[string]struct {
		after v1.ObjectTemplate
		want  string
	}{
		"added":                                 {generating("", password, token), refused},
		"added under another name of template":  {renamed, refused},
		"added with another name of the Secret": {elsewhere, ""},
		"longer, which changes nothing":         {longer, ""},
		"removed, which stays":                  {generating(""), ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			with := func(template v1.ObjectTemplate) *v1.StatefulSet {
				return settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) { s.ObjectTemplates = []v1.ObjectTemplate{template} }))
			}
			got := ""
			if errs := ValidateUpdate(nil, with(test.after), with(generating("", password))); len(errs) > 0 {
				got = errs[0].Error()
			}
			if test.want == "" && got != "" || !strings.HasSuffix(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestGeneratedSecretsOutliveClaims(t *testing.T) {
	claims := settest.Valid().Spec.VolumeClaimTemplates
	drawn, plain := generating("", v1.GeneratedKey{Key: "password", Bytes: 24}), generating("")
	for sentence, test := range map[string]struct {
		claims   []corev1.PersistentVolumeClaim
		template v1.ObjectTemplate
		want     []string
	}{
		"drawn, with claims": {
			claims, drawn, []string{"spec.objectTemplates[0].retention: Forbidden: a generated Secret must outlive the claims; use Retain"}},
		"drawn, without claims":      {nil, drawn, nil},
		"nothing drawn, with claims": {claims, plain, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			test.template.Retention = &v1.ObjectRetention{WhenScaled: v1.DeleteObjectRetentionPolicyType}
			set := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) {
				s.ObjectTemplates, s.VolumeClaimTemplates = []v1.ObjectTemplate{test.template}, test.claims
				s.Template.Spec.Containers[0].VolumeMounts = nil
			}))
			verdict{want: test.want}.check(t, onCreate(t, set))
			before := set.DeepCopy()
			before.Spec.VolumeClaimTemplates = nil
			set.Spec.VolumeClaimUpdate = &v1.StatefulSetVolumeClaimUpdate{Policy: v1.InPlaceVolumeClaimUpdatePolicyType}
			before.Spec.VolumeClaimUpdate = set.Spec.VolumeClaimUpdate
			got := ""
			for _, err := range ValidateUpdate(nil, set, before) {
				got += err.Error()
			}
			if want := strings.Join(test.want, ""); got != want {
				t.Errorf("claim templates are added later: got %q, want %q", got, want)
			}
		})
	}
}
