// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { terminal } from './terminal'

type Token = { type: string; content: string; children: Token[] | null; attrSet(name: string, value: string): void }

interface Page { text: string; link: string }
interface Section { text: string; items: Page[]; collapsed?: boolean }

// hack/site writes which pages there are, in which order.
const sections: Section[] = JSON.parse(readFileSync(fileURLToPath(new URL('../.pages/sections.json', import.meta.url)), 'utf8'))

// Pages that hack/site copies can be edited; those that it writes from the code cannot.
const sources: Record<string, string> = JSON.parse(readFileSync(fileURLToPath(new URL('../.pages/sources.json', import.meta.url)), 'utf8'))
const repository = process.env.REPOSITORY
const version = process.env.VERSION ?? 'development'

// The anchors of a file are the same on the site.
const slugify = (heading: string) => heading.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-')

// On a narrow screen the cells of a row are below each other, each with the heading of its column.
function label(tokens: Token[]) {
  let headings: string[] = []
  let column = 0
  tokens.forEach((token, i) => {
    if (token.type === 'table_open') headings = []
    if (token.type === 'tr_open') column = 0
    if (token.type === 'th_open') headings.push(text(tokens[i + 1]))
    if (token.type === 'td_open') token.attrSet('data-label', headings[column++] ?? '')
  })
}

const text = (inline: Token) => (inline.children ?? []).map(({ content }) => content).join('')

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
    nav: [...sections.map(({ text, items }) => ({ text, link: items[0].link })), { text: version, link: '/project/changelog' }],
    sidebar: sections.map((section, i) => ({ ...section, collapsed: i > 0 })),
    outline: [2, 3],
    ...(repository && {
      editLink: { pattern: ({ filePath }: { filePath: string }) => `${repository}/edit/main/${sources[filePath] ?? 'hack/site'}` },
      socialLinks: [{ icon: 'github', link: repository }],
    }),
    search: { provider: 'local' },
  },
  markdown: {
    anchor: { slugify },
    config(md) {
      md.core.ruler.push('labels', state => label(state.tokens))
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
