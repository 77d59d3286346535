// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const chart = "../../artifacts/chart"

type values = map[string]any

func external() values {
	return values{"mode": "external", "servers": []any{"https://a:2379", "https://b:2379"}, "secret": "client"}
}

func existing() values {
	return values{"mode": "existingSecret", "secret": "mine", "caBundle": "-----BEGIN CERTIFICATE-----\nx"}
}

func TestWhatEachModeRuns(t *testing.T) {
	for sentence, tc := range map[string]struct {
		values   values
		replicas int32
		args     []string
		mounts   string
		kinds    []string
		absent   []string
	}{
		"the defaults": {
			replicas: 3, args: []string{"--tls-auto", "--etcd-tls-auto=/tmp/etcd-tls", "--shutdown-delay-duration=10s"}, mounts: "tmp",
			kinds: []string{"StatefulSet", "PodDisruptionBudget", "Secret"}, absent: []string{"Namespace", "PersistentVolumeClaim", "Certificate"},
		},
		"an embedded store": {
			values: values{"store": values{"mode": "embedded"}}, replicas: 1, args: []string{"--tls-auto", "--data-dir=/data/etcd"},
			mounts: "data tmp",
			kinds:  []string{"PersistentVolumeClaim"}, absent: []string{"StatefulSet", "PodDisruptionBudget"},
		},
		"an etcd that is there already": {
			values: values{"store": external(), "replicas": 2}, replicas: 2, mounts: "etcd tmp",
			args: []string{"--etcd-servers=https://a:2379,https://b:2379", "--etcd-cafile=/etcd/ca.crt", "--etcd-certfile=/etcd/tls.crt",
				"--etcd-keyfile=/etcd/tls.key"},
			absent: []string{"StatefulSet", "PersistentVolumeClaim"},
		},
		"a certificate that is there already": {
			values: values{"tls": existing()}, replicas: 3, mounts: "tls tmp",
			args: []string{"--tls-cert-file=/tls/tls.crt", "--tls-private-key-file=/tls/tls.key"}, absent: []string{"Certificate"},
		},
		"a certificate of cert-manager": {
			values: values{"tls": values{"mode": "certManager"}}, replicas: 3, mounts: "tls tmp",
			args: []string{"--tls-cert-file=/tls/tls.crt"}, kinds: []string{"Certificate", "Issuer"},
		},
		"a certificate of somebody whom cert-manager knows": {
			values: values{"tls": values{"mode": "certManager", "issuerRef": values{"kind": "ClusterIssuer", "name": "internal"}}}, replicas: 3,
			mounts: "tls tmp",
			kinds:  []string{"Certificate"}, absent: []string{"Issuer"},
		},
		"a certificate that is made with the release": {
			values: values{"tls": values{"mode": "helm"}}, replicas: 3, mounts: "tls tmp",
			args: []string{"--tls-cert-file=/tls/tls.crt"}, kinds: []string{"Secret"}, absent: []string{"Certificate"},
		},
		"copies of the store in a bucket": {
			values: values{"backup": values{"to": "s3://copies/sets?region=eu-1", "keep": 7, "secret": "bucket"}}, replicas: 3,
			mounts: "scratch tmp",
			args:   []string{"--backup-to=s3://copies/sets?region=eu-1", "--backup-every=6h", "--backup-keep=7", "--backup-scratch=/scratch"},
		},
		"signed copies in a bucket without TLS": {
			values:   values{"backup": values{"to": "s3://copies?endpoint=http://minio:9000", "keySecret": "keys", "insecurePlaintext": true}},
			replicas: 3, mounts: "scratch backup-key tmp",
			args: []string{"--backup-key-file=/backup-key/keys", "--backup-insecure-plaintext"},
		},
		"copies of the store on a volume": {
			values: values{"backup": values{"to": "file:///backups", "claim": "copies"}}, replicas: 3, mounts: "scratch backups tmp",
			args: []string{"--backup-to=file:///backups"},
		},
		"objects in two namespaces": {
			values: values{"objectNamespaces": []any{"shop", "bank"}}, replicas: 3, mounts: "tmp", args: []string{"--object-namespaces=shop,bank"},
		},
		"flags of the user": {
			values: values{"extraArgs": []any{"--v=4"}}, replicas: 3, mounts: "tmp", args: []string{"--v=4"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			objects := renderObjects(t, tc.values)
			var kinds []string
			for _, o := range objects {
				kinds = append(kinds, o.GetKind())
			}
			for _, kind := range tc.kinds {
				if !slices.Contains(kinds, kind) {
					t.Errorf("kinds: got %v, want %s among them", kinds, kind)
				}
			}
			for _, kind := range tc.absent {
				if slices.Contains(kinds, kind) {
					t.Errorf("kinds: got %v, want no %s", kinds, kind)
				}
			}
			server := deploymentOf(t, objects)
			if got := *server.Spec.Replicas; got != tc.replicas {
				t.Errorf("servers: got %d, want %d", got, tc.replicas)
			}
			container := server.Spec.Template.Spec.Containers[0]
			for _, arg := range tc.args {
				if !slices.Contains(container.Args, arg) {
					t.Errorf("flags: got %q, want %s among them", container.Args, arg)
				}
			}
			var mounts []string
			for i, mount := range container.VolumeMounts {
				mounts = append(mounts, mount.Name)
				if volume := server.Spec.Template.Spec.Volumes[i].Name; volume != mount.Name {
					t.Errorf("volume %d: got %s, want %s", i, volume, mount.Name)
				}
			}
			if got := strings.Join(mounts, " "); got != tc.mounts {
				t.Errorf("mounts: got %q, want %q", got, tc.mounts)
			}
		})
	}
}

