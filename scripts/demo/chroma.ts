/** The part of `npm run demo` that asks through the lens chroma: this project's own pages, stored by hashtags. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openChroma } from '../../src/index.ts'
import { run } from './run.ts'

const DAY = 86_400

/** Page, days since it was stored, hashtags. */
const PAGES: readonly (readonly [file: string, daysAgo: number, hashtags: string])[] = [
  ['docs/guide/cli.md', 2, 'documentation guide cli terminal bash config example index stable'],
  ['docs/guide/library.md', 9, 'documentation guide api typescript node modules functions example stable'],
  ['docs/guide/settings.md', 12, 'documentation guide configuration settings config environment json example stable'],
  ['docs/guide/query-language.md', 5, 'documentation guide query search parser grammar retrieval example stable'],
  ['docs/guide/query-profiles.md', 1, 'documentation guide query agents parser functions classes example current'],
  ['docs/guide/chroma.md', 0, 'documentation guide query agents colors memory ranking retrieval current'],
  [
    'docs/decisions/001-node-24-from-npm.md',
    20,
    'design decision node npm dependencies versioning build environment accepted',
  ],
  [
    'docs/decisions/002-one-tool-per-concern.md',
    20,
    'design decision npm dependencies lint formatter build typescript accepted',
  ],
  [
    'docs/decisions/004-requirements-are-cited-by-tests.md',
    18,
    'testing decision requirements tests coverage specification review accepted',
  ],
  [
    'docs/decisions/006-words-stems-and-segments.md',
    8,
    'algorithms decision index search bm25 fulltext tokenizer retrieval accepted',
  ],
  [
    'docs/decisions/007-vectors-are-scanned.md',
    6,
    'algorithms decision index vector embeddings search wasm benchmark accepted',
  ],
  [
    'docs/decisions/017-goals-in-floors.md',
    3,
    'performance decision benchmark benchmarks latency metrics throughput tests proposed',
  ],
]

export async function demoChroma(root: string, home: string): Promise<void> {
  console.log('\n# The lens chroma: pages by the colour of their hashtags, and a memory of what was used.')
  run('chroma', 'assign', '--starter')
  await storePages(root, home)
  console.log(`\n${PAGES.length} pages of this project stored, the oldest 20 days ago, by hashtags such as`)
  for (const [file, , hashtags] of PAGES.slice(-2)) console.log(`  ${file}: ${hashtags}`)

  console.log('\n# By hashtags: near ones first, but what was used lately counts too.')
  const index = hashtagsOf('algorithms decision index search bm25 fulltext tokenizer retrieval accepted')
  run('chroma', 'query', ...index, '-k', '3')
  console.log('\n# By a text, in which a profile finds hashtags and times; explained in a line.')
  run('query', '--lens', 'chroma', 'recent decision on vector embeddings search', '--limit', '1')
  console.log('\n# Memory: what was shown has been used. It ranks higher now, and its strength has grown.')
  run('chroma', 'query', ...index, '-k', '3')
}

async function storePages(root: string, home: string): Promise<void> {
  const now = Math.floor(Date.now() / 1000)
  let storedAt = now
  await using chroma = await openChroma({ home, background: false, now: () => storedAt })
  for (const [file, daysAgo, hashtags] of PAGES) {
    const content = readFileSync(join(root, file), 'utf8')
    storedAt = now - daysAgo * DAY
    const label = /^# (.*)$/m.exec(content)?.[1] ?? file
    await chroma.store({ hashtags: hashtagsOf(hashtags), label, content, metadata: { path: file } })
  }
}

function hashtagsOf(list: string): string[] {
  return list.split(' ').map(name => `#${name}`)
}
