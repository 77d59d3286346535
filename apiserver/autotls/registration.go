// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package autotls

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	v1 "statefulset.dev/api/apps/v1"
)

const (
	registrationName = "v1." + v1.GroupName
	// keepAnnotation, with any value, says that another writer maintains the caBundle. So does the
	// annotation with which cert-manager injects it. Servers that run while an operator adds one of
	// them must not write the old caBundle back.
	keepAnnotation        = v1.GroupName + "/keep-ca-bundle"
	certManagerAnnotation = "cert-manager.io/inject-ca-from"

	// manager is the field manager of the caBundle, the only field that the server writes. So
	// another manager that applies the rest of the object neither removes the field nor gets a
	// conflict.
	manager = "statefulset-apiserver-tls"
)

func apiServices() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
}

// registrar reads and writes the APIService of this API.
type registrar struct {
	client dynamic.Interface
}

// registration is how the host cluster reaches this server and verifies its certificate.
type registration struct {
	uid    types.UID
	host   string // the name that the host cluster expects in the certificate
	bundle []byte
	// kept is true if another writer maintains the bundle.
	kept bool
}

func (r registrar) read(ctx context.Context) (registration, error) {
	object, err := r.client.Resource(apiServices()).Get(ctx, registrationName, metav1.GetOptions{})
	if err != nil {
		return registration{}, fmt.Errorf("reading APIService %s: %w", registrationName, err)
	}
	found := registration{uid: object.GetUID()}
	name, _, _ := unstructured.NestedString(object.Object, "spec", "service", "name")
	namespace, _, _ := unstructured.NestedString(object.Object, "spec", "service", "namespace")
	if name == "" || namespace == "" {
		return registration{}, fmt.Errorf("APIService %s names no Service in spec.service, so the host cluster sends no requests to this server", registrationName)
	}
	found.host = name + "." + namespace + ".svc"
	if skips, _, _ := unstructured.NestedBool(object.Object, "spec", "insecureSkipTLSVerify"); skips {
		return registration{},
			fmt.Errorf("APIService %s has spec.insecureSkipTLSVerify, so the host cluster would not verify the server's certificate: remove the field", registrationName)
	}
	for _, name := range []string{keepAnnotation, certManagerAnnotation} {
		if _, there := object.GetAnnotations()[name]; there {
			found.kept = true
		}
	}
	text, _, _ := unstructured.NestedString(object.Object, "spec", "caBundle")
	if found.bundle, err = base64.StdEncoding.DecodeString(text); err != nil {
		return registration{}, fmt.Errorf("reading spec.caBundle of APIService %s: %w", registrationName, err)
	}
	return found, nil
}

// publish makes the host cluster trust a bundle. The APIService must be the one that was read, so
// that a deleted APIService is not recreated.
func (r registrar) publish(ctx context.Context, to registration, bundle []byte) error {
	object := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"caBundle": base64.StdEncoding.EncodeToString(bundle)},
	}}
	object.SetAPIVersion(apiServices().GroupVersion().String())
	object.SetKind("APIService")
	object.SetName(registrationName)
	object.SetUID(to.uid)
	applied, err := r.client.Resource(apiServices()).Apply(ctx, registrationName, object,
		metav1.ApplyOptions{FieldManager: manager, Force: true})
	if err != nil {
		return fmt.Errorf("writing spec.caBundle of APIService %s: %w", registrationName, err)
	}
	if text, _, _ := unstructured.NestedString(applied.Object, "spec", "caBundle"); text == "" {
		return errors.New("the host cluster dropped spec.caBundle of APIService " + registrationName)
	}
	return nil
}
