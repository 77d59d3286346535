// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"pgregory.net/rapid"
)

// settings are the values that the fields of a set get.
var settings = map[string][]string{
	"replicas":        {"3", "0", "1", "2", "4", "5", "6"},
	"image":           {"nginx:1", "nginx:2", "nginx:3", badImage},
	"partition":       {"0", "1", "2", "4", "7"},
	"maxUnavailable":  {"1", "2", "3", "30%", "50%", "1%", "100%"},
	"start":           {"0", "1", "2", "5"},
	"whenDeleted":     {"Retain", "Delete"},
	"whenScaled":      {"Retain", "Delete"},
	"minReadySeconds": {"0", "10", "30"},
	"historyLimit":    {"10", "0", "1", "2"},
	"strategy":        {"RollingUpdate", "OnDelete", "Recreate"},
	"policy":          {"OrderedReady", "Parallel"},
	"claims":          {"www", "www,log", "www:2Gi", "www:3Gi,log", "log:1Gi::gold", "www:2Gi::gold,log:2Gi"},
	"claimLabel":      {"gold", "silver"},

	"volumeClaimUpdate": {"InPlace", "NewClaims", "InPlace", "none"},

	"paused":        {"true", "false"},
	"inPlace":       {"IfPossible", "Only", "none", "IfPossible"},
	"drain":         {"20", "none", "0", "5"},
	"conditions":    {"yes", "no", "yes"},
	"cpu":           {"100m", "200m", "300m", "none"},
	"memory":        {"1Gi", "2Gi", "none"},
	"resizes":       {"yes", "no", "yes"},
	"steps":         {"1", "1:bake=10/50%", "2:manual", "1:if=ok/3:bake=20:if=ok:manual", "none", "100%:if=ok"},
	"failurePolicy": {"Rollback", "Wait"},

	"direction": {"Ascending", "Descending", "none"},
	"first":     {"1", "none", "2,0", "3-4,1", "0-1"},
	"last":      {"role=leader", "none", "role=standby/role=leader", "role=leader/role=standby", "app=nginx"},

	"gates": {
		"handed-over", "none", "handed-over:Update:20", "handed-over:ScaleDown,moved:Replace:5", "moved:Update+Replace,handed-over::60"},
	"method":        {"Evict", "none", "Delete"},
	"readinessGate": {"handed-over", "moved"},

	"scaledAfterSeconds":         {"20", "60", "none"},
	"replaceUnreadyAfterSeconds": {"0", "20", "none"},
	"rate":                       {"1", "2", "50%", "none", "9"},
	"overrides": {"big@0@node=nvme", "none", "big@0@node=nvme/small@2-3@size=small", "huge@0@node=nvme", "big@1,5@node=ssd@env=LARGE",
		"big@0@node=" + nowhere,
		"wide@1@storage=www=2Gi", "big@0@node=nvme@storage=www=3Gi/small@4@env=SMALL"},
	"identity": {"plain", "none", "env", "note", "tier", "bad"},
	"args":     {"REPLICAS", "none", "IDENTITY", "hostname", "ADDRESS", "VIP", "ADDRESS"},
	"objects": {"conf", "none", "conf,peers", "peers", "conf:2,count", "count,list", "conf!,peers!", "conf:3", "bad", "again", "ext",
		"ext,vip", "ext:2,conf", "auth,sst", "auth", "conf,sst", "sesame,sst"},
	"service": {"nginx", "other", ""},

	"retention": {
		"Delete:20", "none", "Delete", "Retain", "Delete:60", "Delete:20", "/Delete", "Delete:20/Delete", "Retain/Delete", "Delete/Retain"},

	"reserved": {"1", "none", "0", "2", "1,3", "0-2", "2-4,6", "9"},
}

// badImage is one with which no pod becomes ready.
const badImage = "nginx:bad"

const (
	fewestEvents = 15
	mostEvents   = 40
)

// number draws a number to be taken modulo something small. Small numbers are
// drawn more often, which is why it goes so far up.
var number = rapid.IntRange(0, 1<<24)

// drawEvents draws the events of a sequence. Besides what always happens, only a few kinds happen
// in most sequences: what some features do together is rare among all that can happen.
func drawEvents(about theme) *rapid.Generator[[]event] {
	return rapid.Custom(func(t *rapid.T) []event {
		menu := slices.Concat(kinds, about.events)
		if few := choice([]int{6, 12, 0}, number.Draw(t, "kinds besides those that always happen")); few > 0 {
			menu = slices.Concat(always, about.events)
			for range few {
				menu = append(menu, choice(kinds, number.Draw(t, "kind of the sequence")), "look")
			}
		}
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) event {
			return event{choice(menu, number.Draw(t, "kind")), number.Draw(t, "which"), number.Draw(t, "value")}
		}), fewestEvents, mostEvents).Draw(t, "events")
	})
}

// drawSet draws the fields that a set begins with, as the arguments of "set". In one set
// half of them are left out and in another most are, because what some do hides others; those that the
// sequence is about are not.
func drawSet(about theme) *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		args := []string{"replicas=" + choice(settings["replicas"], number.Draw(t, "replicas"))}
		every := choice([]int{2, 4, 8}, number.Draw(t, "one field of"))
		// The strategy comes before the partition, because it resets it.
		for _, field := range []string{
			"policy", "strategy", "partition", "maxUnavailable", "minReadySeconds", "start", "claims", "whenDeleted", "whenScaled",
			"scaledAfterSeconds", "historyLimit", "replaceUnreadyAfterSeconds", "direction", "first", "last", "reserved", "volumeClaimUpdate",
			"paused", "rate", "overrides", "steps", "failurePolicy", "inPlace", "drain", "cpu", "memory", "gates", "method", "readinessGate",
			"identity", "args", "objects", "retention"} {
			if n := number.Draw(t, field); n%every == 1 || slices.Contains(about.fields, field) {
				args = append(args, field+"="+choice(settings[field], n/every))
			}
		}
		return args
	})
}

func choice[T any](from []T, n int) T { return from[n%len(from)] }
