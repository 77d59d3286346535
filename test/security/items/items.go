// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package items lists the security promises, and the tests that check each promise. The table in
// docs/security.md and that of make test-security are generated from it.
package items

import "regexp"

// The packages that contain tests, as directories of the module.
const (
	Cluster   = "test/security" // on a separate local cluster
	supply    = "test/security/supply"
	server    = "apiserver"
	store     = "store"
	whole     = server + "/servertest"
	etcd      = store + "/embedded"
	storeTLS  = store + "/certificates"
	backend   = store + "/backend"
	bodies    = server + "/bodylimit"
	certs     = server + "/certificates"
	serving   = server + "/autotls"
	reviews   = server + "/admission"
	command   = "cmd/statefulset-apiserver"
	copies    = store + "/backup"
	restoring = store + "/recovery"
	bucket    = command + "/s3"
	control   = "controller"
	planning  = "controller/plan"
	rendering = "identity/render"
	readers   = "identity"
	registry  = "registry/statefulset"
)

// Item is a promise.
type Item struct {
	Number int
	Name   string
	Tests  []Test
}

// Test is a top-level test function.
type Test struct {
	Package string
	Name    string
}

// All returns the promises, in order.
func All() []Item {
	return []Item{
		{1, "Front-proxy trust", on("TestForgedFrontProxyHeaders", "TestForgedHeadersThroughTheHost")},
		{2, "UID header", on("TestTheUIDOfAUserIsKnown", "TestForgedHeadersThroughTheHost")},
		{3, "Fail closed", append(on("TestWithoutTheHostNobodyIsServed"), Test{certs, "TestNobodyIsLetInBeforeTheAuthoritiesAreKnown"},
			Test{command, "TestTheCommandEndsWithOneLine"})},
		{4, "Anonymous callers", on("TestAnonymousCallersGetHealthOnly")},
		{5, "Delegated authorization", on("TestRolesMayTheSameAsWithAppsV1", "TestARevokedRightEnds", "TestAnOutageOfAccessReviewsLetsNobodyIn")},
		{6, "Authorization by selector", on("TestSelectorsReachTheHost")},
		{7, "TLS", on("TestCertificatesAreExchangedUnderLoad")},
		{8, "Least privilege",
			append(on("TestEveryRightIsNeededAndNoneIsMissing", "TestTheServerWorksWithoutOptionalRights",
				"TestTheServerReadsSecretsOfListedNamespacesOnly"),
				in(serving, "TestASecretThatIsOfNoUseSaysWhatToDo", "TestAnEmptySecretIsFilledByCompareAndSwap")...)},
		{9, "Escalation by sets", append(on("TestWhoMayCreateSetsGetsPods", "TestAPolicyOnSetsLimitsWhatTheyCreate",
			"TestPodSecurityHoldsForMembers", "TestASetMakesOnlyWhatItsAuthorMay"),
			in(reviews, "TestNobodyGetsObjectsThatTheyMayNotMake", "TestNoPathLeadsPastTheReview",
				"TestNoPathLeadsToDeletionThatWasNotReviewed")...)},
		{10, "Identities", append(on("TestDryRunsHaveAnIdentityOfTheirOwn"), Test{whole, "TestTheLoopbackTokenIsNotLogged"})},
		{11, "Admission", on("TestPoliciesHoldForSets", "TestWebhooksHoldForSets", "TestNamespacesAndQuotasHoldForSets")},
		{12, "Owner references", on("TestForgedOwnersAreNoMembers")},
		{13, "Claims of others", on("TestAClaimOfAnotherIsNeverTakenAway")},
		{14, "Audit", on("TestEveryWriteIsAuditedOnce")},
		{15, "Fairness", on("TestAQuietTenantIsServedBesideANoisyOne")},
		{16, "Encryption at rest", on("TestSetsAreEncryptedInEtcd")},
		{17, "etcd", append(on("TestEtcdKnowsWhoAsks"), Test{backend, "TestEtcdOnAnotherMachineIsNotReachedInTheClear"},
			Test{etcd, "TestTheSocketIsForUsOnly"})},
		{18, "Denial of service", append(on("TestStreamsThatAreResetAtOnce", "TestWatchesThatAreLeftLeaveNothingBehind"),
			Test{whole, "TestHostileRequestsAreRefusedWithAReason"},
			Test{whole, "TestAllSetsTogetherDescribeAtMostAHundredKinds"}, Test{bodies, "TestLargeBodiesTakeTurns"})},
		{19, "Redirects", on("TestNothingIsRedirected")},
		{20, "Leaks of values", on("TestValuesOfASetAreNotTold", "TestProfilesNeedARight")},
		{21, "Supply chain",
			in(supply, "TestTwoBuildsAreTheSame", "TestModulesAreWhatTheyWere", "TestLicencesAreAllowed", "TestKnownVulnerabilities")},
		{22, "Runtime", on("TestTheDeploymentIsAdmittedWhereOnlyRestrictedPodsAre", "TestTheServerRunsConfined")},
		{23, "Availability coupling", on("TestOtherWorkGoesOnWithoutTheServer")},
		{24, "Unsafe defaults", in(supply, "TestNoDefaultIsInsecure", "TestNoKeyIsInTheRepository", "TestTheCodeIsScanned")},
		{25, "Bounded evaluation", append(on("TestExpressionsThatAskForMuchAreRefused"),
			append(in(rendering, "TestWhatGrowsIsRefusedBeforeItIsMade", "TestDrawnExpressionsStayWithinTheirBounds", "TestEveryFunctionIsBounded",
				"TestAnEvaluationEndsWithItsContext"),
				in(planning, "TestAPlanWhoseTimeIsOverOnlyCreates")...)...)},
		{26, "One reader of manifests",
			append(on("TestManifestsThatCanBeReadInTwoWaysAreRefused"), in(readers, "TestAllReadersAgreeOnAnyManifest")...)},
		{27, "Reserved keys", append(on("TestReservedKeysAreRefusedInTemplates"),
			in(registry, "TestKeysOfTheGroupAreRefused", "TestStoredKeysOfTheGroupStayValid")...)},
		{28, "Deletion by removal", in(reviews, "TestWhatIsDeletedForARemovedTemplateIsAskedFor", "TestNoPathLeadsToDeletionThatWasNotReviewed")},
		{29, "A set that ended the server", in(control, "TestAMarkIsWrittenBeforeTheFirstEvaluation", "TestASetThatIsSetAsideIsReleased")},
		{30, "Authorities of the store", append(on("TestAServerThatWasTakenOverReadsNoAuthority", "TestAServerThatWasTakenOverIsNoPeerOfTheStore",
			"TestAServerThatWasTakenOverMintsNoCertificate"),
			in(storeTLS, "TestAServerThatWasTakenOverIsNoMember", "TestAServerMayDoWhatItNeeds")...)},
		{31, "Copies of the store", append(append(in(restoring, "TestAForgedBackupIsNotRestored", "TestABackupIsRestoredByWhoTrustsIt"),
			in(copies, "TestACopyUnderTheNameOfAnotherIsRefused", "TestTheKeyIsChangedWhileCopiesAreMade")...),
			in(bucket, "TestAURLIsReadOrRefused")...)},
		{32, "Who did it",
			append(in(whole, "TestWhoDidItIsTheUserOfTheRequest"), in(registry, "TestWhoDidItIsRecorded", "TestOnlyTheServerRecordsWhoDidIt")...)},
	}
}

func on(names ...string) []Test { return in(Cluster, names...) }

func in(dir string, names ...string) (tests []Test) {
	for _, name := range names {
		tests = append(tests, Test{dir, name})
	}
	return tests
}

// Pattern returns a regular expression for the tests of a package that items name.
func Pattern(dir string) string {
	pattern, separator := "^(", ""
	for _, item := range All() {
		for _, test := range item.Tests {
			if test.Package == dir {
				pattern += separator + regexp.QuoteMeta(test.Name)
				separator = "|"
			}
		}
	}
	return pattern + ")$"
}

// Packages returns the packages with tests that need no cluster.
func Packages() []string {
	return []string{whole, etcd, storeTLS, backend, bodies, certs, serving, copies, restoring, bucket, reviews, command, supply, control,
		planning, rendering, readers, registry}
}
