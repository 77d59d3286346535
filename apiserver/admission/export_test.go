// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import "context"

// What tests with a whole server, which are in another package, see of the policies.
const PolicyDoubts = policyDoubts

func Look(ctx context.Context, p *Policies) { p.sync(ctx) }

func Ready(p *Policies) error { return p.ready() }
