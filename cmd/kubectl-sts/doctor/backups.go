// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

const (
	// backupsName is the ConfigMap in which the leading server reports the copies of the store.
	backupsName = "statefulset-apiserver-backups"
	// missedBackups is how many intervals may pass without a verified copy before doctor warns.
	missedBackups = 3
	// sign is the command with which the server signs copies.
	sign = "helm upgrade statefulset-apiserver CHART --reuse-values --set backup.keySecret=SECRET  # or --backup-key-file of the server; docs/backup.md#sign-copies"
	// clockSkew is the difference between clocks about which doctor does not warn.
	clockSkew = 5 * time.Minute
)

// backupForm matches names that are safe in a command that a user runs.
var backupForm = regexp.MustCompile(`^sets-[0-9A-Z-]+\.backup$`)

// backups checks the age of the newest verified copy of the store.
func (e *examiner) backups(ctx context.Context) []finding {
	about := fmt.Sprintf("backups, reported in configmap %s/%s", e.system, backupsName)
	told, err := e.host.CoreV1().ConfigMaps(e.system).Get(ctx, backupsName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return []finding{e.noBackups(ctx)}
	case err != nil:
		return []finding{skipFinding(about, err)}
	}
	return []finding{e.checkBackupReport(about, told.Data)}
}

// backupRights returns the rights that the server needs to report copies. The verb create cannot be
// limited to a name.
func (e *examiner) backupRights() []right {
	return []right{
		{resource: "configmaps", verbs: []string{"create"}, namespace: e.system},
		{resource: "configmaps", verbs: []string{"get", "update"}, name: backupsName, namespace: e.system},
	}
}

// noBackups reports why there is no report about copies: no backups are configured, or the server
// has no right to report them.
func (e *examiner) noBackups(ctx context.Context) finding {
	const (
		about     = "backups"
		configure = "helm upgrade statefulset-apiserver CHART --reuse-values --set-string 'backup.to=s3://BUCKET/PREFIX?endpoint=URL' --set backup.secret=SECRET  # or --backup-to of the server; docs/backup.md"
	)
	missing, err := e.missingRights(ctx, e.backupRights())
	switch {
	case err != nil:
		return warnFinding(about, "no backups are configured, or the server lacks the right to report them; checking its rights failed: "+err.Error(),
			configure)
	case len(missing) > 0:
		return warnFinding(about,
			fmt.Sprintf(
				"no backups are reported, and the server lacks the right to report them: service account %s/statefulset-apiserver is not allowed to %s, with the name "+backupsName,
				e.system,
				strings.Join(missing, ", ")),
			"kubectl apply -k artifacts/base  # or artifacts/ha, as installed: its Role statefulset-apiserver-store grants the right", configure)
	}
	return warnFinding(about, "no backups are configured: if the store is lost, all sets are lost; their pods and claims stay", configure)
}

func (e *examiner) checkBackupReport(about string, report map[string]string) finding {
	every, err := time.ParseDuration(report["every"])
	if err != nil {
		return warnFinding(about, fmt.Sprintf("every is %q, want a duration such as 6h", report["every"]), e.forgetBackups())
	}
	failure := ""
	if report["failure"] != "" {
		failure = fmt.Sprintf("; the last attempt failed at %s: %s", report["failed"], report["failure"])
	}
	if report["verified"] == "" {
		return warnFinding(about, "no copy of the store has been verified yet"+failure, e.backupLogs())
	}
	verified, err := time.Parse(time.RFC3339, report["verified"])
	if err != nil {
		return warnFinding(about, fmt.Sprintf("verified is %q, want a time such as 2026-11-22T12:00:00Z", report["verified"]), e.forgetBackups())
	}
	age := e.now.Sub(verified)
	says := fmt.Sprintf("%s, the newest verified copy of the store, is %s old%s", report["name"], duration.HumanDuration(max(0, age)), failure)
	file := "FILE"
	if backupForm.MatchString(report["name"]) {
		file = report["name"]
	}
	trust := " --accept-unauthenticated"
	if report["key"] != "" {
		trust = " --backup-key-file=KEYS"
	}
	restore := "statefulset-apiserver store restore --from=" + file + " --data-dir=NEW_DIRECTORY" + trust +
		"  # if the store is lost; step by step in docs/backup.md#restore"
	switch {
	case age < -clockSkew:
		return warnFinding(about, fmt.Sprintf("%s, the newest verified copy of the store, has the future time %s: a clock is wrong%s", report["name"],
			report["verified"], failure), e.backupLogs())
	case age > missedBackups*every:
		return warnFinding(about, fmt.Sprintf("%s, and one is due every %s", says, every), e.backupLogs(), e.forgetBackups(), restore)
	case failure != "":
		return warnFinding(about, says, e.backupLogs(), restore)
	case report["key"] == "":
		return warnFinding(about, says+"; it is not signed, so anyone who can write to the location of the copies can replace it", sign, restore)
	}
	says += fmt.Sprintf(", and signed with key %q", report["key"])
	return finding{verdict: fine, about: about, message: says, fix: []string{restore}}
}

func (e *examiner) backupLogs() string {
	return "kubectl -n " + e.system + " logs deployment/statefulset-apiserver --all-pods | grep -iE 'backup|cop(y|ies)'  # shows why"
}

// forgetBackups is the command for an operator who has removed --backup-to: no server updates the
// report any more.
func (e *examiner) forgetBackups() string {
	return "kubectl -n " + e.system + " delete configmap " + backupsName + "  # if you no longer want backups"
}
