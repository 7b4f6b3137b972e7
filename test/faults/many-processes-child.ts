/**
 * `node many-processes-child.ts <folder> <number of the process> <life>`: one of several processes at work on one store,
 * until it is killed or told to stop. Told `pause`, `answer <instant>`, `go`, `stop` by lines. Says `ready`, `paused`,
 * `answers` (in a file), `stopped <findings of its doctor>`, `busy <ms> <act>`, and what it finds wrong.
 */
import { mkdirSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { QuerentError } from '../../src/model/errors.ts'
import type { Page } from '../../src/model/page.ts'
import { seededUniform } from '../../src/testing/seeded.ts'
import { callOperation } from '../support/beliefs-engine.ts'
import { AGENTS, answersOf, type Clock, HASHTAGS, LANDMARKS, openShared } from './many-processes-engine.ts'
import { Facts, tokenOf, tokensIn } from './many-processes-facts.ts'

const [, , folder = '', process_ = '0', life = '0'] = process.argv
const index = Number(process_)
const agent = AGENTS[index] as string
const viewer = { id: agent }
const random = seededUniform(index * 1_000 + Number(life))
const WORDS = ['fox', 'vixen', 'dog', 'car', 'automobile', 'garden', 'tulip', 'rain', 'quick', 'swift']
const PATIENT = { timeout_ms: 120_000, any: true } as const
const ENTRIES = 25
const FILES = 8
type Kind = 'entry' | 'file' | 'node' | 'belief'

const clock: Clock = { frozen: null }
using facts = new Facts(join(folder, 'facts'))
const ownFiles = join(folder, `files-${agent}`)
mkdirSync(ownFiles, { recursive: true })
const engine = await openShared(clock, `${agent}-${life}`, { home: join(folder, 'home') })
/** By place, what stands there. */
const kept: Record<Kind, Map<string, string>> = {
  entry: new Map(),
  file: new Map(),
  node: new Map(),
  belief: new Map(),
}
let tokens = 0
let acts = 0
/** What to do between two acts; null: to go on. */
let order: 'pause' | 'stop' | null = null
let goOn: () => void = () => undefined
listen()
await settle()
say('ready')
while (order !== 'stop') {
  if (order === 'pause') {
    await engine.embedded()
    say('paused')
    await new Promise<void>(resolve => {
      goOn = resolve
    })
    continue
  }
  await takeOne()
}
const { findings } = await engine.doctor()
say(`stopped ${JSON.stringify(findings.filter(({ ok }) => !ok))}`)
await engine.close()
process.exit(0)

function listen(): void {
  const input = createInterface({ input: process.stdin })
  // Whoever started it is gone.
  input.on('close', () => process.exit(1))
  input.on('line', line => {
    const [word = '', argument = ''] = line.split(' ')
    if (word === 'answer') {
      clock.frozen = Number(argument)
      answersOf(engine).then(
        answers => sayAnswers(answers),
        error => sayAnswers({ failed: error instanceof Error ? error.stack : error }),
      )
      return
    }
    clock.frozen = null
    order = word === 'go' ? null : (word as 'pause' | 'stop')
    goOn()
  })
}

function say(line: string): void {
  writeSync(1, `${line.replaceAll('\n', ' ')}\n`)
}

/** In a file: a pipe takes long lines in part. */
function sayAnswers(answers: Readonly<Record<string, unknown>>): void {
  writeFileSync(join(folder, `answers-${agent}`), JSON.stringify(answers))
  say('answers')
}

function wrong(what: string): void {
  say(`wrong: ${agent}-${life}, act ${acts}: ${what}`)
}

/** What the life before began and did not end is looked up, and told. */
async function settle(): Promise<void> {
  await engine.add({ paths: [ownFiles], wait: false, visibility: 'public' })
  facts.say(['life', agent])
  facts.follow()
  for (const [token, standing] of facts.standing) {
    if (token[1] !== tokenOf(index, 0)[1]) continue
    tokens++
    if (standing === 'will' || standing === 'leaving') {
      const [item] = await itemsOf(token)
      if (item === undefined) facts.say([standing === 'will' ? 'void' : 'gone', token])
      else facts.say(['written', token, facts.places.get(token) === 'node:' ? `node:${item.id}` : ''])
    }
    facts.follow()
    const [kind = '', id = ''] = (facts.places.get(token) as string).split(':')
    if (facts.standing.get(token) === 'written') kept[kind as Kind].set(id, token)
  }
  const edges = (await callOperation(engine, 'trust.list', agent, {}))['edges'] as {
    target: string
    trust_level: number
  }[]
  for (const name of facts.edges.keys()) {
    const [owner = '', target = ''] = name.split(' ')
    const level = edges.find(edge => edge.target === target)?.trust_level
    if (owner === agent) facts.say(['edge', agent, target, String(level ?? '-')])
  }
}

async function takeOne(): Promise<void> {
  acts++
  const [name, act] = choose()
  const started = performance.now()
  try {
    await act()
  } catch (error) {
    const isBusy = error instanceof QuerentError && error.kind === 'busy'
    if (isBusy) say(`busy ${Math.round(performance.now() - started)} ${name}`)
    else wrong(`${name}: ${error instanceof Error ? `${error.stack}` : error}`)
  }
  say(`did ${name}`)
  await new Promise(resolve => setImmediate(resolve))
}

function choose(): readonly [string, () => Promise<void>] {
  const chance = random()
  if (chance < 0.2) return ['put', putting]
  if (chance < 0.27) return ['add', adding]
  if (chance < 0.36) return ['store', storing]
  if (chance < 0.45) return ['believe', believing]
  if (chance < 0.5) return ['trust', trusting]
  if (chance < 0.6) return ['delete', deleting]
  if (chance < 0.62) return ['decay', decaying]
  if (chance < 0.82) return ['ask', asking]
  return ['use', using_]
}

/** Says what will come (token and place) and go, acts, and says that it came and went; a refusal takes it back. */
async function during(
  places: readonly (readonly [string, string])[],
  go: readonly string[],
  act: () => Promise<unknown>,
): Promise<void> {
  const name = `${agent}-${life}-${acts}`
  const come = places.map(([token]) => token)
  facts.say(...places.map(([token, place]) => ['will', token, name, place] as const))
  facts.say(...go.map(token => ['leaving', token] as const))
  try {
    await act()
  } catch (error) {
    if (error instanceof QuerentError && error.kind === 'busy') {
      facts.say(...come.map(token => ['void', token] as const), ...go.map(token => ['written', token] as const))
    }
    throw error
  }
  facts.say(...come.map(token => ['written', token] as const), ...go.map(token => ['gone', token] as const))
}

async function putting(): Promise<void> {
  const ids = [...new Set(Array.from({ length: 1 + pick(6) }, () => `${agent}-e${pick(ENTRIES)}`))]
  const fresh = ids.map(id => [id, nextToken()] as const)
  const entries = fresh.map(([id, token]) => ({ id, content: `${token} ${sentence()}`, visibility: 'public' as const }))
  const go = ids.flatMap(id => kept.entry.get(id) ?? [])
  const places = fresh.map(([id, token]) => [token, `entry:${id}`] as const)
  await during(places, go, () => engine.put({ entries, wait: random() < 0.2 }, { viewer }))
  for (const [id, token] of fresh) kept.entry.set(id, token)
  await mustFind(fresh[0]?.[1] as string)
}

async function adding(): Promise<void> {
  const name = `f${pick(FILES)}`
  const token = nextToken()
  writeWhole(name, `${token} ${sentence()}\n`)
  const old = kept.file.get(name)
  await during([[token, `file:${name}`]], old === undefined ? [] : [old], async () => {
    const { errors } = await engine.add({ paths: [ownFiles], wait: random() < 0.3, visibility: 'public' })
    if (errors.length > 0) throw new Error(JSON.stringify(errors))
  })
  kept.file.set(name, token)
  await mustFind(token)
}

function writeWhole(name: string, content: string): void {
  writeFileSync(join(ownFiles, `${name}.md`), content)
}

async function storing(): Promise<void> {
  const token = nextToken()
  let id = ''
  const hashtags = HASHTAGS[pick(HASHTAGS.length)]
  await during([[token, 'node:']], [], async () => {
    const node = { hashtags, label: 'A node', content: `${token} ${sentence()}`, visibility: 'public' }
    id = (await callOperation(engine, 'chroma.store', agent, node))['entry_id'] as string
  })
  facts.say(['written', token, `node:${id}`])
  kept.node.set(id, token)
  const node = await callOperation(engine, 'chroma.get', agent, { entry_id: id })
  if (!String(node['content']).includes(token)) wrong(`the node of ${token} reads otherwise`)
}

async function believing(): Promise<void> {
  const token = nextToken()
  const old = [...kept.belief][pick(kept.belief.size)]
  const id = `${agent}-b${life}-${acts}`
  const content = `${token} ${sentence()}`
  if (old === undefined || random() < 0.6) {
    const draft = { id, content, visibility: 'public', wait: false }
    await during([[token, `belief:${id}`]], [], () => callOperation(engine, 'beliefs.put', agent, draft))
  } else {
    const revision = { belief_id: old[0], id, content, wait: false }
    await during([[token, `belief:${id}`]], [old[1]], () => callOperation(engine, 'beliefs.supersede', agent, revision))
    kept.belief.delete(old[0])
  }
  kept.belief.set(id, token)
  const { belief } = await callOperation(engine, 'beliefs.get', agent, { belief_id: id })
  if (!JSON.stringify(belief).includes(token)) wrong(`the belief of ${token} reads otherwise`)
}

async function trusting(): Promise<void> {
  const target = AGENTS[(index + 1 + pick(AGENTS.length - 1)) % AGENTS.length] as string
  const level = pick(11) / 10
  facts.say(['willEdge', agent, target, String(level)])
  await callOperation(engine, 'trust.set', agent, { target, trust_level: level })
  facts.say(['edge', agent, target, String(level)])
}

async function deleting(): Promise<void> {
  const kind = (['entry', 'file', 'node', 'belief'] as const)[pick(4)] as Kind
  const found = [...kept[kind]][pick(kept[kind].size)]
  if (found === undefined) return
  const [place, token] = found
  if (kind === 'file') rmSync(join(ownFiles, `${place}.md`), { force: true })
  await during([], [token], async () => {
    if (kind === 'entry') await engine.delete({ ids: [place] }, { viewer })
    else if (kind === 'file') await engine.add({ paths: [ownFiles], wait: false, visibility: 'public' })
    else if (kind === 'node') await callOperation(engine, 'chroma.delete', agent, { entry_id: place })
    else await callOperation(engine, 'beliefs.delete', agent, { belief_id: place })
  })
  kept[kind].delete(place)
  if (await finds(token)) wrong(`${kind} ${place} is found after it was deleted: ${token}`)
}

async function decaying(): Promise<void> {
  await callOperation(engine, random() < 0.5 ? 'chroma.decay' : 'chroma.lifecycle', 'owner', {})
}

/** Nothing is shown that was gone before the question; what another process wrote before it is found. */
async function asking(): Promise<void> {
  facts.follow()
  const gone = new Set([...facts.standing].filter(([, standing]) => standing === 'gone').map(([token]) => token))
  const others = facts.written.slice(-200).filter(token => facts.standing.get(token) === 'written')
  const wanted = others[pick(others.length)]
  const [name, shown] = await askSomething(wanted)
  for (const token of tokensIn(shown)) if (gone.has(token)) wrong(`${name} shows ${token}, which had been deleted`)
  if (wanted === undefined || (await finds(wanted))) return
  if (facts.follow().standing.get(wanted) === 'written') wrong(`${wanted} was written before and is not found`)
}

async function askSomething(wanted: string | undefined): Promise<readonly [string, string]> {
  const text = `${wanted ?? ''} ${sentence()}`
  const kind = pick(4)
  if (kind === 0) {
    const mode = (['hybrid', 'words', 'meaning'] as const)[pick(3)]
    return [
      `query by ${mode}`,
      JSON.stringify(await engine.query({ text, mode, touch: false, ...PATIENT }, { viewer })),
    ]
  }
  if (kind === 1)
    return ['collections', JSON.stringify(await engine.query({ text, lens: 'collections', touch: false, ...PATIENT }))]
  if (kind === 2)
    return [
      'beliefs',
      JSON.stringify(
        await callOperation(engine, 'beliefs.query', agent, { semantic: text, options: { timeout_ms: 30_000 } }),
      ),
    ]
  const question = { hashtags: HASHTAGS[pick(HASHTAGS.length)], k: 10 }
  return ['chroma', JSON.stringify(await callOperation(engine, 'chroma.query', agent, question))]
}

/** What is never changed is used: each use counts. */
async function using_(): Promise<void> {
  facts.say(['willUse', agent, LANDMARKS])
  const question = { text: 'landmark', mode: 'words', limit: 1 + pick(LANDMARKS), ...PATIENT } as const
  const { items } = await engine.query(question, { viewer })
  const shown = items.filter(({ id }) => id.startsWith('landmark'))
  if (shown.length !== items.length) wrong(`"landmark" finds ${items.map(({ id }) => id)}`)
  facts.say(['use', agent, shown.length])
}

async function mustFind(token: string): Promise<void> {
  if (!(await finds(token))) wrong(`${token} is not found though it was just written`)
}

async function finds(token: string): Promise<boolean> {
  return (await itemsOf(token)).length > 0
}

async function itemsOf(token: string): Promise<Page['items']> {
  const question = { text: token, mode: 'words', touch: false, limit: 3, ...PATIENT } as const
  const { items } = await engine.query(question, { viewer })
  return items.filter(item => JSON.stringify(item).includes(token))
}

function nextToken(): string {
  return tokenOf(index, tokens++)
}

function sentence(): string {
  return Array.from({ length: 1 + pick(5) }, () => WORDS[pick(WORDS.length)]).join(' ')
}

function pick(below: number): number {
  return Math.floor(random() * below)
}
