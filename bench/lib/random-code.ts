/** A store as large as the code base that the goals of `/context/query` are set for, with random names, links and vectors. */
import type { Engine } from '../../src/engine/engine.ts'
import { type ConceptAt, putConcept, putEdge, putProvenance } from '../../src/lenses/context/mind/rows.ts'
import { Context } from '../../src/lenses/context/operations.ts'
import { FILES } from '../../src/lenses/context/tables.ts'
import { audience } from '../../src/model/partition.ts'
import type { StoreWriter } from '../../src/store/store.ts'
import { draftOf, wholeChunk } from '../../test/support/entries.ts'
import { openToyEmbedder, TOY_KEY } from '../../test/support/toy-embedder.ts'

/** With ten concepts a file and three links a concept. */
export const CODE_BASE_FILES = 2_000
const CONCEPTS_A_FILE = 10
const LINKS_A_CONCEPT = 3
const DOC_WORDS = 8
/** Every twentieth link leads to one of so many, which thousands link to. */
const HUBS = 50

const WORDS =
  `auth user login service handler model store index query parse token file path cache graph node edge vector word
  page list item view state config error result value entry chunk`.split(/\s+/)

/** Words that names are made of: each is in thousands of them. */
export function randomQuestion(uniform: () => number, words = 2): string {
  return Array.from({ length: words }, () => pick(WORDS, uniform)).join(' ')
}

export async function fillCode(engine: Engine, fileCount: number, uniform: () => number): Promise<void> {
  const host = engine.host('context')
  const context = new Context(host)
  for (const path of ['/body/init', '/mind/init']) await context.call(path)
  host.store.write(host.clock.now(), writer => {
    const concepts = Array.from({ length: fileCount }, (_, at) => putFile(writer, at, uniform)).flat()
    for (let i = 0; i < concepts.length * LINKS_A_CONCEPT; i++) {
      const source = pick(concepts, uniform)
      const target = pick(uniform() < 0.05 ? concepts.slice(0, HUBS) : concepts, uniform)
      putEdge(writer, { source, target, relation: 'CALLS', weight: 0.5 })
    }
    giveVectors(writer, uniform)
  })
}

function putFile(writer: StoreWriter, at: number, uniform: () => number): ConceptAt[] {
  const url = `file:///project/src/${pick(WORDS, uniform)}/${pick(WORDS, uniform)}-${at}.ts`
  const lines = Array.from({ length: CONCEPTS_A_FILE * 6 }, (_, line) => {
    return `const ${pick(WORDS, uniform)}${line} = ${pick(WORDS, uniform)}(${pick(WORDS, uniform)})`
  })
  const draft = draftOf({ id: url, kind: 'code', origin: url, content: lines.join('\n') })
  const { key: entry } = writer.put(draft, wholeChunk(draft))
  const hash = String(at)
  writer.table(FILES).put({ entry, url, hash, size: draft.content.length, mtime: 0, indexed_hash: hash })
  return Array.from({ length: CONCEPTS_A_FILE }, (_, n) => {
    const called = `${pick(WORDS, uniform)}${capital(pick(WORDS, uniform))}${capital(pick(WORDS, uniform))}${n}`
    const place = { url, startLine: n * 6 + 1, endLine: n * 6 + 6 }
    const doc = Array.from({ length: DOC_WORDS }, () => pick(WORDS, uniform)).join(' ')
    const text = lines.slice(n * 6, n * 6 + 6).join('\n')
    const made = putConcept(
      writer,
      { name: called, type: 'Function', ...place, signature: `function ${called}(): void`, doc, text },
      { audience: audience('private'), now: 0 },
    )
    putProvenance(writer, made, url)
    return made
  })
}

function giveVectors(writer: StoreWriter, uniform: () => number): void {
  const { dimensions } = openToyEmbedder().model
  for (let chunks = writer.chunksWithoutVector(TOY_KEY, 2_000); chunks.length > 0; ) {
    const vectors = chunks.map(({ key: chunk }) => {
      const vector = Float32Array.from({ length: dimensions }, () => uniform() - 0.5)
      const length = Math.hypot(...vector)
      return { chunk, vector: vector.map(part => part / length) }
    })
    writer.putVectors(TOY_KEY, vectors)
    chunks = writer.chunksWithoutVector(TOY_KEY, 2_000)
  }
}

function pick<T>(from: readonly T[], uniform: () => number): T {
  return from[Math.floor(uniform() * from.length)] as T
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
