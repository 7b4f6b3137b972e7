/** What a store that several processes wrote to must hold in the end, by what they said of it. */
import { TRUST } from '../../src/lenses/beliefs/tables.ts'
import type { StoreReader } from '../../src/store/store.ts'
import { AGENTS, RELAY } from './many-processes-engine.ts'
import { type Facts, tokensIn } from './many-processes-facts.ts'

export interface Checked {
  readonly counts: {
    readonly found: number
    readonly deleted: number
    readonly uses: number
    readonly usesUncounted: number
    readonly relayTurns: number
  }
  readonly wrong: readonly string[]
}

export function compareWithFacts(reader: StoreReader, facts: Facts): Checked {
  const wrong: string[] = []
  const tokens = reader.entries(reader.scanEntries(0, 1e6)).flatMap(({ content }) => tokensIn(content))
  wrong.push(...lostOrBack(tokens, facts), ...halves(new Set(tokens), facts), ...otherEdges(reader, facts))
  const uses = usesOf(reader, facts)
  const turns = turnsOf(reader)
  wrong.push(...uses.wrong, ...turns.wrong)
  const deleted = [...facts.standing.values()].filter(standing => standing === 'gone').length
  const counts = { found: tokens.length, deleted, uses: uses.counted, usesUncounted: uses.uncounted, ...turns.counts }
  return { counts, wrong }
}

function lostOrBack(tokens: readonly string[], facts: Facts): readonly string[] {
  const found = new Set(tokens)
  const wrong = found.size === tokens.length ? [] : ['something is there twice']
  for (const token of found) if (!facts.standing.has(token)) wrong.push(`${token}: nobody said it would be written`)
  for (const [token, standing] of facts.standing) {
    const what = `${token} (${facts.places.get(token)})`
    if (standing === 'written' && !found.has(token)) wrong.push(`${what} is lost`)
    if (standing === 'gone' && found.has(token)) wrong.push(`${what} was deleted and is there`)
    if (standing === 'void' && found.has(token)) wrong.push(`${what} was refused and is there`)
  }
  return wrong
}

/** Entries of one put that came while others of it did not. What was replaced or deleted since had come. */
function halves(found: ReadonlySet<string>, facts: Facts): readonly string[] {
  const came = new Map<string, Set<boolean>>()
  for (const [token, act] of facts.acts) {
    const standing = facts.standing.get(token)
    const has = found.has(token) || standing === 'gone' || standing === 'leaving'
    came.set(act, (came.get(act) ?? new Set()).add(has))
  }
  return [...came].filter(([, both]) => both.size > 1).map(([act]) => `half of ${act} came through`)
}

function otherEdges(reader: StoreReader, facts: Facts): readonly string[] {
  const found = new Map(
    reader
      .table(TRUST)
      .scan()
      .map(row => [`${row['owner']} ${row['target']}`, String(row['level'])]),
  )
  const wrong = [...found.keys()].filter(name => !facts.edges.has(name)).map(name => `edge ${name}: nobody stated it`)
  for (const [name, { acknowledged, pending }] of facts.edges) {
    const level = found.get(name) ?? '-'
    if (level !== acknowledged && level !== pending) wrong.push(`edge ${name}: ${level} instead of ${acknowledged}`)
  }
  return wrong
}

/** A question that was answered while the store was busy may not have counted; none counts twice. */
function usesOf(reader: StoreReader, facts: Facts): { counted: number; uncounted: number; wrong: readonly string[] } {
  const wrong: string[] = []
  let [counted, uncounted] = [0, 0]
  const landmarks = reader.entries(reader.scanEntries(0, 1e6)).filter(({ id }) => id.startsWith('landmark'))
  for (const agent of AGENTS) {
    const states = reader.access(
      { id: agent },
      landmarks.map(({ key }) => key),
    )
    const sum = [...states.values()].reduce((total, { count }) => total + count, 0)
    const { acknowledged, pending, unanswered } = facts.uses.get(agent) ?? {
      acknowledged: 0,
      pending: 0,
      unanswered: 0,
    }
    if (sum > acknowledged + pending + unanswered) wrong.push(`${agent} used ${acknowledged}, counted are ${sum}`)
    counted += sum
    uncounted += Math.max(0, acknowledged - sum)
  }
  return { counted, uncounted, wrong }
}

/** Between two lines of one turn nobody else may have written. */
function turnsOf(reader: StoreReader): { counts: { relayTurns: number }; wrong: readonly string[] } {
  const turns = reader
    .table(RELAY)
    .scan()
    .map(row => String(row['turn']))
  const begun = turns.filter((turn, at) => turn !== turns[at - 1])
  const isSplit = new Set(begun).size < begun.length
  return { counts: { relayTurns: begun.length }, wrong: isSplit ? ['two processes wrote lines in one turn'] : [] }
}
