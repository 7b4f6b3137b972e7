/**
 * `npm run peers [-- <part of a name>…]`: measures Querent beside its peers with the same rows, filters, questions and
 * recall to be reached, keeps the figures in bench/out/peers.json, and makes the page from them. Each peer has a
 * process of its own; they take turns, ten questions each in random order, and one works at a time (docs/decisions/018).
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { seededUniform } from '../../test/support/seeded.ts'
import { writePages } from '../lib/kept-figures.ts'
import { machine } from '../lib/report.ts'
import { ROWS } from './lib/data.ts'
import type { Way } from './lib/exchange.ts'
import type { Answered, PeerFigures, PeersReport } from './lib/figures.ts'
import { installPeers } from './lib/install.ts'
import { PEERS, peerNamed } from './lib/peers.ts'
import { BLOCK, build, nothingSpent, QUESTIONS_OF_A_KIND, Runner, type Spent, TARGET, timesOf } from './lib/runner.ts'
import { SCENARIOS } from './lib/scenarios.ts'

const out = fileURLToPath(new URL('../out/', import.meta.url))
const [first, ...rest] = process.argv.slice(2)
/** `build`: only makes the indexes that are not there yet. */
const isBuild = first === 'build'
const wanted = isBuild ? rest : process.argv.slice(2)
const began = performance.now()
const missing: { name: string; why: string }[] = []
const runners = await openAll()
if (!isBuild) {
  const peers = await measureAll()
  const report: PeersReport = { machine: machine(), commit: commit(), target: TARGET, peers, missing }
  // A quick run only shows that all of it works: nothing is made from its figures.
  const isQuick = Boolean(process.env['QUERENT_QUICK'])
  writeFileSync(`${out}${isQuick ? 'peers-quick' : 'peers'}.json`, `${JSON.stringify(report, null, 2)}\n`)
  if (!isQuick) writePages()
}
for (const { name, why } of missing) console.error(`not measured: ${name}: ${why}`)
log('done')

async function openAll(): Promise<readonly Runner[]> {
  const absent = installPeers()
  const open: Runner[] = []
  for (const { name, package: of } of PEERS) {
    if (wanted.length > 0 && !wanted.some(part => name.toLowerCase().includes(part.toLowerCase()))) continue
    const why = of === null ? undefined : absent.get(of)
    if (why !== undefined) {
      missing.push({ name, why: `could not be installed: ${plain(why)}` })
      continue
    }
    try {
      const runner = await openOne(name, ROWS)
      if (runner !== undefined) open.push(runner)
    } catch (error) {
      missing.push({ name, why: `could not be opened with ${ROWS} rows: ${plain((error as Error).message)}` })
    }
  }
  return open
}

/** Without paths of this machine. */
function plain(why: string): string {
  return why.replace(/(?:https?:\/)?(?:\/[^\s/:]+){2,}/g, '…').replace(/\s+/g, ' ')
}

async function openOne(name: string, rows: number): Promise<Runner | undefined> {
  const peer = await peerNamed(name)
  const folder = `${out}peers/${(peer.sharesBuildOf ?? name).toLowerCase().replace(/[^a-z0-9]+/g, '-')}-${rows}`
  mkdirSync(`${out}peers`, { recursive: true })
  if (peer.sharesBuildOf === undefined) await build(peer, rows, folder)
  else if (!existsSync(folder)) throw new Error(`${peer.sharesBuildOf} could not be built`)
  if (isBuild) return undefined
  const runner = await Runner.open(peer, rows, folder)
  log(`opened ${name}, ${rows} rows`)
  return runner
}

async function measureAll(): Promise<readonly PeerFigures[]> {
  const nearest = new Map(runners.map(runner => [runner, {} as Record<string, Answered | null>]))
  for (const [at, scenario] of SCENARIOS.entries()) {
    const way: Way = { kind: 'nearest', scenario: at }
    const knobs = new Map<Runner, string | null>()
    for (const runner of having(way)) knobs.set(runner, await runner.try(scenario.name, () => runner.tune(at)))
    for (const [runner, spent] of await inTurns(way, scenario.isNew === true)) {
      const of = nearest.get(runner) as Record<string, Answered | null>
      of[scenario.name] = runner.failure === undefined ? runner.answered(at, spent, knobs.get(runner) ?? null) : null
    }
    log(scenario.name)
  }
  const words = await inTurns({ kind: 'words' }, false)
  log('words')
  const hybrid = await inTurns({ kind: 'hybrid' }, false)
  log('hybrid')
  const made: PeerFigures[] = []
  for (const runner of runners) {
    const update = runner.failure === undefined ? await runner.try('updates', () => runner.updates()) : null
    if (runner.failure !== undefined) missing.push({ name: runner.peer.name, why: `failed: ${plain(runner.failure)}` })
    made.push({
      ...about(runner),
      nearest: nearest.get(runner) ?? {},
      words: wordsOf(runner, words),
      hybrid: hybridOf(hybrid.get(runner)),
      update,
    })
    await runner.end()
  }
  log('updates')
  return made
}

function about(runner: Runner) {
  const { peer, rows, opened } = runner
  const { name, holds, settings, durability } = peer
  const { version, ms, memory } = opened
  const kept = { memory: peer.isServer ? null : memory }
  return { name, version, holds, rows, settings, durability, ...runner.builtIn(), ...kept, open: ms }
}

function having(way: Way): readonly Runner[] {
  return runners.filter(runner => runner.has(way))
}

/** All who have it, block by block in random order; all of it once before, unless what matters is the first time. */
async function inTurns(way: Way, isNew: boolean): Promise<ReadonlyMap<Runner, Spent>> {
  const shuffle = seededUniform(1)
  let all = new Map<Runner, Spent>()
  for (const _ of isNew ? [1] : [1, 2]) {
    all = new Map(having(way).map(runner => [runner, nothingSpent()]))
    for (let from = 0; from < QUESTIONS_OF_A_KIND; from += BLOCK) {
      const order = [...all].map(one => ({ one, place: shuffle() })).sort((a, b) => a.place - b.place)
      for (const { one } of order) {
        const [runner, spent] = one
        if (runner.has(way)) await runner.try(JSON.stringify(way), () => runner.block(way, from, spent))
      }
    }
  }
  return all
}

/** Beside the ten that FTS5 finds best in the same texts. */
function wordsOf(runner: Runner, words: ReadonlyMap<Runner, Spent>): PeerFigures['words'] {
  const spent = words.get(runner)
  if (spent === undefined || spent.ms.length === 0) return null
  const judge = [...words].find(([{ peer, rows }]) => peer.name.includes('FTS5') && rows === runner.rows)?.[1]
  const pairs = spent.rows.flatMap((rows, at) => {
    const best = judge?.rows[at] ?? []
    return best.length === 0 ? [] : [rows.filter(row => best.includes(row)).length / best.length]
  })
  return { ...timesOf(spent.ms), overlap: pairs.reduce((sum, share) => sum + share, 0) / pairs.length }
}

function hybridOf(spent: Spent | undefined): PeerFigures['hybrid'] {
  return spent === undefined || spent.ms.length === 0 ? null : timesOf(spent.ms)
}

function log(what: string): void {
  console.error(`  ${((performance.now() - began) / 1000).toFixed(0)} s: ${what}`)
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: out, encoding: 'utf8' }).trim()
  } catch {
    return 'unknown'
  }
}
