/**
 * The built-in detector of contradictions against statements labelled by hand: precision, recall, and how much of what it
 * finds has the right type; apart for pairs that it was made with and for pairs that were written after it.
 */
import { readFileSync } from 'node:fs'
import { HEURISTIC, MIN_SCORE, type Statement } from '../src/lenses/beliefs/opposition/heuristic.ts'
import { type Row, timed } from './lib/report.ts'

export const name = 'contradictions'

interface Pair {
  readonly type: string
  readonly held_out?: boolean
  readonly a: string
  readonly b: string
}

const FIXTURE = new URL('../test/fixtures/beliefs/contradictions.json', import.meta.url)
const ROUNDS = 20

export function run(): Promise<readonly Row[]> {
  const { pairs } = JSON.parse(readFileSync(FIXTURE, 'utf8')) as { readonly pairs: readonly Pair[] }
  const groups = [
    { of: 'made with', pairs: pairs.filter(pair => pair.held_out !== true), precision: 0.95, recall: 0.9 },
    { of: 'held out', pairs: pairs.filter(pair => pair.held_out === true), precision: 0.8, recall: 0.5 },
  ]
  const rows = groups.flatMap(group => figures(group.of, group.pairs, group))
  const elapsed = Array.from({ length: ROUNDS }, () => timed(() => judged(pairs)))
  const perPair = (Math.min(...elapsed) * 1000) / pairs.length
  return Promise.resolve([...rows, { name: 'one pair', value: perPair, unit: 'µs' }])
}

function figures(
  of: string,
  pairs: readonly Pair[],
  goal: { readonly precision: number; readonly recall: number },
): Row[] {
  const reported = judged(pairs).filter(pair => pair.verdict !== 'none')
  const right = reported.filter(({ type }) => type !== 'none')
  const row = (what: string, value: number, least: number): Row => ({
    ...{ name: `${of}, ${pairs.length} pairs: ${what}`, value, unit: '' },
    ...{ goal: `>= ${least}`, ok: value >= least },
  })
  return [
    row('precision', right.length / reported.length, goal.precision),
    row('recall', right.length / pairs.filter(({ type }) => type !== 'none').length, goal.recall),
    row('type', right.filter(({ type, verdict }) => type === verdict).length / right.length, 0.9),
  ]
}

function judged(pairs: readonly Pair[]): readonly (Pair & { readonly verdict: string })[] {
  return pairs.map(pair => {
    const found = HEURISTIC.detect(statement(pair.a), statement(pair.b))
    return { ...pair, verdict: found === null || found.score <= MIN_SCORE ? 'none' : found.type }
  })
}

function statement(content: string): Statement {
  return { content, validFrom: null, validUntil: null }
}
