// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { terminal } from './terminal'

interface Page { text: string; link: string }
interface Section { text: string; items: Page[]; collapsed?: boolean }

// hack/site writes which pages there are, in which order.
const sections: Section[] = JSON.parse(readFileSync(fileURLToPath(new URL('../.pages/sections.json', import.meta.url)), 'utf8'))

// The anchors of a file are the same on the site.
const slugify = (heading: string) => heading.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-')

export default defineConfig({
  title: 'statefulset-apiserver',
  description: 'StatefulSets of the group apps.statefulset.dev: an aggregated API server and its controller',
  lang: 'en',
  base: process.env.BASE ?? '/',
  srcDir: '.pages',
  // Three members, one above the other.
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="#3a5ccc"><rect x="2" y="1" width="12" height="4" rx="1"/><rect x="2" y="6" width="12" height="4" rx="1"/><rect x="2" y="11" width="12" height="4" rx="1"/></svg>')}` }]],
  cleanUrls: false,
  ignoreDeadLinks: false,
  themeConfig: {
    nav: sections.map(({ text, items }) => ({ text, link: items[0].link })),
    sidebar: sections,
    outline: [2, 3],
    search: { provider: 'local' },
  },
  markdown: {
    anchor: { slugify },
    config(md) {
      const fence = md.renderer.rules.fence!
      md.renderer.rules.fence = (tokens, i, options, env, self) => {
        const token = tokens[i]
        const [language] = token.info.trim().split(/\s+/)
        if (language === 'mermaid') {
          return `<Mermaid code="${encodeURIComponent(token.content)}" />`
        }
        if (language === 'console') return terminal(token.info, token.content)
        // What follows the language is for the tests. Nothing here knows how to colour promql.
        token.info = language === 'promql' ? 'text' : language
        return fence(tokens, i, options, env, self)
      }
    },
  },
  vite: { build: { chunkSizeWarningLimit: 4096 } },
})
