// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package target

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
)

const kubeconfig = `{"clusters":[{"name":"n","cluster":{"server":"https://shop.example"}}],
"contexts":[{"name":"n","context":{"cluster":"n","user":"n","namespace":"shop"}}],"users":[{"name":"n","user":{}}],"current-context":"n"}`

func TestTarget(t *testing.T) {
	for sentence, test := range map[string]struct {
		content, flag, want, err string
	}{
		"the namespace of the kubeconfig": {content: kubeconfig, want: "https://shop.example shop"},
		"the namespace of the flag":       {content: kubeconfig, flag: "other", want: "https://shop.example other"},
		"no kubeconfig that can be read":  {content: "{", err: "reading the kubeconfig: "},
	} {
		t.Run(sentence, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kubeconfig")
			if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
				t.Fatalf("writing a kubeconfig: %v", err)
			}
			flags := genericclioptions.NewConfigFlags(false)
			flags.KubeConfig, flags.Namespace = &path, &test.flag
			got, err := Of(flags)
			if test.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.err) {
					t.Errorf("got error %v, want one that begins with %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("got error %v, want none", err)
			}
			if got := got.Config.Host + " " + got.Namespace; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if _, err := got.Sets(); err != nil {
				t.Errorf("a client for sets: %v, want one", err)
			}
		})
	}
}
