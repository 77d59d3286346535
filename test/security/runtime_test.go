//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
)

// manifests are the documents of a kustomization, by kind.
func (w *world) manifests(t *testing.T, dir string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for document := range strings.SplitSeq(w.kubectl(t, "kustomize", dir), "\n---\n") {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
			t.Fatalf("reading a manifest of %s: %v", dir, err)
		}
		found[kind.Kind] = append(found[kind.Kind], document)
	}
	return found
}

// TestTheDeploymentIsAdmittedWhereOnlyRestrictedPodsAre creates the pods of the manifests in
// namespaces that have the strictest standard.
func TestTheDeploymentIsAdmittedWhereOnlyRestrictedPodsAre(t *testing.T) {
	t.Parallel()
	w := shared(t)
	for _, dir := range []string{"../../artifacts/base", "../../artifacts/ha"} {
		ns := w.LabeledNamespace(t, "security",
			map[string]string{"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "latest"})
		documents := w.manifests(t, dir)
		if len(documents["Deployment"]) != 1 || !strings.Contains(documents["Namespace"][0], "pod-security.kubernetes.io/enforce: restricted") {
			t.Fatalf("%s: got %d deployments and namespace %s, want one, and that it enforces restricted", dir, len(documents["Deployment"]),
				documents["Namespace"])
		}
		var deployment appsv1.Deployment
		if err := yaml.UnmarshalStrict([]byte(documents["Deployment"][0]), &deployment); err != nil {
			t.Fatalf("%s: reading the deployment: %v", dir, err)
		}
		if _, err := w.Host.CoreV1().ServiceAccounts(ns).Create(t.Context(), &corev1.ServiceAccount{
			ObjectMeta: metav1.ObjectMeta{Name: deployment.Spec.Template.Spec.ServiceAccountName}}, metav1.CreateOptions{}); err != nil {
			t.Fatalf("creating a service account: %v", err)
		}
		template := deployment.Spec.Template
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "server-", Labels: template.Labels}, Spec: template.Spec}
		made, err := w.Host.CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			t.Errorf("%s: creating its pod where only restricted ones are: got %v, want that it is admitted", dir, err)
			continue
		}
		for _, container := range made.Spec.Containers {
			security := container.SecurityContext
			if security == nil || security.ReadOnlyRootFilesystem == nil || !*security.ReadOnlyRootFilesystem ||
				container.Resources.Limits.Memory().IsZero() {
				t.Errorf("%s, container %s: got %+v, limits %v, want a read-only root and a limit of memory", dir, container.Name, security,
					container.Resources.Limits)
			}
		}
		pod.Spec = *template.Spec.DeepCopy()
		pod.Spec.SecurityContext.RunAsNonRoot, pod.Spec.SecurityContext.RunAsUser = nil, new(int64(0))
		if _, err := w.Host.CoreV1().Pods(ns).Create(t.Context(), pod,
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); !apierrors.IsForbidden(err) {
			t.Errorf("%s: the same pod as root: got %v, want forbidden, or the namespace proves nothing", dir, err)
		}
		policies := documents["NetworkPolicy"]
		if len(policies) == 0 {
			t.Errorf("%s: got no NetworkPolicy, want one that selects the servers", dir)
		}
		for _, document := range policies {
			var policy networkingv1.NetworkPolicy
			if err := yaml.UnmarshalStrict([]byte(document), &policy); err != nil {
				t.Fatalf("%s: reading the network policy: %v", dir, err)
			}
			policy.Namespace = ns
			if _, err := w.Host.NetworkingV1().NetworkPolicies(ns).Create(t.Context(), &policy,
				metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
				t.Errorf("%s: creating the network policy: %v", dir, err)
			}
		}
	}
}

// embedded is the server's kubeconfig with its certificates in it.
func (w *world) embedded(t *testing.T, dir string) string {
	t.Helper()
	cert, key := w.identity(t)
	config := clientcmdapi.NewConfig()
	config.Clusters["host"] = &clientcmdapi.Cluster{Server: w.URL(lab.HostAPI), CertificateAuthorityData: w.clusterCA.pem}
	config.AuthInfos["server"] = &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	config.Contexts["host"] = &clientcmdapi.Context{Cluster: "host", AuthInfo: "server"}
	config.CurrentContext = "host"
	path := filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatalf("writing a kubeconfig: %v", err)
	}
	return path
}

