// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
)

// Whatever is served with the gate, CBOR is read before it is refused.
func TestBodiesOfCBORAreCounted(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CBORServingAndStorage, true)
	s := Start(t)
	transport, err := rest.HTTPClientFor(s.Loopback)
	if err != nil {
		t.Fatal(err)
	}
	// A list of empty objects, in an object, as long as a body may be.
	body := "\xa1\x61a\x9f" + strings.Repeat("\xa0", bodyLimit-10) + "\xff"
	methods := map[string]string{"application/apply-patch+cbor": http.MethodPatch, "application/cbor": http.MethodDelete}
	for contentType, method := range methods {
		req, err := http.NewRequestWithContext(t.Context(), method, s.Loopback.Host+setsPath+"/web?fieldManager=test", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", contentType)
		answer, err := transport.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		said, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(said), "limit is 100000") {
			t.Errorf("%s of %s: got %d and %.300s, want 413 and the limit", method, contentType, answer.StatusCode, said)
		}
	}
}
