// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

func TestTheSameTroubleIsTheSameStatusAtEveryTry(t *testing.T) {
	address := func(port int) net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: port} }
	cases := map[string]struct {
		err  func(try int) error
		want string
	}{
		"a connection that breaks": {func(try int) error {
			return &net.OpError{Op: "read", Net: "tcp", Source: address(50000 + try), Addr: address(443), Err: syscall.ECONNRESET}
		}, `read tcp 10.0.0.7:443: connection reset by peer`},
		"a connection of IPv6": {func(try int) error {
			return &net.OpError{Op: "write", Net: "tcp", Source: &net.TCPAddr{IP: net.IPv6loopback, Port: 50000 + try},
				Addr: &net.TCPAddr{IP: net.IPv6loopback, Port: 443}, Err: syscall.EPIPE}
		}, `write tcp [::1]:443: broken pipe`},
		"a name that cannot be looked up": {func(try int) error {
			return fmt.Errorf("lookup host on 10.0.0.10:53: read udp 10.0.0.7:%d->10.0.0.10:53: i/o timeout", 40000+try)
		}, `lookup host on 10.0.0.10:53: read udp 10.0.0.10:53: i/o timeout`},
		"a certificate that has run out": {func(try int) error {
			now := time.Date(2026, 11, 22, 3, 12, try, 0, time.UTC).Format(time.RFC3339)
			return x509.CertificateInvalidError{Reason: x509.Expired, Detail: "current time " + now + " is after 2026-11-01T00:00:00Z"}
		}, `x509: certificate has expired or is not yet valid: current time is after 2026-11-01T00:00:00Z`},
		"a webhook that is behind such a certificate": {func(try int) error {
			return apierrors.NewInternalError(
				fmt.Errorf("failed calling webhook: tls: current time 2026-11-22T03:12:0%dZ is before 2027-01-01T00:00:00Z", try))
		}, `Internal error occurred: failed calling webhook: tls: current time is before 2027-01-01T00:00:00Z`},
		"an answer without anything of the kind": {
			func(int) error { return errors.New("exceeded quota: a->b, current time zone") }, `exceeded quota: a->b, current time zone`},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			now := time.Date(2026, 11, 22, 3, 12, 36, 0, time.UTC)
			before := v1.StatefulSetStatus{Conditions: []v1.StatefulSetCondition{{Type: v1.StatefulSetReady, Status: corev1.ConditionFalse}}}
			status := func(try int) v1.StatefulSetStatus {
				err := &url.Error{Op: "Post", URL: "https://10.0.0.7/api", Err: test.err(try)}
				return WithFailures(before, Plan{Status: before}, []Failure{{Action: action.DeletePod{Pod: action.Target{Name: "web-0"}}, Err: err}},
					now)
			}
			if first, second := status(1), status(2); !apiequality.Semantic.DeepEqual(first, second) {
				t.Errorf("got another status at the second try:\n%+v\n%+v", first, second)
			}
			if got := Cause(test.err(1)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
