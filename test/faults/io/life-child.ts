/**
 * `node life-child.ts <control file>`, with the shim preloaded: lives one life for every line it reads (`Order`), and says
 * how it went (`Account`). It goes on living whatever a life came to: what a fault leaves behind in the process, a lock
 * or an open file, shows in the lives after it.
 */
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { say } from '../say.ts'
import { Control, type Plan, type Reported } from './control.ts'
import { type Deed, Diary } from './deeds.ts'
import { goOn, type Life, live, openAt } from './life.ts'
import { differences } from './rebuilt.ts'

export interface Order {
  readonly life: Life
  readonly home: string
  readonly files: string
  readonly plan: Plan
  /** Whether there is space again, and the like, before the engine closes; if not, it fails to the end. */
  readonly recovers: boolean
}

export interface Account {
  readonly deeds: readonly Deed[]
  readonly reported: Reported
  /** Answers of the engine that differ from a rebuild's, once nothing failed any more. */
  readonly differences: readonly string[]
}

/** What comes round every second or two comes round every few dozen milliseconds here. */
const HASTE = 40
const { setInterval: slowly } = globalThis
globalThis.setInterval = ((run: () => void, ms: number) => slowly(run, ms / HASTE)) as typeof setInterval

const control = new Control(process.argv[2] ?? '')
process.on('unhandledRejection', error => say({ unhandled: String((error as Error)?.stack ?? error) }))
say('ready')
for await (const line of createInterface({ input: process.stdin })) say(await run(JSON.parse(line) as Order))

async function run({ life, home, files, plan, recovers }: Order): Promise<Account> {
  const diary = new Diary()
  const file = join(home, 'store.db')
  control.arm(plan)
  let engine = await live(life, home, files, diary)
  let different: readonly string[] = []
  if (recovers) {
    const check = async () => {
      // At once, for what is written next may hide what was missed; and after it.
      if (engine !== null) different = await differences(engine, file)
      engine ??= await openAt(home)
      await goOn(engine, diary)
      different = [...different, ...(await differences(engine, file))]
    }
    // What fails only once and has not failed yet may still fail while the engine closes.
    if (plan.often === 'once') await control.paused(check)
    else {
      control.disarm()
      await check()
    }
  }
  await diary.note('close', {}, async () => engine?.close())
  control.disarm()
  return { deeds: diary.deeds, reported: control.reported(), differences: different }
}
