// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

const (
	// reportName is the ConfigMap of the host cluster with the state of the backups. Metrics belong
	// to one replica, and clients of the cluster cannot read them.
	reportName        = "statefulset-apiserver-backups"
	reportDescription = "The newest verified copy of the store of statefulset-apiserver, and the error of the last attempt if that failed. Written by the leading server; kubectl sts doctor reads it."

	// These are the keys of the report. The plugin reads them, too.
	reportVerified = "verified"
	reportCopy     = "name"
	reportKey      = "key"
	reportEvery    = "every"
	reportFailed   = "failed"
	reportFailure  = "failure"

	// mostFailure limits the text of a failure, in bytes.
	mostFailure = 1024
	// reportTimeout limits the requests of one report.
	reportTimeout = 10 * time.Second
)

// Report is the state of the backups.
type Report struct {
	// Verified is when the newest verified copy was begun, and Name is its name. Both are empty if
	// this replica does not know of one.
	Verified time.Time
	Name     string
	// Key is the name of the key that signed it. It is empty if the copy is not signed, or if
	// another replica created it.
	Key string
	// Every is the interval between copies.
	Every time.Duration
	// Failed is when the last attempt failed, and Failure why. Both are empty if it succeeded.
	Failed  time.Time
	Failure string
}

// data is the contents of a report, merged with those of the existing one: if this replica could
// not list the copies, the earlier report may know the newest.
func (r Report) data(there map[string]string) map[string]string {
	next := map[string]string{reportEvery: r.Every.String(), reportVerified: there[reportVerified], reportCopy: there[reportCopy]}
	if !r.Verified.IsZero() {
		next[reportVerified], next[reportCopy] = r.Verified.UTC().Format(time.RFC3339), r.Name
	}
	next[reportKey] = r.Key
	if r.Key == "" && next[reportCopy] == there[reportCopy] {
		next[reportKey] = there[reportKey]
	}
	if r.Failure != "" {
		next[reportFailed] = r.Failed.UTC().Format(time.RFC3339)
		next[reportFailure] = strings.ToValidUTF8(r.Failure[:min(len(r.Failure), mostFailure)], "")
	}
	maps.DeleteFunc(next, func(_, value string) bool { return value == "" })
	return next
}

// PublishTo returns a function that writes reports to a namespace of the host cluster. It writes
// nothing if nothing has changed.
func PublishTo(configs typedcorev1.ConfigMapInterface) func(context.Context, Report) error {
	return func(ctx context.Context, report Report) error {
		ctx, cancel := context.WithTimeout(ctx, reportTimeout)
		defer cancel()
		there, err := configs.Get(ctx, reportName, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			_, err = configs.Create(ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: reportName, Annotations: map[string]string{"kubernetes.io/description": reportDescription}},
				Data:       report.data(nil),
			}, metav1.CreateOptions{})
		case err == nil:
			data := report.data(there.Data)
			if maps.Equal(data, there.Data) {
				return nil
			}
			there.Data = data
			_, err = configs.Update(ctx, there, metav1.UpdateOptions{})
		}
		if err != nil {
			return fmt.Errorf("writing ConfigMap %s: %w", reportName, err)
		}
		return nil
	}
}