// TestTheServerRunsConfined runs the server as the manifests do: as a user without rights,
// without capabilities, and where only its directories can be written.
func TestTheServerRunsConfined(t *testing.T) {
	w := shared(t)
	if os.Getuid() != 0 {
		t.Fatal("this test must run as root, in order to run the server as somebody with fewer rights")
	}
	// What the server reads and writes, for user 65532 alone.
	dir, err := os.MkdirTemp("", "confined-") //nolint:usetesting // its parents must be open to another user
	if err != nil {
		t.Fatalf("creating a directory: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := w.replica(t, "confined", map[string]string{"audit-log-path": filepath.Join(dir, "audit.log")})
	for _, flag := range []string{"kubeconfig", "etcd-cafile", "etcd-certfile", "etcd-keyfile", "tls-cert-file", "tls-private-key-file",
		"encryption-provider-config", "audit-policy-file", "tracing-config-file"} {
		program.Args = program.Args.With(flag, write(t, dir, flag, read(t, program.Args.Get(flag))))
	}
	program.Args = program.Args.With("kubeconfig", w.embedded(t, dir))
	binary, err := os.ReadFile(program.Exe)
	if err != nil {
		t.Fatalf("reading the server: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "server"), binary, 0o500); err != nil {
		t.Fatalf("copying the server: %v", err)
	}
	if err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, 65532, 65532)
	}); err != nil {
		t.Fatalf("handing the files over: %v", err)
	}
	// A mount namespace in which all but that directory is read-only.
	script := `mount --make-rprivate / && mount --bind "$0" "$0" && mount -o remount,ro,bind / && cd "$0" && ! touch /confined 2>/dev/null && ` +
		`exec setpriv --reuid 65532 --regid 65532 --clear-groups --bounding-set -all --inh-caps -all --no-new-privs "$0/server" "$@"`
	base := "https://127.0.0.1:" + program.Port()
	program.Exe, program.Args = "unshare", append(lab.Args{"--mount", "sh", "-c", script, dir}, program.Args...)
	process := w.Start(t, program)
	status := read(t, fmt.Sprintf("/proc/%d/status", process.PID()))
	for _, want := range []string{
		"Uid:\t65532\t65532\t65532\t65532", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"} {
		if !strings.Contains(status, want) {
			t.Errorf("the process: got %s, want it to have %q", status, want)
		}
	}
	if got := ask(t, w.admin(t), request{url: base + group + "/statefulsets"}); got.code != 200 {
		t.Errorf("listing sets there: got %d, %s, want 200", got.code, got.body)
	}
	process.Stop(t, time.Minute)
}

// TestOtherWorkGoesOnWithoutTheServer takes the server away, deletes a namespace with a
// set, and works in another.
func TestOtherWorkGoesOnWithoutTheServer(t *testing.T) {
	w := shared(t)
	going, other := w.Namespace(t, "security"), w.Namespace(t, "security")
	w.create(t, going, harness.NewSet("db", 2))
	w.awaitReady(t, going, "db", 2)
	w.process.Stop(t, time.Minute)

	if err := w.Host.CoreV1().Namespaces().Delete(t.Context(), going, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting a namespace: %v", err)
	}
	one, labels := int32(1), map[string]string{"app": "other"}
	builtIn := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Spec: appsv1.StatefulSetSpec{
		Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podOf("x").Spec},
	}}
	if _, err := w.Host.AppsV1().StatefulSets(other).Create(t.Context(), builtIn, metav1.CreateOptions{}); err != nil {
		t.Errorf("creating a built-in set without our server: %v", err)
	}
	harness.Eventually(t, "a built-in set of another namespace is ready without our server", func(ctx context.Context) error {
		set, err := w.Host.AppsV1().StatefulSets(other).Get(ctx, "other", metav1.GetOptions{})
		if err == nil && set.Status.ReadyReplicas != 1 {
			err = fmt.Errorf("got %+v", set.Status)
		}
		return err
	})
	if out := w.kubectl(t, "get", "pods,configmaps", "-n", other); !strings.Contains(out, "other-0") {
		t.Errorf("kubectl without our server: got %s, want the pod", out)
	}
	harness.Eventually(t, "the namespace says what it waits for", func(ctx context.Context) error {
		ns, err := w.Host.CoreV1().Namespaces().Get(ctx, going, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("got %w, want that it waits", err)
		}
		for _, condition := range ns.Status.Conditions {
			if condition.Type == corev1.NamespaceDeletionDiscoveryFailure && condition.Status == corev1.ConditionTrue &&
				strings.Contains(condition.Message, "apps.statefulset.dev") {
				return nil
			}
		}
		return fmt.Errorf("got conditions %+v", ns.Status.Conditions)
	})

	w.process = w.Start(lasting{t}, w.program) // the remedy
	begun := time.Now()
	harness.Eventually(t, "the namespace is gone with the server back", func(ctx context.Context) error {
		if _, err := w.Host.CoreV1().Namespaces().Get(ctx, going, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("got %v, want not found", err) //nolint:errorlint // it may be nil
		}
		return nil
	})
	t.Logf("the namespace was gone %s after the server was back", time.Since(begun).Round(time.Millisecond))
}
