// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"statefulset.dev/version"
)

func TestVersionsOfAllThatMeet(t *testing.T) {
	own := version.Get().Text("kubectl sts")
	cases := map[string]struct {
		args            []string
		host            string
		status          int
		server          string
		out, warns, err string
	}{
		"all answer": {
			nil, "v1.35.4", 200, "v0.3.0", own + "cluster: Kubernetes v1.35.4\nserver: statefulset-apiserver v0.3.0\n", "", ""},
		"a cluster that is not tested": {nil, "v1.33.1", 200, "v0.3.0",
			own + "cluster: Kubernetes v1.33.1\nserver: statefulset-apiserver v0.3.0\n", "v1.33.1 is older than the tested versions", ""},
		"a server that names no version": {nil, "v1.36.3", 200, "",
			own + "cluster: Kubernetes v1.36.3\nserver: statefulset-apiserver (unknown version)\n", "", ""},
		"a cluster without our API": {
			nil, "v1.36.3", 404, "", own + "cluster: Kubernetes v1.36.3\n", "", "does not serve apps.statefulset.dev/v1: 404"},
		"the plugin alone asks no cluster": {[]string{"--client"}, "", 0, "", own, "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			asked := 0
			cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				switch r.URL.Path {
				case "/version":
					_, _ = io.WriteString(w, `{"gitVersion":"`+tc.host+`"}`)
				case "/apis/apps.statefulset.dev/v1":
					if tc.server != "" {
						w.Header().Set(version.Header, tc.server)
					}
					w.WriteHeader(tc.status)
				default:
					t.Errorf("got a request for %s, want none", r.URL.Path)
				}
			}))
			defer cluster.Close()
			flags := genericclioptions.NewConfigFlags(false)
			flags.APIServer = &cluster.URL
			var out, errOut bytes.Buffer
			command := NewCommand(flags, genericiooptions.IOStreams{Out: &out, ErrOut: &errOut})
			command.SetArgs(append([]string{}, tc.args...))
			err := command.ExecuteContext(t.Context())
			if got := out.String(); got != tc.out {
				t.Errorf("got %q, want %q", got, tc.out)
			}
			if got := errOut.String(); (got == "") != (tc.warns == "") || !strings.Contains(got, tc.warns) {
				t.Errorf("got the warning %q, want %q", got, tc.warns)
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got error %v, want %q", err, tc.err)
			}
			if tc.host == "" && asked > 0 {
				t.Errorf("got %d requests, want none", asked)
			}
		})
	}
}
