/**
 * Tokens that an agent reads until it has seen the answer to twenty fixed questions about this repository: through
 * `/context/query` with a bundle, against searching files for one word and reading whole files, those with most hits first.
 * The questions are words of the names asked for, so both ways can find them; found is a name that the bundle tells, whole or
 * as a line. Prints a Markdown table.
 */
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openContext } from '../src/engine/open-context.ts'
import { countTokens } from '../src/lenses/context/packing.ts'
import { tempFolder } from '../src/testing/temp-folder.ts'
import { filesBelow } from '../test/support/extracted.ts'

/** What is asked, the word searched for, and the name that answers. */
const QUESTIONS: readonly (readonly [question: string, word: string, name: string])[] = [
  ['chunk content', 'chunk', 'chunkContent'],
  ['canonical json', 'canonical', 'canonicalJson'],
  ['open engine', 'openEngine', 'openEngine'],
  ['ignore rules', 'ignore', 'IgnoreRules'],
  ['find home', 'findHome', 'findHome'],
  ['deadline', 'deadline', 'Deadline'],
  ['link index', 'LinkIndex', 'LinkIndex'],
  ['stem', 'stem', 'stem'],
  ['misspelt fields', 'misspelt', 'misspeltFields'],
  ['embedding', 'embedding', 'Embedding'],
  ['make catalog', 'catalog', 'makeCatalog'],
  ['progress bar', 'progress', 'progressBar'],
  ['put concept', 'concept', 'putConcept'],
  ['code graph', 'graph', 'CodeGraph'],
  ['parse diff', 'diff', 'parseDiff'],
  ['term score', 'score', 'termScore'],
  ['read cursor', 'cursor', 'readCursor'],
  ['storable text', 'storable', 'storableText'],
  ['disk workspace', 'workspace', 'DiskWorkspace'],
  ['lens registry', 'registry', 'LensRegistry'],
]

const MAX_TOKENS = 1_500

const root = fileURLToPath(new URL('..', import.meta.url))
using folder = tempFolder()
cpSync(join(root, 'src'), join(folder.path, 'src'), { recursive: true })
await using sys = await openContext({ home: join(folder.path, '.querent'), embedder: 'none', background: false })
await sys.call('/context/index')
const texts = new Map(
  filesBelow(join(root, 'src'), /\.ts$/).map(path => [`src/${path}`, readFileSync(join(root, 'src', path), 'utf8')]),
)

console.log('| question | context | found | grep and whole files | files read |\n|---|---:|---|---:|---:|')
let [ours, theirs, found] = [0, 0, 0]
for (const [query, word, name] of QUESTIONS) {
  const params = { query, mode: 'hybrid', rank: 'closeness', limit: 10, max_tokens: MAX_TOKENS }
  const { result } = await sys.call('/context/query', params)
  if (result === null) throw new Error(`${query}: the call failed`)
  const { text } = result['bundle'] as { readonly text: string }
  const tokens = countTokens(text)
  const isFound = new RegExp(`\\b${name}\\b`).test(text)
  const read = search(word, name)
  ours += tokens
  theirs += read.tokens
  found += Number(isFound)
  console.log(`| ${query} (\`${name}\`) | ${tokens} | ${isFound ? 'yes' : 'no'} | ${read.tokens} | ${read.files} |`)
}
console.log(`| together | ${ours} | ${found} of ${QUESTIONS.length} | ${theirs} | |`)

/** Lines with the word as `grep -rin` prints them, then whole files, those with most of them first, to the declaration. */
function search(word: string, name: string): { readonly tokens: number; readonly files: number } {
  const wanted = word.toLowerCase()
  const hits = [...texts].flatMap(([path, text]) => {
    const lines = text.split('\n').filter(line => line.toLowerCase().includes(wanted))
    return lines.length === 0 ? [] : [{ path, text, lines }]
  })
  hits.sort((a, b) => b.lines.length - a.lines.length || (a.path < b.path ? -1 : 1))
  const printed = hits.flatMap(({ path, lines }) => lines.map(line => `${path}:${line}`)).join('\n')
  const declared = new RegExp(`(?:function|class|interface|const) ${name}\\b`)
  const at = hits.findIndex(({ text }) => declared.test(text))
  const read = hits.slice(0, at + 1)
  return { tokens: read.reduce((sum, { text }) => sum + countTokens(text), countTokens(printed)), files: read.length }
}
