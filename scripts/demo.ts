/**
 * `npm run demo`: puts real documents into a fresh store (this project's own documents and sources, a few notes, and the
 * Commodore 64 fact files) and asks eight questions through the command line, as a user would.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { main } from '../src/doors/main.ts'
import { c64Records } from './c64-records.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'querent-demo-'))
const records = join(folder, 'c64.jsonl')
writeFileSync(
  records,
  c64Records()
    .map(record => `${JSON.stringify(record)}\n`)
    .join(''),
)
process.env['QUERENT_HOME'] = join(folder, '.querent')
process.chdir(root)

/** What each question shows. */
const QUESTIONS: readonly (readonly [why: string, ...argv: string[]])[] = [
  ['Meaning: none of these words is in the passage.', 'query', 'what guards us against losing everything in a fire'],
  ['An identifier finds its definition.', 'query', 'entriesWith', '--collection', 'sources'],
  ['Facts: a number finds its register.', 'query', 'which register sets the border color', '--collection', 'c64'],
  ['Spanish, without its accents.', 'query', 'cada cuanto se limpia la filtracion', '--collection', 'notes'],
  ['Conditions: a phrase that must stand there.', 'query', '"change feed" which processes see a write', '--limit', '3'],
  ['About this project.', 'query', 'why does nothing hidden change an answer', '--limit', '3'],
  [
    'Explained: every number of the score.',
    'query',
    'read a key from the keyboard',
    '--collection',
    'c64',
    '--limit',
    '1',
    '--explain',
  ],
  ['Nonsense gets no answer, and the reason.', 'query', 'zorblax quintessential marmalade teleporter'],
]

const started = performance.now()
await run('init')
await run('add', 'examples/notes', '--collection', 'notes')
await run('add', 'README.md', 'ARCHITECTURE.md', 'docs', '--collection', 'docs')
await run('add', 'src/index', 'src/pipeline', 'src/store', '--collection', 'sources')
await run('add', records, '--collection', 'c64')
for (const [why, ...argv] of QUESTIONS) {
  console.log(`\n# ${why}`)
  await run(...argv)
}
await run('status')
console.log(
  `\n${QUESTIONS.length} questions answered in ${((performance.now() - started) / 1000).toFixed(0)} s, documents included.`,
)
rmSync(folder, { recursive: true })

async function run(...argv: string[]): Promise<void> {
  console.log(`\n$ querent ${argv.map(quote).join(' ')}`)
  const code = await main(argv)
  if (code !== 0) {
    console.error(`querent ${argv[0]} ended with ${code}`)
    process.exit(code)
  }
}

function quote(word: string): string {
  const shown = word === records ? 'c64.jsonl' : word
  return /^[\w./-]+$/.test(shown) ? shown : `'${shown}'`
}
