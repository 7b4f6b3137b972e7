/**
 * Calls to the operating system that fail, one after the other, at every place of an engine's life: reads, writes, syncs,
 * opening, renaming and the rest, once, until the disk has space again, or to the end.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CALL_KINDS, type CallKind, type Plan } from './io/control.ts'
import { LIVES, type Life } from './io/life.ts'
import { NO_SHIM } from './io/shim.ts'
import { type Run, Sweep } from './io/sweep.ts'

const LONG = process.env['QUERENT_LONG'] === '1'
/** Of about 4,600 that there are. */
const SAMPLE = 14
/** In the long form, only ways whose titles match: a run of hours can be taken up where it was stopped. */
const ONLY = new RegExp(process.env['QUERENT_ONLY'] ?? '')
/** Wrong lines of a way after which a long form need not look on. */
const ENOUGH = 20
/** Spreads places evenly, however many of them are taken: the golden ratio. */
const SPREAD = (Math.sqrt(5) - 1) / 2

const ERRORS: Readonly<Record<CallKind, Plan['error']>> = {
  read: 'EIO',
  write: 'EIO',
  sync: 'EIO',
  truncate: 'EIO',
  open: 'EMFILE',
  rename: 'EIO',
  unlink: 'EACCES',
  mkdir: 'ENOSPC',
  map: 'ENOMEM',
}

/** In which ways calls of a kind fail. A disk that is full takes half of a write first. */
const WAYS: readonly (readonly [CallKind, Omit<Plan, 'nth'>, boolean])[] = [
  ...CALL_KINDS.flatMap(kind => {
    const error = ERRORS[kind]
    const full = kind === 'write' ? 'half' : error
    return [
      [kind, { kind, often: 'once', error }, true],
      [kind, { kind, often: 'from then on', error: full }, true],
      [kind, { kind, often: 'from then on', error: full }, false],
    ] as const
  }),
  ['read', { kind: 'read', often: 'once', error: 'half' }, true],
]

describe.skipIf(NO_SHIM !== null)(`calls that fail${NO_SHIM === null ? '' : ` (${NO_SHIM})`}`, () => {
  let sweep: Sweep
  const calls = new Map<Life, Readonly<Record<CallKind, number>>>()

  beforeAll(async () => {
    sweep = new Sweep()
    await sweep.prepare()
    for (const life of LIVES) calls.set(life, await callsOf(life))
  })
  afterAll(() => sweep[Symbol.asyncDispose]())

  /** Of a life in which nothing fails. */
  async function callsOf(life: Life): Promise<Readonly<Record<CallKind, number>>> {
    const { reported, wrong } = await sweep.run({ life, plan: never('read'), recovers: false })
    expect(wrong).toEqual([])
    return reported?.calls as Record<CallKind, number>
  }

  it('are of every kind', () => {
    const all = [...calls.values()]
    for (const kind of CALL_KINDS) expect(Math.max(...all.map(counts => counts[kind])), kind).toBeGreaterThan(0)
  })

  it.skipIf(LONG)(`leave the store whole and the engine alive (${SAMPLE} of them)`, async () => {
    const all = LIVES.flatMap(life => WAYS.map(way => [life, way] as const))
    const wrong: string[] = []
    for (let run = 0; run < SAMPLE; run++) {
      const [life, [kind, plan, recovers]] = all[Math.floor(((run * SPREAD) % 1) * all.length)] as (typeof all)[number]
      const count = calls.get(life)?.[kind] as number
      const nth = 1 + Math.floor(((run * SPREAD * SPREAD) % 1) * count)
      wrong.push(...(await wrongWith({ life, plan: { ...plan, nth }, recovers })).lines)
    }
    expect(wrong).toEqual([])
  })

  it.runIf(LONG).each(LIVES)(
    `leave the store whole and the engine alive, each call of the life %s in ${WAYS.length} ways (QUERENT_LONG=1)`,
    { timeout: WAYS.length * 3_600_000 },
    async life => {
      const wrong: string[] = []
      for (const way of WAYS.filter(one => ONLY.test(titleOf(life, one)))) {
        wrong.push(...(await wrongAtEachCall(life, way)))
      }
      expect(wrong).toEqual([])
    },
  )

  /** The call of this kind fails that comes first, then the one that comes second, as long as there are some. */
  async function wrongAtEachCall(life: Life, way: (typeof WAYS)[number]): Promise<readonly string[]> {
    const [, plan, recovers] = way
    const wrong: string[] = []
    let runs = 0
    for (let nth = 1, failed = true; failed && wrong.length < ENOUGH; nth++) {
      const { lines, hasFailed } = await wrongWith({ life, plan: { ...plan, nth }, recovers })
      wrong.push(...lines)
      failed = hasFailed
      runs++
    }
    console.info(`${titleOf(life, way)}: ${runs} runs, ${wrong.length} lines wrong`)
    return wrong
  }

  async function wrongWith(run: Run): Promise<{ readonly lines: readonly string[]; readonly hasFailed: boolean }> {
    const { reported, wrong } = await sweep.run(run)
    const lines = wrong.map(
      line =>
        `${run.life}, ${reported?.first ?? ''}, ${JSON.stringify({ ...run.plan, recovers: run.recovers })}: ${line}`,
    )
    // One that died is to be looked at, not a reason to stop.
    return { lines, hasFailed: reported === null || reported.failed > 0 }
  }
})

function titleOf(life: Life, [kind, { error, often }, recovers]: (typeof WAYS)[number]): string {
  return `${life}: ${kind}, ${error} ${often}, ${recovers ? 'recovers' : 'does not recover'}`
}

/** A plan that nothing comes to. */
function never(kind: CallKind): Plan {
  return { kind, nth: 1e9, often: 'once', error: 'EIO' }
}
