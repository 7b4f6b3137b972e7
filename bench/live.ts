/**
 * Live queries over 100,000 beliefs: 1,000 live queries of 50 agents while 100 writes a second come (public beliefs,
 * trust, and what nobody else may see). How long from a commit to its events, what a write costs beside asking all
 * questions again, how soon a stream's first chunk comes, and what events leave in memory (BQ-158, BQ-169, BQ-155).
 */
import { modelKey } from '../src/embed/embedder.ts'
import type { Engine } from '../src/engine/engine.ts'
import { LiveBeliefQuery } from '../src/lenses/beliefs/live/live-belief-query.ts'
import { parseRequest } from '../src/lenses/beliefs/schema/faults.ts'
import { queryInput, toQuery } from '../src/lenses/beliefs/schema/query.ts'
import { stateOf } from '../src/lenses/beliefs/state.ts'
import type { LiveEvent, LiveState } from '../src/model/live.ts'
import { agentName, BELIEFS, beliefsHome } from './lib/beliefs-store.ts'
import { BeliefWrites } from './lib/beliefs-writes.ts'
import { quick } from './lib/quick.ts'
import { latency, percentile, type Row, timed } from './lib/report.ts'

export const name = 'live'

const REQUESTERS = quick ? 10 : 50
const QUESTIONS_EACH = quick ? 10 : 20
const PER_SECOND = 100
const SECONDS = quick ? 2 : 10
const JUDGED = quick ? 30 : 200
const EVENTS = quick ? 5_000 : 100_000
const EVENTS_AT_ONCE = 250

const EVERYWHERE = { scope: { local: true, federated: true, network: true } }
const OPTIONS = {
  debounceMs: 0,
  includeRemovals: true,
  includeReranks: false,
  maxEventsPerMinute: 600,
  notifyOnConnect: false,
  resumeToken: null,
}

export async function run(): Promise<readonly Row[]> {
  using home = await beliefsHome()
  await using engine = await home.open()
  const writes = new BeliefWrites(engine, modelKey(home.embedder.model), REQUESTERS)
  return [
    ...(await judged(engine, writes)),
    ...(await fanOut(engine, writes)),
    await firstChunk(engine),
    ...(await memory(engine, writes)),
  ]
}

function questionsOf(engine: Engine): readonly LiveBeliefQuery[] {
  const state = stateOf(engine.host('beliefs'))
  return Array.from({ length: REQUESTERS * QUESTIONS_EACH }, (_, at) => {
    const id = agentName(at % REQUESTERS)
    const query = { semantic: `live query ${at}`, options: { ...EVERYWHERE, limit: 10 } }
    return new LiveBeliefQuery(state, { id }, toQuery(parseRequest(queryInput, query), { id, trustGraph: null }), query)
  })
}

/** What checking whether a write concerns a question costs, against asking all of them again. */
async function judged(engine: Engine, writes: BeliefWrites): Promise<readonly Row[]> {
  const questions = questionsOf(engine)
  const signal = new AbortController().signal
  const { store } = engine.host('beliefs')
  const states: LiveState[] = []
  for (const question of questions) states.push(await question.ask(signal))
  const again: number[] = []
  for (let round = 0; round < 2; round++) {
    writes.belief('public')
    for (const [at, question] of questions.slice(0, 40).entries()) {
      const started = performance.now()
      states[at] = await question.ask(signal)
      again.push(performance.now() - started)
    }
  }
  const all = (again.reduce((sum, ms) => sum + ms, 0) / again.length) * questions.length
  const checking: number[] = []
  let concerned = 0
  let answering = 0
  for (let write = 0; write < JUDGED; write++) {
    writes.next()
    const asked: number[] = []
    const checkAll = () => {
      for (const [at, question] of questions.entries()) if (question.concerned(states[at] as LiveState)) asked.push(at)
    }
    // In one read, as the engine does.
    checking.push(timed(() => store.read(checkAll)))
    const started = performance.now()
    for (const at of asked) states[at] = await (questions[at] as LiveBeliefQuery).ask(signal)
    answering += performance.now() - started
    concerned += asked.length
  }
  const mean = checking.reduce((sum, ms) => sum + ms, 0) / checking.length
  const each = (mean + answering / JUDGED) / all
  return [
    {
      ...latency(`a write: is it of concern to each of ${questions.length} questions`, checking),
      note: `${((mean / questions.length) * 1000).toFixed(2)} µs a question; ${(concerned / JUDGED).toFixed(1)} questions a write are asked again`,
    },
    {
      name: 'a write: checking and asking again, as a share of asking all again',
      unit: 'of 1',
      value: each,
      note: `asking all again: ${all.toFixed(0)} ms`,
    },
  ]
}

