// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package access_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"

	"statefulset.dev/apiserver/access"
	"statefulset.dev/apiserver/servertest"
)

func TestManyCallersDoNotMakeOthersWaitForAccessReviews(t *testing.T) {
	g := &gatekeeper{}
	host := servertest.HostAt(t, g.ServeHTTP)
	given := options.NewDelegatingAuthorizationOptions()
	given.RemoteKubeConfigFile = servertest.Kubeconfig(t, host.Config.Host)
	client, err := access.ReviewClient(given)
	if err != nil {
		t.Fatalf("making the client: %v", err)
	}
	if limit := client.AuthorizationV1().RESTClient().GetRateLimiter(); limit != nil {
		t.Errorf("the client of access reviews: got a limit of %v requests a second, want none: all callers share it", limit.QPS())
	}

	var config genericapiserver.Config
	if err := access.ApplyAuthorization(given, &config); err != nil {
		t.Fatalf("preparing authorization: %v", err)
	}
	const accounts = 1000
	begun := time.Now()
	var asking sync.WaitGroup
	for i := range accounts {
		asking.Go(func() {
			caller := authorizer.AttributesRecord{
				User: &user.DefaultInfo{Name: fmt.Sprintf("system:serviceaccount:a:%d", i)}, Verb: "get", ResourceRequest: true}
			if _, _, err := config.Authorization.Authorizer.Authorize(t.Context(), caller); err != nil {
				t.Errorf("asking for %s: %v", caller.User.GetName(), err)
			}
		})
	}
	asking.Wait()
	t.Logf("%d access reviews for %d service accounts took %s; 200 a second after 400 would take 3s", g.reviews.Load(), accounts,
		time.Since(begun).Round(time.Millisecond))
}