func TestValuesThatAreRefused(t *testing.T) {
	for sentence, tc := range map[string]struct {
		values values
		want   string
	}{
		"an unknown name":                   {values{"stroe": values{}}, "additional properties 'stroe' not allowed"},
		"an unknown name further below":     {values{"image": values{"name": "x"}}, "additional properties 'name' not allowed"},
		"a store that is none":              {values{"store": values{"mode": "sqlite"}}, "/store/mode"},
		"an external store without address": {values{"store": values{"mode": "external", "secret": "x"}}, "/store/servers"},
		"an external store in the clear": {
			values{"store": values{"mode": "external", "secret": "x", "servers": []any{"http://a:2379"}}}, "/store/servers/0"},
		"addresses of a store that is not external": {values{"store": values{"servers": []any{"https://a:2379"}}}, "/store/servers"},
		"a Secret that nobody reads":                {values{"tls": values{"secret": "x"}}, "/tls/secret"},
		"a Secret without its authority":            {values{"tls": values{"mode": "existingSecret", "secret": "x"}}, "/tls/caBundle"},
		"copies to where nobody can":                {values{"backup": values{"to": "ftp://copies"}}, "/backup/to"},
		"copies to a volume that is not there":      {values{"backup": values{"to": "file:///backups"}}, "/backup/claim"},
		"a volume on which no copies are":           {values{"backup": values{"claim": "copies"}}, "/backup/claim"},
		"a Secret of a bucket that is not there": {
			values{"backup": values{"to": "file:///backups", "claim": "x", "secret": "y"}}, "/backup/secret"},
		"no copy that is kept":                   {values{"backup": values{"keep": 0}}, "/backup/keep"},
		"nobody who serves":                      {values{"replicas": 0}, "/replicas"},
		"a size without unit":                    {values{"store": values{"size": "16"}}, "/store/size"},
		"objects of a kind without a switch":     {values{"objects": values{"pods": true}}, "/objects"},
		"deleted objects of such a kind":         {values{"objectsDelete": values{"pods": true}}, "/objectsDelete"},
		"a right without a switch":               {values{"rights": values{"pods": false}}, "/rights"},
		"objects in a namespace that is none":    {values{"objectNamespaces": []any{"Shop"}}, "/objectNamespaces/0"},
		"objects in all namespaces, with a star": {values{"objectNamespaces": []any{"*"}}, "/objectNamespaces/0"},
		"objects in the server's own namespace":  {values{"objectNamespaces": []any{"shop", "statefulset-system"}}, "/objectNamespaces/1"},
		"objects twice in a namespace":           {values{"objectNamespaces": []any{"shop", "shop"}}, "/objectNamespaces"},
		"objects in too many namespaces":         {values{"objectNamespaces": namespaces(51)}, "/objectNamespaces"},
		"a digest that is none":                  {values{"image": values{"digest": "latest"}}, "/image/digest"},
	} {
		if _, err := render(chart, tc.values); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", sentence, err, tc.want)
		}
	}
}

func TestAnImageIsNamedByItsDigestFirst(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	for want, image := range map[string]values{
		"statefulset-apiserver:dev":              {},
		"registry.example/server:v1":             {"repository": "registry.example/server", "tag": "v1"},
		"registry.example/server@" + digest:      {"repository": "registry.example/server", "tag": "v1", "digest": digest},
		"registry.example:5000/a/server:v1-rc.1": {"repository": "registry.example:5000/a/server", "tag": "v1-rc.1"},
	} {
		server := deploymentOf(t, renderObjects(t, values{"image": image}))
		if got := server.Spec.Template.Spec.Containers[0].Image; got != want {
			t.Errorf("image of %v: got %s, want %s", image, got, want)
		}
	}
}

// The certificate that is made with the release is the one that the cluster is told of.
func TestTheCertificateOfAReleaseIsTheSameEverywhere(t *testing.T) {
	objects := renderObjects(t, values{"tls": values{"mode": "helm"}})
	var told, kept string
	for _, o := range objects {
		switch o.GetKind() {
		case "APIService":
			told, _, _ = unstructured.NestedString(o.Object, "spec", "caBundle")
		case "Secret":
			if o.GetName() != "statefulset-apiserver-serving" {
				continue
			}
			kept, _, _ = unstructured.NestedString(o.Object, "data", "ca.crt")
		}
	}
	if told == "" || told != kept {
		t.Errorf("caBundle: got %q, want the ca.crt of the Secret, %q", told, kept)
	}
}

func renderObjects(t *testing.T, given values) (objects []*unstructured.Unstructured) {
	t.Helper()
	files, err := render(chart, given)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		for document := range strings.SplitSeq(text, "\n---\n") {
			o := &unstructured.Unstructured{}
			if err := yaml.NewYAMLOrJSONDecoder(bytes.NewBufferString(document), 4096).Decode(&o.Object); err != nil {
				t.Fatalf("reading %s: %v\n%s", name, err, document)
			}
			objects = append(objects, o)
		}
	}
	return objects
}

func deploymentOf(t *testing.T, objects []*unstructured.Unstructured) *appsv1.Deployment {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() == "Deployment" {
			found := &appsv1.Deployment{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, found); err != nil {
				t.Fatal(err)
			}
			return found
		}
	}
	t.Fatal("there is no Deployment")
	return nil
}
