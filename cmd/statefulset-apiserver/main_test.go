// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"statefulset.dev/version"
)

// patience bounds the life of a command. It is never the reason for a verdict.
const patience = 60 * time.Second

// asCommand makes the test binary be the command, which ends its process.
const asCommand = "BE_STATEFULSET_APISERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runCommand runs the command to its end, in a directory of its own.
func runCommand(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), asCommand+"=1", "COLUMNS=100")
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if e := cmd.Run(); e != nil && cmd.ProcessState == nil {
		t.Fatalf("running the command: %v", e)
	}
	if ctx.Err() != nil {
		t.Fatalf("the command did not end within %s; standard error: %s", patience, &err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), err.String()
}

func TestHelpIsAsDocumented(t *testing.T) {
	const golden = "testdata/help.txt"
	code, got, stderr := runCommand(t, "--help")
	if code != 0 || stderr != "" {
		t.Fatalf("--help: got exit code %d and standard error %q, want 0 and none", code, stderr)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatalf("writing %s: %v", golden, err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("reading %s: %v", golden, err)
	}
	if got != string(want) {
		t.Errorf("--help differs from %s; if it should, run go test with -update. Got:\n%s\nwant:\n%s", golden, got, want)
	}
}

func TestTheCommandEndsWithOneLine(t *testing.T) {
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listening: %v", err)
	}
	defer taken.Close()
	_, takenPort, _ := net.SplitHostPort(taken.Addr().String())

	nobody := httptest.NewServer(nil)
	nobody.Close() // its address now leads nowhere
	unauthorized, forbidden := hostAnswering(t, http.StatusUnauthorized), hostAnswering(t, http.StatusForbidden)
	broken := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatalf("preparing: %v", err)
	}

	serving := []string{"--bind-address=127.0.0.1", "--secure-port=" + freePort(t), "--host-timeout=1s"}
	tests := map[string]struct {
		args []string
		want []string
	}{
		"for an unknown flag":             {[]string{"--replicas=3"}, []string{"unknown flag: --replicas", "--help"}},
		"for an argument":                 {[]string{"serve"}, []string{`unknown command "serve"`}},
		"for a value that is no duration": {[]string{"--host-timeout=soon"}, []string{`"soon"`, "--host-timeout"}},
		"for two kinds of storage": {
			[]string{"--etcd-servers=http://127.0.0.1:1", "--data-dir=here"},
			[]string{`--data-dir is "here"`, `--etcd-servers is ["http://127.0.0.1:1"]`, "set only one of them"},
		},
		"for etcd certificates without etcd": {[]string{"--etcd-cafile=ca.crt"}, []string{"--etcd-cafile", "--etcd-servers"}},
		"for a certificate without a key": {
			[]string{"--tls-cert-file=x.crt"}, []string{`--tls-cert-file is "x.crt"`, `--tls-private-key-file is ""`, "set both"}},
		"for two mistakes": {
			[]string{"--tls-cert-file=x.crt", "--host-timeout=0s"}, []string{"--tls-cert-file", "; ", "--host-timeout is 0s, must be at least 1s"}},
		"for a storage type that is unknown": {
			[]string{"--storage-media-type=text/plain"}, []string{`--storage-media-type "text/plain" invalid`, "application/json"}},
		"for a version that it cannot emulate": {[]string{"--emulated-version=statefulset=99.0"},
			[]string{"emulation version 99.0 is not between [" + version.OldestMinor + ", " + version.Minor}},
		"without a host": {serving, []string{"no host cluster", "--kubeconfig"}},
		"for a port that is taken": {
			[]string{"--bind-address=127.0.0.1", "--secure-port=" + takenPort, "--kubeconfig=" + broken},
			[]string{"--secure-port " + takenPort, "address already in use"},
		},
		"for a kubeconfig that is absent": {append(serving, "--kubeconfig=/nowhere"), []string{`--kubeconfig "/nowhere"`, "no such file"}},
		"for a kubeconfig that is broken": {append(serving, "--kubeconfig="+broken), []string{"--kubeconfig", broken}},
		"for a host that is not there": {append(serving, "--kubeconfig="+kubeconfig(t, nobody.URL)),
			[]string{nobody.URL, "connection refused", "tried for 1s", "check that it runs"}},
		"for a host that does not know us": {
			append(serving, "--kubeconfig="+kubeconfig(t, unauthorized)),
			[]string{unauthorized, "does not accept the credentials of --kubeconfig"},
		},
		"for a host that does not let us": {
			append(serving, "--kubeconfig="+kubeconfig(t, forbidden)),
			[]string{forbidden, "extension-apiserver-authentication-reader"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runCommand(t, test.args...)
			last := lastLine(stderr)
			if code != 1 || stdout != "" || !strings.HasPrefix(last, "statefulset-apiserver: ") {
				t.Errorf("got exit code %d, standard output %q, last line %q; want 1, nothing, and a line of the command", code, stdout, last)
			}
			for _, part := range test.want {
				if !strings.Contains(last, part) {
					t.Errorf("last line: got %q, want it to contain %q", last, part)
				}
			}
			if strings.Contains(stderr, "Usage:") || strings.Contains(stderr, "goroutine ") {
				t.Errorf("standard error: got %s, want neither usage nor a stack trace", stderr)
			}
		})
	}
}

// hostAnswering is the address of a host that answers everything with one code.
func hostAnswering(t *testing.T, code int) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`,
			strings.ReplaceAll(http.StatusText(code), " ", ""), code)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["host"] = &clientcmdapi.Cluster{Server: url}
	config.Contexts["host"] = &clientcmdapi.Context{Cluster: "host"}
	config.CurrentContext = "host"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatalf("writing a kubeconfig: %v", err)
	}
	return path
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listening: %v", err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	if err := listener.Close(); err != nil {
		t.Fatalf("closing: %v", err)
	}
	return port
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

var update = flag.Bool("update", false, "write the golden files")

func TestVersionNamesTheHostsThatMayBe(t *testing.T) {
	code, got, stderr := runCommand(t, "--version")
	if want := version.Get().Text(name); code != 0 || stderr != "" || got != want {
		t.Errorf("--version: got exit code %d, %q and standard error %q, want 0, %q and none", code, got, stderr, want)
	}
	if want := "Kubernetes  1.34 to 1.37"; !strings.Contains(got, want) {
		t.Errorf("--version: got %q, want %q in it", got, want)
	}
}
