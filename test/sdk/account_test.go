//go:build sdk

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"encoding/json"
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const account = "developer"

// token makes an account that may work with sets in a namespace, and a token of it.
func token(t *testing.T, namespace string) string {
	t.Helper()
	if _, err := suite.Host.CoreV1().ServiceAccounts(namespace).Create(t.Context(),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating an account: %v", err)
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: account}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"apps.statefulset.dev"}, Resources: []string{"statefulsets"},
			Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"}},
		{APIGroups: []string{"apps.statefulset.dev"}, Resources: []string{"statefulsets/scale"}, Verbs: []string{"get", "update", "patch"}},
		{APIGroups: []string{"apps.statefulset.dev"}, Resources: []string{"statefulsets/plan"}, Verbs: []string{"get", "create"}},
	}}
	if _, err := suite.Host.RbacV1().Roles(namespace).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating a role: %v", err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}},
	}
	if _, err := suite.Host.RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatalf("binding the role: %v", err)
	}
	made, err := suite.Host.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("making a token: %v", err)
	}
	return made.Status.Token
}

// way is a kubeconfig of the account.
func way(namespace, token string, b *between) *clientcmdapi.Config {
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: b.URL, CertificateAuthorityData: b.authority()}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u", Namespace: namespace}
	config.CurrentContext = "x"
	return config
}

// write writes a kubeconfig after a change, and returns a variable with its path.
func write(t *testing.T, variable string, config *clientcmdapi.Config, change func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)) string {
	t.Helper()
	config = config.DeepCopy()
	change(config.Clusters["c"], config.AuthInfos["u"])
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatalf("writing a kubeconfig: %v", err)
	}
	return variable + "=" + path
}

// ways are the variables of the scenarios: the way to the cluster, and some that are wrong.
func ways(t *testing.T, namespace string, b *between) []string {
	t.Helper()
	right := way(namespace, token(t, namespace), b)
	return []string{
		write(t, "KUBECONFIG", right, func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {}),
		write(t, "WRONG_TOKEN", right, func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.Token = "wrong" }),
		write(t, "WRONG_HOST", right, func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.Server = "https://127.0.0.1:1" }),
		// Good certificates, of somebody else.
		write(t, "WRONG_AUTHORITY", right, func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			c.CertificateAuthorityData = suite.Config.CAData
		}),
	}
}

// plugin is the way to the cluster for an account whose token a program prints.
func plugin(t *testing.T, namespace string, b *between) []string {
	t.Helper()
	credential, err := json.Marshal(map[string]any{
		"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": map[string]string{"token": token(t, namespace)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return []string{write(t, "KUBECONFIG", way(namespace, "", b), func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
		u.Exec = &clientcmdapi.ExecConfig{
			APIVersion: "client.authentication.k8s.io/v1", Command: "echo", Args: []string{string(credential)},
			InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
		}
	})}
}

// administrator is the way to the cluster of one who has a certificate.
func administrator(t *testing.T, namespace string) []string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(suite.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = namespace
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return []string{"KUBECONFIG=" + path}
}
