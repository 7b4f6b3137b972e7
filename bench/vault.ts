/**
 * Whether links between notes help ranking: nDCG@10 and the first result of 60 labelled questions over a vault of 200 notes
 * (bench/data/vault.json), as the engine ranks them, and with a leg of one hop over them. docs/decisions/020 says what came of it.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Engine } from '../src/engine/engine.ts'
import { openEngine } from '../src/engine/open.ts'
import { tempFolder } from '../test/support/temp-folder.ts'
import { ndcg } from './lib/collections.ts'
import { lent, localEmbedder } from './lib/local-embedder.ts'
import type { Row } from './lib/report.ts'

export const name = 'vault'

interface Vault {
  readonly notes: readonly { readonly path: string; readonly text: string }[]
  readonly questions: readonly {
    readonly question: string
    readonly kind: string
    readonly relevant: readonly string[]
  }[]
}

interface Asked {
  readonly kind: string
  readonly relevant: ReadonlySet<string>
  /** Paths in the order of the answer, and in that of the scores without links. */
  readonly ranked: readonly string[]
  readonly unlinked: readonly string[]
}

export async function run(): Promise<readonly Row[]> {
  const vault = JSON.parse(readFileSync(new URL('data/vault.json', import.meta.url), 'utf8')) as Vault
  const embedder = await localEmbedder()
  using folder = tempFolder()
  for (const { path, text } of vault.notes) {
    const file = join(folder.path, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  try {
    const rows: Row[] = []
    for (const mode of ['hybrid', 'words'] as const) {
      await using engine = await openEngine({ store: 'memory', embedder: lent(embedder), background: false })
      await engine.add({ paths: [folder.path] })
      rows.push(...rowsOf(mode, await ask(engine, mode, vault, basename(folder.path))))
    }
    return rows
  } finally {
    await embedder.close()
  }
}

async function ask(
  engine: Engine,
  mode: 'hybrid' | 'words',
  { questions }: Vault,
  folder: string,
): Promise<readonly Asked[]> {
  const asked: Asked[] = []
  for (const { question, kind, relevant } of questions) {
    const { items } = await engine.query({ text: question, mode, limit: 200, any: true, touch: false })
    const without = ({ score, components }: (typeof items)[number]) => score - (components['links'] ?? 0)
    const paths = (of: typeof items) => of.map(({ id }) => id.slice(folder.length + 1))
    const unlinked = paths(items.toSorted((a, b) => without(b) - without(a)))
    asked.push({ kind, relevant: new Set(relevant), ranked: paths(items), unlinked })
  }
  return asked
}

function rowsOf(mode: string, asked: readonly Asked[]): readonly Row[] {
  const kinds = [...new Set(asked.map(({ kind }) => kind))]
  const sets = [['all', asked], ...kinds.map(kind => [kind, asked.filter(one => one.kind === kind)] as const)] as const
  return sets.flatMap(([of, questions]) =>
    (['unlinked', 'ranked'] as const).flatMap(order => {
      const { ndcg, first } = quality(questions, one => one[order])
      const name = `${mode}, ${of} questions, ${order === 'ranked' ? 'with' : 'without'} links`
      return [
        { name: `${name}: nDCG@10`, unit: '', value: ndcg },
        { name: `${name}: the first result is right`, unit: '%', value: 100 * first },
      ]
    }),
  )
}

function quality(questions: readonly Asked[], order: (of: Asked) => readonly string[]) {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  return {
    ndcg: mean(questions.map(of => ndcg(order(of), of.relevant, 10))),
    first: mean(questions.map(of => Number(of.relevant.has(order(of)[0] ?? '')))),
  }
}
