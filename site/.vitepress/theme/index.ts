// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

import DefaultTheme from 'vitepress/theme'
import type { Theme } from 'vitepress'
import Mermaid from './Mermaid.vue'
import './site.css'
import './terminal.css'

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('Mermaid', Mermaid)
  },
} satisfies Theme
