/** What one of several processes does to the store, one act at a time; what it finds wrong it says. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { QuerentError } from '../../src/model/errors.ts'
import { callOperation } from '../support/beliefs-engine.ts'
import { AGENTS, HASHTAGS, LANDMARKS } from './many-processes-engine.ts'
import { tokensIn } from './many-processes-facts.ts'
import {
  agent,
  count,
  engine,
  facts,
  finds,
  index,
  type Kind,
  kept,
  life,
  nextToken,
  ownFiles,
  PATIENT,
  pick,
  random,
  sentence,
  viewer,
  wrong,
} from './many-processes-self.ts'

const ENTRIES = 25
const FILES = 8

/** By chance: its name, and how to do it. */
export function choose(): readonly [string, () => Promise<void>] {
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
  const name = `${agent}-${life}-${count.acts}`
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
  const id = `${agent}-b${life}-${count.acts}`
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
