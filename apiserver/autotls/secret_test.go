// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package autotls

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"statefulset.dev/store/issuer"
)

const systemNamespace = "statefulset-system"

func keeperOf(objects ...runtime.Object) (keeper, *fake.Clientset) {
	host := fake.NewClientset(objects...)
	return keeper{namespace: systemNamespace, core: host.CoreV1()}, host
}

func secretOf(data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: secretName, UID: "one", ResourceVersion: "7"}, Data: data}
}

// The server may not create the Secret, so whoever reads the message has to.
func TestASecretThatIsOfNoUseSaysWhatToDo(t *testing.T) {
	for sentence, tc := range map[string]struct {
		objects []runtime.Object
		want    string
	}{
		"a missing Secret": {nil, "kubectl --namespace statefulset-system create secret generic statefulset-apiserver-ca"},
		"a spoiled Secret": {[]runtime.Object{secretOf(map[string][]byte{"ca.crt": []byte("nothing")})},
			`kubectl --namespace statefulset-system patch secret statefulset-apiserver-ca --type=json --patch='[{"op":"remove","path":"/data"}]'`},
		"keys without data": {
			[]runtime.Object{secretOf(map[string][]byte{"ca.crt": nil, "ca.key": nil})}, "patch secret statefulset-apiserver-ca"},
	} {
		k, host := keeperOf(tc.objects...)
		if _, err := k.read(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", sentence, err, tc.want)
		}
		for _, action := range host.Actions() {
			if action.GetVerb() != "get" {
				t.Errorf("%s: got %s of %s, want that nothing is written", sentence, action.GetVerb(), action.GetResource().Resource)
			}
		}
	}
}

// An empty Secret is filled by an update of the version that was read, so that of several replicas
// one wins.
func TestAnEmptySecretIsFilledByCompareAndSwap(t *testing.T) {
	made, err := issuer.New(authorityName, begin(), begin().AddDate(1, 0, 0).Sub(begin()))
	if err != nil {
		t.Fatal(err)
	}
	k, host := keeperOf(secretOf(nil))
	held, err := k.read(t.Context())
	if err != nil || !held.isEmpty() || len(held.authorities) > 0 {
		t.Fatalf("reading an empty Secret: got %d authorities and %v, want none and no error", len(held.authorities), err)
	}
	var sent *corev1.Secret
	refuse := true
	host.PrependReactor("update", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		sent = action.(clienttesting.UpdateAction).GetObject().(*corev1.Secret)
		if refuse {
			return true, nil, apierrors.NewConflict(corev1.Resource("secrets"), secretName, nil)
		}
		return false, nil, nil
	})
	if err := k.write(t.Context(), held, []issuer.Authority{made}); !apierrors.IsConflict(err) {
		t.Errorf("filling a Secret that has changed: got %v, want a conflict", err)
	}
	if sent.ResourceVersion != "7" || sent.UID != "one" {
		t.Errorf("the update: got resourceVersion %q and UID %q, want those that were read, 7 and one", sent.ResourceVersion, sent.UID)
	}
	refuse = false
	if err := k.write(t.Context(), held, []issuer.Authority{made}); err != nil {
		t.Fatalf("filling the Secret: %v", err)
	}
	if held, err = k.read(t.Context()); err != nil || held.isEmpty() || len(held.authorities) != 1 || !held.authorities[0].Is(made) {
		t.Errorf("reading what was filled: got %d authorities and %v, want the one", len(held.authorities), err)
	}
}
