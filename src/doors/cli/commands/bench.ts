/** `bench`: how fast and how exact this store answers, in a few seconds. The full bench is `npm run bench` in a checkout. */
import { invalidArgument } from '../../../model/errors.ts'
import type { QueryInput } from '../../../model/query-input.ts'
import { status } from '../../../ops/admin-ops.ts'
import { list } from '../../../ops/entry-ops.ts'
import { query } from '../../../ops/query-ops.ts'
import type { CommonFlags } from '../flags.ts'
import { type Report, withProgress } from '../progress.ts'
import { shape } from '../render/answer.ts'
import type { Cli } from '../run.ts'
import { type Session, withSession } from '../session.ts'
import { print } from './print.ts'

const TOP = 10

interface Latency {
  readonly p50_ms: number
  readonly p99_ms: number
}

export async function runBench(cli: Cli, flags: CommonFlags & { queries: number }): Promise<void> {
  const { queries } = flags
  if (!Number.isInteger(queries) || queries < 1 || queries > 1000)
    throw invalidArgument('--queries', queries, '1 to 1000')
  const figures = await withProgress(cli.io, report =>
    withSession(cli, flags, {}, session => measure(session, queries, report)),
  )
  await print(cli, flags, figures, shape)
}

async function measure(session: Session, queries: number, report: Report): Promise<object> {
  const { entries, chunks, embedder } = await session.run(status, {})
  const { items } = await session.run(list, { limit: queries, order: 'id' })
  const titles = items.map(item => item.title.slice(0, 200).replace(/[^\p{L}\p{N} ]/gu, ' '))
  const questions = titles.map(title => title.trim()).filter(Boolean)
  const ask = async (text: string, more: Partial<QueryInput>): Promise<readonly string[]> => {
    const page = await session.run(query, { text, limit: TOP, any: true, touch: false, ...more })
    return page.items.map(item => item.id)
  }
  const words: number[] = []
  const hybrid: number[] = []
  let found = 0
  let exact = 0
  for (const [at, text] of questions.entries()) {
    words.push(await timed(() => ask(text, { mode: 'words' })))
    if (embedder !== null) {
      const nearest = await ask(text, { mode: 'meaning', approximate: false }) // also embeds the question, once
      hybrid.push(await timed(() => ask(text, {})))
      const approximate = new Set(await ask(text, { mode: 'meaning' }))
      found += nearest.filter(id => approximate.has(id)).length
      exact += nearest.length
    }
    report({ phase: 'asking', done: at + 1, total: questions.length })
  }
  return {
    entries,
    chunks,
    questions: questions.length,
    words: latency(words),
    // Null without an embedder, or without questions.
    hybrid: hybrid.length === 0 ? null : latency(hybrid),
    // Share of the exact ten nearest that the approximate index finds.
    recall_at_10: exact === 0 ? null : found / exact,
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function latency(times: readonly number[]): Latency {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  const rounded = (ms: number): number => Math.round(ms * 1000) / 1000
  return { p50_ms: rounded(at(0.5)), p99_ms: rounded(at(0.99)) }
}