/** Delay from a commit to each event that it causes, while others are being made. */
async function fanOut(engine: Engine, writes: BeliefWrites): Promise<readonly Row[]> {
  const delays: number[] = []
  let events = 0
  const subscriptions = []
  for (const question of questionsOf(engine)) {
    const onEvent = ({ type, id }: LiveEvent) => {
      events++
      const committed = type === 'added' ? writes.committed.get(id) : undefined
      if (committed !== undefined) delays.push(performance.now() - committed)
    }
    subscriptions.push(await engine.live.subscribe(question, OPTIONS, { onEvent }))
  }
  await settled()
  delays.length = 0
  events = 0
  const late: number[] = []
  const started = performance.now()
  for (let at = 0; at < PER_SECOND * SECONDS; at++) {
    const due = started + (at * 1000) / PER_SECOND
    await new Promise(resolve => setTimeout(resolve, Math.max(0, due - performance.now())))
    late.push(performance.now() - due)
    writes.next()
  }
  const seconds = (performance.now() - started) / 1000
  await settled()
  for (const subscription of subscriptions) subscription.cancel()
  return [
    {
      ...latency(
        `from a commit to its event, ${subscriptions.length} questions, ${PER_SECOND} writes a second`,
        delays,
      ),
      note: `${delays.length} of ${events} events are of a belief that came; debounce 0`,
    },
    {
      name: 'writes that were done a second',
      unit: '1/s',
      value: (PER_SECOND * SECONDS) / seconds,
      note: `a write came late by ${percentile(late, 0.5).toFixed(1)} ms (p99 ${percentile(late, 0.99).toFixed(1)})`,
    },
  ]
}

async function settled(): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, 1_500))
}

async function firstChunk(engine: Engine): Promise<Row> {
  const operation = engine.lensOperations.find(one => one.operation.name === 'beliefs.query')?.operation
  if (operation?.stream === undefined) throw new Error('beliefs.query cannot be streamed')
  const times: number[] = []
  for (let round = 0; round < (quick ? 10 : 100); round++) {
    const input = { semantic: `streamed ${round}`, options: { ...EVERYWHERE, limit: 1000, stream: true } }
    const context = { viewer: { id: agentName(round % REQUESTERS) }, signal: new AbortController().signal }
    const started = performance.now()
    for await (const _ of operation.stream(engine.host('beliefs'), input, context)) break
    times.push(performance.now() - started)
  }
  return latency('first chunk of a stream of 1,000', times)
}

/** What is left of events when they are over: nothing should be. */
async function memory(engine: Engine, writes: BeliefWrites): Promise<readonly Row[]> {
  const state = stateOf(engine.host('beliefs'))
  let events = 0
  const begin = () => {
    const query = { semantic: 'memory', options: { ...EVERYWHERE, limit: EVENTS_AT_ONCE } }
    const id = agentName(0)
    const question = new LiveBeliefQuery(
      state,
      { id },
      toQuery(parseRequest(queryInput, query), { id, trustGraph: null }),
      query,
    )
    const onEvent = () => void events++
    return engine.live.subscribe(question, { ...OPTIONS, notifyOnConnect: true }, { onEvent })
  }
  const turn = async () => {
    const before = events
    const subscription = await begin()
    while (events - before < EVENTS_AT_ONCE) await new Promise(resolve => setImmediate(resolve))
    subscription.cancel()
  }
  writes.belief('public')
  // The engine keeps the last 200 that ended, for who comes back.
  for (let round = 0; round < 210; round++) await turn()
  const before = used()
  const from = events
  while (events - from < EVENTS) await turn()
  const grown = used() - before
  return [
    {
      name: 'memory that 1,000 events leave behind',
      unit: 'kB',
      value: grown / 1024 / ((events - from) / 1000),
      note: `${events - from} events over ${BELIEFS} beliefs`,
    },
  ]
}

function used(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
