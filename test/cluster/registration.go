// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	registrationDir  = "registration"
	groupVersion     = "apps.statefulset.dev/v1"
	apiServiceName   = "v1.apps.statefulset.dev"
	serviceNamespace = "statefulset-system"
	overlayFile      = "kustomization.yaml"

	// Below DIR/registration, without .crt and .key.
	aggregatedCA      = "serving-ca"
	aggregatedServing = "serving"
	aggregatedClient  = "client"
)

// aggregatedIdentity is the service account to which the manifests grant rights, so that a missing
// right has the same effect here as in a pod.
func aggregatedIdentity() identity {
	return identity{
		name: "system:serviceaccount:" + serviceNamespace + ":" + aggregatedName,
		groups: []string{
			"system:serviceaccounts",
			"system:serviceaccounts:" + serviceNamespace,
			"system:authenticated",
		},
	}
}

func (l layout) registration(name string) string { return l.path(registrationDir, name) }

func (l layout) aggregatedProbe() probe {
	return probe{
		url:      l.url(aggregatedName) + "/readyz",
		caFile:   l.registration(aggregatedCA + ".crt"),
		certBase: l.registration(aggregatedClient),
	}
}

func (l layout) aggregated(r registration) component {
	return component{
		name: aggregatedName,
		exe:  r.server,
		args: append([]string{
			"--kubeconfig=" + l.registration("kubeconfig"),
			"--bind-address=" + loopback,
			"--secure-port=" + l.port(aggregatedName),
			"--tls-cert-file=" + l.registration(aggregatedServing+".crt"),
			"--tls-private-key-file=" + l.registration(aggregatedServing+".key"),
			"--data-dir=" + r.data,
		}, r.extra...),
		health: l.aggregatedProbe(),
	}
}

// registered reports whether the aggregated server has been registered with the cluster. From then
// on, status reports it when it does not run.
func (s *supervisor) registered() bool {
	_, err := os.Stat(s.registration(overlayFile))
	return err == nil
}

// writeRegistration writes the server's certificates, its kubeconfig, and the kustomize overlay
// that points the cluster to the local process.
func (s *supervisor) writeRegistration(r registration) error {
	if err := s.ensureAggregatedCerts(); err != nil {
		return err
	}
	config := s.registration("kubeconfig")
	if err := writeKubeconfig(config, s.url(apiserverName), s.crt(clusterCA), s.registration(aggregatedClient)); err != nil {
		return err
	}
	ca, err := os.ReadFile(s.registration(aggregatedCA + ".crt"))
	if err != nil {
		return fmt.Errorf("reading the serving CA: %w", err)
	}
	overlay, err := renderOverlay(s.path(registrationDir), r.base, ca, s.ports[aggregatedName])
	if err != nil {
		return err
	}
	if err := writeFile(s.registration(overlayFile), overlay); err != nil {
		return fmt.Errorf("writing the registration: %w", err)
	}
	return nil
}

// ensureAggregatedCerts creates the certificates once. The serving CA is separate from the CAs of
// the cluster, which learns it as caBundle.
func (s *supervisor) ensureAggregatedCerts() error {
	// Written last, so its presence means that all files exist.
	if _, err := os.Stat(s.registration(aggregatedClient + ".key")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	serving := identity{
		name:  aggregatedName,
		hosts: append(localHosts(), aggregatedName+"."+serviceNamespace+".svc"),
	}
	if err := writeAuthority(s.path(registrationDir), aggregatedCA, map[string]identity{aggregatedServing: serving}); err != nil {
		return err
	}
	ca, err := loadAuthority(s.crt(clusterCA), s.key(clusterCA))
	if err != nil {
		return err
	}
	client, err := ca.issue(aggregatedIdentity())
	if err != nil {
		return err
	}
	return client.write(s.registration(aggregatedClient))
}

// overlayText replaces the parts that need a cluster network: the Service points to a local port,
// and a local process replaces the pod.
const overlayText = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- {{ .Base }}
patches:
- target:
    kind: Service
    name: {{ .Name }}
  patch: |-
    - op: replace
      path: /spec
      value:
        type: ExternalName
        externalName: localhost
        ports:
        - name: https
          port: {{ .Port }}
          protocol: TCP
- target:
    kind: APIService
    name: {{ .APIService }}
  patch: |-
    - op: add
      path: /spec/caBundle
      value: {{ .CABundle }}
    - op: add
      path: /spec/service/port
      value: {{ .Port }}
{{- range .Unwanted }}
- target:
    kind: {{ .Kind }}
    namespace: {{ $.Namespace }}
  patch: |-
    $patch: delete
    apiVersion: {{ .APIVersion }}
    kind: {{ .Kind }}
    metadata:
      name: any
{{- end }}
`

// kindOf is a kind of objects in the overlay.
type kindOf struct{ APIVersion, Kind string }

// unwanted returns the kinds that only a server in a pod needs; here it is a local process.
func unwanted() []kindOf {
	return []kindOf{{"apps/v1", "Deployment"}, {"v1", "PersistentVolumeClaim"}, {"policy/v1", "PodDisruptionBudget"}}
}

func renderOverlay(dir, base string, ca []byte, port int) ([]byte, error) {
	relative, err := relativePath(dir, base)
	if err != nil {
		return nil, err
	}
	return render("overlay", overlayText, map[string]any{
		"Base":       relative,
		"Name":       aggregatedName,
		"Namespace":  serviceNamespace,
		"Unwanted":   unwanted(),
		"APIService": apiServiceName,
		"Port":       port,
		"CABundle":   base64.StdEncoding.EncodeToString(ca),
	})
}

// relativePath returns the path from dir to base, which kustomize requires for a base. It resolves
// both first, because a link would change the meaning of the path.
func relativePath(dir, base string) (string, error) {
	from, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("resolving the registration directory: %w", err)
	}
	to, err := filepath.EvalSymlinks(base)
	if err != nil {
		return "", fmt.Errorf("resolving --manifests: %w", err)
	}
	relative, err := filepath.Rel(from, to)
	if err != nil {
		return "", fmt.Errorf("finding the relative path of --manifests: %w", err)
	}
	return relative, nil
}
