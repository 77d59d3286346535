//go:build kubectl

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package doctor breaks a cluster in the ways that the plugin's doctor knows, one
// after the other, and looks at what it says. It needs a cluster of its own.
package doctor

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"

	"statefulset.dev/cmd/kubectl-sts/doctor"
	"statefulset.dev/test/harness"
)

// patience is how long the cluster may take to notice what was done to it.
const patience = 2 * time.Minute

type ward struct{ *harness.Cluster }

func openWard(t *testing.T) ward {
	t.Helper()
	cluster, err := harness.Open()
	if err != nil {
		t.Fatal(err)
	}
	return ward{cluster}
}

// diagnosis is what doctor prints, and how it ends.
func (w ward) diagnosis(ctx context.Context, args ...string) (string, error) {
	flags := genericclioptions.NewConfigFlags(false)
	kubeconfig := w.Kubeconfig()
	flags.KubeConfig = &kubeconfig
	flags.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config.QPS = -1 // as the plugin does
		return config
	}
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	command := doctor.NewCommand(flags, streams)
	command.SetArgs(args)
	err := command.ExecuteContext(ctx)
	return out.String(), err
}

// until asks doctor until it says all of want, and fails with its last words.
func (w ward) until(t *testing.T, wantErr string, want ...string) {
	t.Helper()
	var last string
	err := wait.PollUntilContextTimeout(t.Context(), time.Second, patience, true, func(ctx context.Context) (bool, error) {
		said, err := w.diagnosis(ctx, "--all-namespaces")
		if ctx.Err() == nil { // otherwise it had no time
			last = fmt.Sprintf("%s\nerror: %v", said, err)
		}
		if (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
			return false, nil
		}
		for _, part := range want {
			if !strings.Contains(said, part) {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		t.Fatalf("got %s\nwant error %q and %q", last, wantErr, want)
	}
}

func (w ward) register(t *testing.T) {
	t.Helper()
	w.MustKubectl(t, "", "apply", "--kustomize="+w.Path("registration"))
}

func TestDoctor(t *testing.T) {
	w := openWard(t)
	healthy := func(t *testing.T) {
		t.Helper()
		w.until(t, "", "ok    APIService v1.apps.statefulset.dev: is available", "ok    serving certificate", "is answered",
			"all rights that it needs", "is in force", "leads\n", " 0 failures")
	}
	t.Run("a healthy cluster has no failures", healthy)

	t.Run("a refused set is named with the cause and the commands", func(t *testing.T) {
		w.MustKubectl(t, "", "create", "namespace", "full")
		w.MustKubectl(t, "", "-n", "full", "create", "quota", "none", "--hard=pods=0")
		w.MustKubectl(t, set("full"), "apply", "-f", "-")
		w.until(t, "1 failures", "FAIL  set full/db: HostRefused", "exceeded quota", "kubectl -n full get resourcequota,limitrange")
		w.MustKubectl(t, "", "delete", "namespace", "full")
		healthy(t)
	})
	t.Run("a right that was taken away is named", func(t *testing.T) {
		w.MustKubectl(t, "", "patch", "clusterrole", "statefulset-controller", "--type=json", "-p",
			`[{"op":"replace","path":"/rules/0/verbs","value":["get","list","watch"]}]`)
		w.until(t, "1 failures", "it is not allowed to create pods, patch pods, delete pods", "kubectl apply -k artifacts/base")
		w.register(t)
		healthy(t)
	})
	t.Run("optional rights that were taken away are named with what is lost", func(t *testing.T) {
		for _, role := range []string{"statefulset-apiserver-reads", "statefulset-controller-eviction"} {
			w.MustKubectl(t, "", "patch", "clusterrole", role, "--type=json", "-p", `[{"op":"replace","path":"/rules","value":[]}]`)
		}
		w.until(t, "", "warn  optional rights rights.reads: the server is not allowed to list services, watch services, get storageclasses.storage.k8s.io",
			"sets get no warning about their serviceName", "kubectl apply -k artifacts/rights/reads  # or rights.reads=true with Helm",
			"info  optional rights rights.eviction: the server is not allowed to create pods/eviction: sets with spec.disruption.method: Evict report MissingRight", " 0 failures")
		w.register(t)
		healthy(t)
	})
	t.Run("a foreign authority is told from an unreachable server", func(t *testing.T) {
		foreign, _, err := cert.GenerateSelfSignedCertKey("elsewhere", nil, nil)
		if err != nil {
			t.Fatalf("making a certificate: %v", err)
		}
		w.MustKubectl(t, "", "patch", "apiservice", "v1.apps.statefulset.dev", "--type=merge", "-p",
			fmt.Sprintf(`{"spec":{"caBundle":%q}}`, base64.StdEncoding.EncodeToString(foreign)))
		// Only from 1.36 on does the cluster look at the certificate before it calls the APIService available.
		w.until(t, "failures", "FAIL  serving certificate: the cluster does not accept it",
			"FAIL  a request through the cluster to apps.statefulset.dev/v1")
		w.register(t)
		healthy(t)
	})
	t.Run("a server that is gone is noticed, and that nobody controls", func(t *testing.T) {
		w.stopServer(t)
		w.until(t, "failures", "FAIL  APIService v1.apps.statefulset.dev: is not available", "FAIL  controller", "no controller leads")
	})
	t.Run("an API that is not registered says how to register it", func(t *testing.T) {
		w.MustKubectl(t, "", "annotate", "apiservice", "v1.apps.statefulset.dev", "apps.statefulset.dev/allow-delete=yes")
		w.MustKubectl(t, "", "delete", "apiservice", "v1.apps.statefulset.dev")
		w.until(t, "failures", "FAIL  APIService v1.apps.statefulset.dev: is not registered", "kubectl apply -k artifacts/base")
	})
}

func TestDoctorWithoutACluster(t *testing.T) {
	w := ward{&harness.Cluster{Dir: t.TempDir()}}
	config := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\"}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n"
	if err := os.WriteFile(w.Kubeconfig(), []byte(config), 0o600); err != nil {
		t.Fatalf("writing a kubeconfig: %v", err)
	}
	said, err := w.diagnosis(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the cluster does not answer") || said != "" {
		t.Errorf("got output %q and error %v, want none and that the cluster does not answer", said, err)
	}
}

// stopServer ends the registered server.
func (w ward) stopServer(t *testing.T) {
	t.Helper()
	pid := w.Component(t, "statefulset-apiserver").PID
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatalf("stopping the server, pid %d: %v", pid, err)
	}
}

func set(namespace string) string {
	return `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet","metadata":{"name":"db","namespace":"` + namespace + `"},
"spec":{"serviceName":"db","selector":{"matchLabels":{"app":"db"}},"template":{"metadata":{"labels":{"app":"db"}},
"spec":{"containers":[{"name":"db","image":"db"}]}}}}`
}
