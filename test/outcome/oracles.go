// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

// oracles returns all oracles, in the order in which they judge.
func oracles() []oracle {
	return []oracle{
		newDisks(),
		newPaused(),
		newFailed(),
		newUndone(),
		newApprovals(),
		newBakes(),
		newPartition(),
		newGates(),
		newBudget(),
		replacements{},
		newStrategies(),
		surplus{},
		newHeld(),
		newLoops(),
		&pace{},
		newRestarts(),
		counts{},
		newConditions(),
		newRevisions(),
		order{},
		newTurns(),
		&scaleIn{},
	}
}
