/**
 * Every target with its good inputs, with those of the corpus (found by long runs that were guided by coverage), and with inputs near to
 * them. docs/testing/faults.md has what is looked for. QUERENT_LONG=1 goes on for minutes with new inputs.
 */
import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import type { Json } from '../../src/base/canonical.ts'
import { QuerentError } from '../../src/model/errors.ts'
import { isLong, PATIENCE_MS } from '../support/patience.ts'
import { type Opened, said, type Target, textsNear, wireText } from './inputs.ts'
import { assertRefusal, must } from './oracles.ts'
import { code } from './targets/code.ts'
import { commandTarget } from './targets/command.ts'
import { enrichment } from './targets/enrichment.ts'
import { grammar } from './targets/grammar.ts'
import { http } from './targets/http.ts'
import { mcp } from './targets/mcp.ts'
import { operationsTarget } from './targets/operations.ts'
import { readers } from './targets/readers.ts'
import { settings } from './targets/settings.ts'
import { signatures } from './targets/signatures.ts'
import { snapshots } from './targets/snapshots.ts'
import { texts } from './targets/texts.ts'
import { tokensTarget } from './targets/tokens.ts'
import { transferTarget } from './targets/transfer.ts'

/** Of a target's own inputs. */
// biome-ignore lint/suspicious/noExplicitAny: a target is used with its own inputs alone, and none is looked into here
type AnyTarget = Target<any>
/** Inputs, half of them near to good ones: many where one costs a part of a millisecond. */
const [MANY, SOME, FEW] = [400, 200, 50]
const TARGETS: Readonly<Record<string, readonly [runs: number, target: AnyTarget | (() => Promise<AnyTarget>)]>> = {
  grammar: [MANY, grammar],
  readers: [MANY, readers],
  texts: [MANY, texts],
  code: [MANY, code],
  enrichment: [MANY, enrichment],
  signatures: [MANY, signatures],
  snapshots: [MANY, snapshots],
  tokens: [SOME, tokensTarget],
  operations: [SOME, operationsTarget],
  http: [SOME, http],
  // A store on a disk, a command or a round to another process each.
  settings: [FEW, settings],
  transfer: [FEW, transferTarget],
  command: [FEW, commandTarget],
  mcp: [FEW, mcp],
}
/** Of each target in the long form. */
const LONG_MS = 180_000

it.each(Object.entries(TARGETS))(
  '%s: nothing breaks, hangs, leaks or is left half done',
  async (name, [runs, given]) => {
    const target = typeof given === 'function' ? await given() : given
    const corpus = corpusOf(name)
    const examples = [...target.seeds.slice(0, runs / 2), ...corpus.slice(0, runs / 4)]
    const property = propertyOf(target, [...target.seeds, ...corpus])
    await fc.assert(property, {
      examples: (isLong ? [...target.seeds, ...corpus] : examples).map((input): [unknown] => [input]),
      ...(isLong ? { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: LONG_MS } : { numRuns: runs }),
    })
  },
  PATIENCE_MS,
)

it('finds a planted fault, with the smallest text that shows it', async () => {
  const open = async () => ({ try: (text: string) => must(!text.includes('7x'), 'planted') })
  const near = (good: readonly string[]) => textsNear(good, ['x', '7'], 100)
  const { failed, counterexample } = await fc.check(propertyOf({ seeds: ['begin'], near, open }, ['a7b']), {
    numRuns: 5000,
  })
  expect(failed).toBe(true)
  expect(counterexample?.[0].length).toBeLessThanOrEqual('a7xb'.length)
})

it('puts in what JSON cannot say', () => {
  expect(said({ n: '«NaN»', d: ['«date»', '«undefined»'] })).toEqual({ n: Number.NaN, d: [new Date(0), undefined] })
  expect(wireText(['«deep»', 1])).toMatch(/^\[\[{1000}/)
})

it('takes no error for a refusal that is not one', () => {
  const refused = new QuerentError('invalid_argument', 'limit: no', {})
  expect(assertRefusal(refused)).toBe(refused)
  const wrong = [
    new TypeError('x is not a function'),
    new QuerentError('internal', 'internal error', {}, new Error('inside')),
    new QuerentError('store_corrupt', 'damaged', {}),
    new QuerentError('invalid_argument', '', {}),
    new QuerentError('invalid_argument', 'Error: x\n    at file.ts:1:1', {}),
    'a text',
  ]
  for (const thrown of wrong) expect(() => assertRefusal(thrown)).toThrow()
})

function corpusOf(name: string): readonly Json[] {
  const path = new URL(`./corpus/${name}.jsonl`, import.meta.url)
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter(line => line !== '').map(line => JSON.parse(line) as Json)
}

/** Of the process, for one input: about a hundred times what the slowest good one takes. */
const MAX_CPU_MS = 10_000
const MAX_MEMORY_BYTES = 3 * 2 ** 30

/** What was opened is used until its lifetime ends or it has failed: so a failing input is made smaller on fresh ones. */
function propertyOf<Input>(target: Target<Input>, good: readonly Input[]): fc.IAsyncPropertyWithHooks<[Input]> {
  let opened: Opened<Input> | null = null
  let left = 0
  const close = async () => {
    const last = opened
    opened = null
    await last?.close?.()
  }
  const property = fc.asyncProperty(target.near(good), async input => {
    if (left === 0) await close()
    if (opened === null) {
      opened = await target.open()
      left = target.lifetime ?? Number.POSITIVE_INFINITY
    }
    left--
    const begin = process.cpuUsage()
    try {
      await opened.try(input)
      const { user, system } = process.cpuUsage(begin)
      must((user + system) / 1000 <= MAX_CPU_MS, 'time: more than any input should need')
      must(process.memoryUsage.rss() <= MAX_MEMORY_BYTES, 'memory: more than any input should need')
    } catch (error) {
      // What has failed may fail again when it is closed.
      await close().catch(() => {})
      throw error
    }
  })
  onTestFinished(close)
  return property
}
