/** Labelled texts in six languages (bench/data/languages), and stores of them. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Embedder } from '../../src/embed/embedder.ts'
import { openLocalEmbedder } from '../../src/embed/local-embedder.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openEngine } from '../../src/engine/open.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { lent } from './local-embedder.ts'

export const LANGUAGES = ['en', 'es', 'de', 'fr', 'zh', 'ja'] as const
export type Language = (typeof LANGUAGES)[number]

export interface LanguageDocument {
  readonly language: Language
  /** The same in all languages. */
  readonly id: string
  readonly title: string
  readonly text: string
}

export interface LanguageQuestion {
  readonly language: Language
  readonly text: string
  /** Id of the document that answers it; absent for a foreign question. */
  readonly document?: string | undefined
}

export interface LanguageSet {
  readonly documents: readonly LanguageDocument[]
  readonly questions: readonly LanguageQuestion[]
  readonly foreign: readonly LanguageQuestion[]
}

export function readLanguageSet(name: 'test' | 'development'): LanguageSet {
  const lines = readFileSync(new URL(`../data/languages/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
  const rows = lines.map(line => JSON.parse(line) as { readonly kind: string })
  const of = <Row>(kind: string) => rows.filter(row => row.kind === kind) as unknown as readonly Row[]
  return { documents: of('document'), questions: of('question'), foreign: of('foreign') }
}

/** Null where `npm run model:multilingual` has not run. One thread. */
export async function openMultilingual(): Promise<Embedder | null> {
  const folder = fileURLToPath(new URL('../../model-multilingual', import.meta.url))
  return existsSync(join(folder, 'manifest.json')) ? await openLocalEmbedder({ folder, threads: 1 }) : null
}

/** Runs `use` on a store that holds the documents, each under `language/id`. `embedder` null: words only. `second`: for other languages. */
export async function withStore<T>(
  documents: readonly LanguageDocument[],
  embedder: Embedder | null,
  use: (engine: Engine) => Promise<T>,
  second: Embedder | null = null,
): Promise<T> {
  using home = tempFolder()
  await using engine = await openEngine({
    home: home.path,
    embedder: embedder === null ? 'none' : lent(embedder),
    background: false,
    ...(second !== null && { multilingual: lent(second) }),
  })
  const entries = documents.map(({ language, id, title, text }) => ({ id: `${language}/${id}`, title, content: text }))
  await engine.put({ entries, wait: true })
  return await use(engine)
}

/** The best answer to a question in words of every day, and what it is worth. */
export async function bestAnswer(engine: Engine, text: string) {
  const page = await engine.query({ text, syntax: 'plain', limit: 1, any: true, touch: false })
  return { ...page, document: page.items[0]?.id.split('/')[1] }
}
