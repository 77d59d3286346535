// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package imports_test

import (
	"regexp"
	"strings"
	"testing"
)

// readsConfig finds where the way to a cluster is read. A client that is built from it
// without a word about its rate has 5 requests a second for all that it does.
var readsConfig = regexp.MustCompile(
	`\b(rest\.InClusterConfig|clientcmd\.(NewNonInteractive\w+|NewInteractive\w+|BuildConfig\w+|RESTConfig\w+|NewDefaultClientConfig)|genericclioptions\.NewConfigFlags)\(`)

// configReaders are the places that take the rate away, and are tested for that.
func configReaders() []string {
	return []string{"apiserver/hostcluster/host.go", "client/connect.go", "cmd/kubectl-sts/command.go"}
}

func TestTheWayToAClusterIsReadWhereTheRateIsTakenAway(t *testing.T) {
	found := map[string]bool{}
	eachGoFile(t, func(path string, content []byte) {
		path = strings.TrimPrefix(path, root+"/")
		if strings.HasPrefix(path, "test/") || strings.HasSuffix(path, "_test.go") || !readsConfig.Match(content) {
			return
		}
		found[path] = true
	})
	for _, reader := range configReaders() {
		if !found[reader] {
			t.Errorf("%s reads no way to a cluster any more: correct the list", reader)
		}
		delete(found, reader)
	}
	for path := range found {
		t.Errorf("%s reads the way to a cluster: take it from %s, or take the rate away and join the list", path,
			strings.Join(configReaders(), " or "))
	}
}
