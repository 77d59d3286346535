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
	// reportName is the ConfigMap of the host cluster that tells how copies are getting on. Metrics
	// are those of one replica, and a client of the cluster cannot reach them.
	reportName        = "statefulset-apiserver-backups"
	reportDescription = "The newest verified copy of the store of statefulset-apiserver, and why the last attempt has failed if it has. Kept by the server that controls; kubectl sts doctor reads it."

	// The keys of the report. The plugin knows them, too.
	reportVerified = "verified"
	reportCopy     = "name"
	reportKey      = "key"
	reportEvery    = "every"
	reportFailed   = "failed"
	reportFailure  = "failure"

	// mostFailure bounds how much is told of a failure, in bytes.
	mostFailure = 1024
	// reportTimeout bounds the requests of one report.
	reportTimeout = 10 * time.Second
)

// Report is how copies are getting on.
type Report struct {
	// Verified is when the newest verified copy was begun, and Name what it is called. Both are
	// empty if this replica does not know of one.
	Verified time.Time
	Name     string
	// Key is the name of the key that signed it. It is empty if the copy is not signed, and if this
	// replica has not made it.
	Key string
	// Every is how long after a copy the next one is made.
	Every time.Duration
	// Failed is when the last attempt has failed, and Failure why. Both are empty if it has not.
	Failed  time.Time
	Failure string
}

// data is what is written of a report, over what was there: of copies that this replica could not
// list, the one before may have told.
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

// Tell writes reports to a namespace of the host cluster. Nothing is written if they say nothing new.
func Tell(configs typedcorev1.ConfigMapInterface) func(context.Context, Report) error {
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
