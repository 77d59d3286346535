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
	// backupsName is the ConfigMap in which the server that controls tells how copies of the store
	// are getting on.
	backupsName = "statefulset-apiserver-backups"
	// missedBackups is how many intervals may pass without a verified copy.
	missedBackups = 3
	// sign is how copies are signed from then on.
	sign = "helm upgrade statefulset-apiserver CHART --reuse-values --set backup.keySecret=SECRET  # or --backup-key-file of the server; docs/backup.md#sign-copies"
	// clockSkew is by how much clocks may differ without a word.
	clockSkew = 5 * time.Minute
)

// backupForm is what names look like that may stand in a command for people to run.
var backupForm = regexp.MustCompile(`^sets-[0-9A-Z-]+\.backup$`)

// backups looks at how old the newest verified copy of the store is.
func (e *examiner) backups(ctx context.Context) []finding {
	about := fmt.Sprintf("backups, by configmap %s/%s", e.system, backupsName)
	told, err := e.host.CoreV1().ConfigMaps(e.system).Get(ctx, backupsName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return []finding{e.noBackups(ctx)}
	case err != nil:
		return []finding{isUnknown(about, err)}
	}
	return []finding{e.judgeBackups(about, told.Data)}
}

// backupRights are what the server needs to report copies. A create cannot be limited to a name.
func (e *examiner) backupRights() []right {
	return []right{
		{resource: "configmaps", verbs: []string{"create"}, namespace: e.system},
		{resource: "configmaps", verbs: []string{"get", "update"}, name: backupsName, namespace: e.system},
	}
}

// noBackups says why no copies are reported: none are configured, or the server has no right to report them.
func (e *examiner) noBackups(ctx context.Context) finding {
	const (
		about     = "backups"
		configure = "helm upgrade statefulset-apiserver CHART --reuse-values --set-string 'backup.to=s3://BUCKET/PREFIX?endpoint=URL' --set backup.secret=SECRET  # or --backup-to of the server; docs/backup.md"
	)
	missing, err := e.missingRights(ctx, e.backupRights())
	switch {
	case err != nil:
		return isDoubtful(about, "no backups configured, or the server has no right to report them, which could not be checked: "+err.Error(),
			configure)
	case len(missing) > 0:
		return isDoubtful(about,
			fmt.Sprintf(
				"no backups are reported, and the server has no right to report any: service account %s/statefulset-apiserver may not %s of that name",
				e.system,
				strings.Join(missing, ", ")),
			"kubectl apply -k artifacts/base  # or artifacts/ha, as installed: its Role statefulset-apiserver-store gives the right", configure)
	}
	return isDoubtful(about, "no backups configured: when the store is lost, so are all sets, though their pods and claims stay", configure)
}

func (e *examiner) judgeBackups(about string, told map[string]string) finding {
	every, err := time.ParseDuration(told["every"])
	if err != nil {
		return isDoubtful(about, fmt.Sprintf("every is %q, want a time such as 6h", told["every"]), e.forgetBackups())
	}
	failure := ""
	if told["failure"] != "" {
		failure = fmt.Sprintf("; the last attempt has failed, at %s: %s", told["failed"], told["failure"])
	}
	if told["verified"] == "" {
		return isDoubtful(about, "no copy of the store was verified yet"+failure, e.backupLogs())
	}
	verified, err := time.Parse(time.RFC3339, told["verified"])
	if err != nil {
		return isDoubtful(about, fmt.Sprintf("verified is %q, want a time such as 2026-11-22T12:00:00Z", told["verified"]), e.forgetBackups())
	}
	age := e.now.Sub(verified)
	says := fmt.Sprintf("%s, the newest verified copy of the store, is %s old%s", told["name"], duration.HumanDuration(max(0, age)), failure)
	file := "FILE"
	if backupForm.MatchString(told["name"]) {
		file = told["name"]
	}
	trust := " --accept-unauthenticated"
	if told["key"] != "" {
		trust = " --backup-key-file=KEYS"
	}
	restore := "statefulset-apiserver store restore --from=" + file + " --data-dir=NEW_DIRECTORY" + trust +
		"  # if the store is lost; step by step in docs/backup.md#restore"
	switch {
	case age < -clockSkew:
		return isDoubtful(about, fmt.Sprintf("%s, the newest verified copy of the store, is of %s: a clock is wrong%s", told["name"],
			told["verified"], failure), e.backupLogs())
	case age > missedBackups*every:
		return isDoubtful(about, fmt.Sprintf("%s, and one is due every %s", says, every), e.backupLogs(), e.forgetBackups(), restore)
	case failure != "":
		return isDoubtful(about, says, e.backupLogs(), restore)
	case told["key"] == "":
		return isDoubtful(about, says+"; it is not signed, so who can write to the place of the copies can replace it", sign, restore)
	}
	says += fmt.Sprintf(", and signed with key %q", told["key"])
	return finding{verdict: fine, about: about, says: says, fix: []string{restore}}
}

func (e *examiner) backupLogs() string {
	return "kubectl -n " + e.system + " logs deployment/statefulset-apiserver --all-pods | grep -i cop  # why"
}

// forgetBackups is for who has taken --backup-to away: no server writes the report any more.
func (e *examiner) forgetBackups() string {
	return "kubectl -n " + e.system + " delete configmap " + backupsName + "  # if there are to be no backups any more"
}
