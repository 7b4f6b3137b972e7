/**
 * `npm run demo`: puts real documents into a fresh store (this project's own documents and sources, a few notes, and the
 * facts that the lens c64 brings) and asks through the command line, as a user would: this lens, then eight questions over
 * everything, then the lenses chroma, collections, context, beliefs and conversations. At the end it builds the page and says
 * how to open it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { demoBeliefs } from './demo/beliefs.ts'
import { demoC64 } from './demo/c64.ts'
import { demoChroma } from './demo/chroma.ts'
import { demoCollections } from './demo/collections.ts'
import { demoContext } from './demo/context.ts'
import { demoConversations } from './demo/conversations.ts'
import { buildPage } from './demo/page.ts'
import { run } from './demo/run.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'querent-demo-'))
const home = join(folder, '.querent')
process.env['QUERENT_HOME'] = home
process.chdir(root)

/** What each question shows. */
const QUESTIONS: readonly (readonly [why: string, ...argv: string[]])[] = [
  [
    'Meaning: none of the words of the question is in the passage.',
    'how do we guard against losing data',
    '--collection',
    'notes',
    '--limit',
    '1',
  ],
  ['An identifier finds its definition.', 'entriesWith', '--collection', 'sources', '--limit', '2'],
  ['Facts.', 'which register sets the border color', '--collection', 'c64', '--limit', '2'],
  ['Spanish, without its accents.', 'cada cuanto se limpia la filtracion', '--limit', '1'],
  [
    'A phrase that must stand there.',
    '"change feed" follow from a position',
    '--collection',
    'sources',
    '--limit',
    '2',
  ],
  [
    'About this project.',
    'which Node do the scripts run on, and where does it come from',
    '--collection',
    'docs',
    '--limit',
    '2',
  ],
  [
    'Explained: every number of the score.',
    'read a key from the keyboard',
    '--collection',
    'c64',
    '--limit',
    '1',
    '--explain',
  ],
  ['Nonsense gets no answer, and the reason.', 'purple saxophone lawsuit in the bathtub', '--collection', 'docs'],
]

const started = performance.now()
run('init')
run('add', 'examples/notes', '--collection', 'notes')
run('add', 'README.md', 'ARCHITECTURE.md', 'docs', '--collection', 'docs')
run('add', 'src/index', 'src/pipeline', 'src/store', '--collection', 'sources')
demoC64()
for (const [why, ...argv] of QUESTIONS) {
  console.log(`\n# ${why}`)
  run('query', ...argv)
}
await demoChroma(root, home)
demoCollections()
demoContext(root, folder)
demoBeliefs()
demoConversations(folder)
run('status')
console.log(
  `\n${QUESTIONS.length} questions answered in ${((performance.now() - started) / 1000).toFixed(0)} s, documents included.`,
)
rmSync(folder, { recursive: true })
await buildPage()
