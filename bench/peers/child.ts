/** The process of one peer: carries out the orders of the process that measures, and times them. `child.ts <name> <rows> <folder>` */
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { percentile } from '../lib/report.ts'
import { filtersOf, itemsOf, K, markOf, newItem, question } from './lib/data.ts'
import type { Asked, Built, Opened, Request, Updated, Way } from './lib/exchange.ts'
import type { Times } from './lib/figures.ts'
import type { RowFilter } from './lib/filters.ts'
import type { OpenPeer, Peer } from './lib/peer.ts'
import { peerNamed } from './lib/peers.ts'
import { SCENARIOS, type Scenario } from './lib/scenarios.ts'

/** What updates may take, and how many are made in any case. */
const UPDATES_MS = 15_000
const MIN_UPDATES = 3

const [name = '', rows = '0', folder = ''] = process.argv.slice(2)
const peer: Peer = await peerNamed(name)
const items = itemsOf(Number(rows))
const filters = new Map<number, readonly (RowFilter | undefined)[]>()
let open: OpenPeer | undefined
let copy: string | undefined

process.on('message', (request: Request) => {
  act(request).then(
    answer => process.send?.({ answer }),
    error => process.send?.({ failed: String(error?.message ?? error) }),
  )
})
// Whoever measures may be gone before its time.
process.once('disconnect', () => {
  close().finally(() => process.exit(1))
})
process.send?.({ answer: 'ready' })

async function act(request: Request): Promise<unknown> {
  switch (request.act) {
    case 'build':
      return build()
    case 'open':
      return openPeer()
    case 'set':
      return requirePeer().set?.(request.value, request.filtered)
    case 'ask':
      return ask(request.way, request.from, request.to)
    case 'update':
      return update(requirePeer(), request.times)
    case 'close':
      return close()
  }
}

/** Leaves nothing behind: no copy, no server. */
async function close(): Promise<void> {
  await open?.close()
  open = undefined
  if (copy !== undefined) rmSync(copy, { recursive: true, force: true })
}

/** Under a name of its own until it is whole. What the texts and vectors take to make is not in it. */
async function build(): Promise<Built> {
  const half = `${folder}.half`
  rmSync(half, { recursive: true, force: true })
  mkdirSync(half, { recursive: true })
  items.of(items.count - 1)
  const start = performance.now()
  const before = process.cpuUsage()
  await peer.build(half, items)
  const { user, system } = process.cpuUsage(before)
  const seconds = (performance.now() - start) / 1000
  renameSync(half, folder)
  return { seconds, processor: (user + system) / 1e6 }
}

/** On a copy: what is measured changes it. */
async function openPeer(): Promise<Opened> {
  // What is needed of the data must be there before the memory is looked at.
  items.of(items.count - 1)
  question(0)
  const before = memory()
  if (existsSync(folder)) {
    copy = mkdtempSync(join(tmpdir(), 'querent-peer-'))
    cpSync(folder, copy, { recursive: true })
  }
  const start = performance.now()
  open = await peer.open(copy ?? folder, items)
  const { nearest, words, hybrid, put } = open
  const has = {
    nearest: nearest !== undefined,
    words: words !== undefined,
    hybrid: hybrid !== undefined,
    put: put !== undefined,
  }
  await ask(nearest === undefined ? { kind: 'words' } : { kind: 'nearest', scenario: 0 }, 0, 1)
  const ms = performance.now() - start
  if (nearest !== undefined) await ask({ kind: 'nearest', scenario: 0 }, 0, 50)
  if (words !== undefined) await ask({ kind: 'words' }, 0, 50)
  const knobs = [false, true].map(filtered => open?.knob?.(filtered) ?? null)
  return { version: peer.version(), ms, memory: memory() - before, has, knobs }
}

function memory(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  return process.memoryUsage.rss()
}

function requirePeer(): OpenPeer {
  if (open === undefined) throw new Error('the peer is not open')
  return open
}

async function ask(way: Way, from: number, to: number): Promise<Asked> {
  const peer = requirePeer()
  const ms: number[] = []
  const found: (readonly number[])[] = []
  const narrow = way.kind === 'nearest' ? filtersBy(way.scenario) : []
  for (let at = from; at < to; at++) {
    const asked = question(at)
    const filter = narrow[at]
    const start = performance.now()
    const answer =
      way.kind === 'nearest'
        ? await peer.nearest?.(asked, K, filter)
        : way.kind === 'words'
          ? await peer.words?.(asked.text, K)
          : await peer.hybrid?.(asked, K)
    ms.push(performance.now() - start)
    found.push(answer ?? [])
  }
  return { ms, rows: found }
}

function filtersBy(scenario: number): readonly (RowFilter | undefined)[] {
  const held = filters.get(scenario) ?? filtersOf(SCENARIOS[scenario] as Scenario, items.count)
  filters.set(scenario, held)
  return held
}

async function update(peer: OpenPeer, times: number): Promise<Updated> {
  const spent = { insert: [] as number[], found: [] as number[], update: [] as number[], remove: [] as number[] }
  let wrong = 0
  const end = performance.now() + UPDATES_MS
  for (let at = 0; at < times && (at < MIN_UPDATES || performance.now() < end); at++) {
    const [first, second] = [newItem(items.count + at, at, 0), newItem(items.count + at, at, 1)]
    const start = performance.now()
    await peer.put?.(first, true)
    spent.insert.push(performance.now() - start)
    const hasFirst = await finds(peer, first, at, 0)
    spent.found.push(performance.now() - start)
    if (!hasFirst) wrong++
    spent.update.push(await timed(() => peer.put?.(second, false)))
    if (!(await finds(peer, second, at, 1))) wrong++
    spent.remove.push(await timed(() => peer.remove?.(second.row)))
    if (await finds(peer, second, at, 1)) wrong++
  }
  return {
    insert: summed(spent.insert),
    found: summed(spent.found),
    update: summed(spent.update),
    remove: summed(spent.remove),
    wrong,
  }
}

/** By its vector, or by a word that occurs nowhere else. */
async function finds(
  peer: OpenPeer,
  item: { row: number; vector: Float32Array },
  at: number,
  version: number,
): Promise<boolean> {
  const text = markOf(at, version)
  const found =
    peer.nearest === undefined
      ? await peer.words?.(text, 1)
      : await peer.nearest({ text, vector: item.vector, list: [...item.vector] }, 1, undefined)
  return found?.[0] === item.row
}

async function timed(body: () => unknown): Promise<number> {
  const start = performance.now()
  await body()
  return performance.now() - start
}

function summed(samples: readonly number[]): Times {
  return { p50: percentile(samples, 0.5), p99: percentile(samples, 0.99), count: samples.length }
}
