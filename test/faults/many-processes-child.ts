/**
 * `node many-processes-child.ts <folder> <number of the process> <life>`: one of several processes at work on one store,
 * until it is killed or told to stop. Told `pause`, `answer <instant>`, `go`, `stop` by lines. Says `ready`, `paused`,
 * `answers` (in a file), `stopped <findings of its doctor>`, `busy <ms> <act>`, and what it finds wrong.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { QuerentError } from '../../src/model/errors.ts'
import { callOperation } from '../support/beliefs-engine.ts'
import { choose } from './many-processes-acts.ts'
import { answersOf } from './many-processes-engine.ts'
import { tokenOf } from './many-processes-facts.ts'
import {
  agent,
  clock,
  count,
  engine,
  facts,
  folder,
  index,
  itemsOf,
  type Kind,
  kept,
  ownFiles,
  say,
  wrong,
} from './many-processes-self.ts'

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

/** In a file: a pipe takes long lines in part. */
function sayAnswers(answers: Readonly<Record<string, unknown>>): void {
  writeFileSync(join(folder, `answers-${agent}`), JSON.stringify(answers))
  say('answers')
}

/** What the life before began and did not end is looked up, and told. */
async function settle(): Promise<void> {
  await engine.add({ paths: [ownFiles], wait: false, visibility: 'public' })
  facts.say(['life', agent])
  facts.follow()
  for (const [token, standing] of facts.standing) {
    if (token[1] !== tokenOf(index, 0)[1]) continue
    count.tokens++
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
  count.acts++
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
