// The site of `make docs`. Its pages are the Markdown files of the repository, where they are: it has no text of its own.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const root = new URL('../../../', import.meta.url)
const read = (path) => readFileSync(new URL(path, root), 'utf8')
const installed = (path) => fileURLToPath(new URL('../node_modules/' + path, import.meta.url))
const page = (text, link) => ({ text, link })

// listed returns the pages that a list of links in a document names, in its order.
function listed(text, dir) {
  return [...text.matchAll(/^(?:\d+\.|-) \[(.+?)\]\((\w[\w-]*)\.md\)/gm)].map(([, name, file]) => page(name, dir + file))
}

// guide returns the chapters of the guide's first page. Each begins with a line in bold.
function guide() {
  const [, ...chapters] = read('docs/guide/README.md').split(/^\*\*(?=[^*]+\*\*$)/m)
  return chapters.map((chapter) => ({
    text: chapter.slice(0, chapter.indexOf('**')),
    items: listed(chapter, '/docs/guide/'),
  }))
}

// showTags shows a tag as it is written, because <file> in a sentence means a file, and leaves comments out.
function showTags(markdown) {
  const show = (tokens, i) => {
    const { content } = tokens[i]
    return content.startsWith('<!--') ? '' : markdown.utils.escapeHtml(content)
  }
  markdown.renderer.rules.html_inline = show
  markdown.renderer.rules.html_block = show
}

export default defineConfig({
  title: 'Talking Stick',
  description: 'Several coding agents and people in one repository, and nobody\'s work is lost',
  lang: 'en',
  base: process.env.SITE_BASE || '/', // such as /talking-stick/, where the site isn't at the top of its host
  srcDir: '../..',
  srcExclude: ['**/node_modules/**', '**/testdata/**', 'internal/**', 'dist/**'],
  outDir: '../../dist/site',
  cacheDir: '.cache',
  rewrites: { 'README.md': 'index.md', 'docs/:dir/README.md': 'docs/:dir/index.md' },
  ignoreDeadLinks: [/\/LICENSE$/, /\.go$/], // files of the repository that aren't pages
  markdown: { config: showTags },
  // Pages outside of this folder don't find its node_modules by themselves.
  vite: {
    resolve: {
      alias: [
        { find: /^vue$/, replacement: installed('vue/dist/vue.runtime.esm-bundler.js') },
        { find: /^vue\/server-renderer$/, replacement: installed('vue/server-renderer/index.mjs') },
      ],
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      page('Guide', '/docs/guide/'),
      page('Reference', '/docs/reference/'),
      page('Changes', '/CHANGELOG'),
      page('Contribute', '/CONTRIBUTING'),
    ],
    sidebar: [
      page('Why Talking Stick', '/'),
      ...guide(),
      {
        text: 'Look it up',
        items: [
          page('For agents', '/docs/guide/agents'),
          page('Glossary', '/docs/GLOSSARY'),
          page('Security', '/SECURITY'),
          page('PostgreSQL', '/docs/POSTGRESQL'),
        ],
      },
      { text: 'Reference', collapsed: true, items: listed(read('docs/reference/README.md'), '/docs/reference/') },
      {
        text: 'How it works',
        collapsed: true,
        items: [
          page('Architecture', '/docs/ARCHITECTURE'),
          page('Protocol', '/docs/PROTOCOL'),
          page('Decisions', '/docs/decisions/'),
          page('Scale', '/docs/SCALE'),
          page('Tests', '/docs/TESTS'),
        ],
      },
    ],
  },
})
