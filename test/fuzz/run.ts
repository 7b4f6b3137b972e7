/** Runs targets one after the other, each in a process of its own; one that dies or hangs is a finding too. */
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Finding } from './engine/findings.ts'

export interface Figures {
  readonly target: string
  readonly inputs: number
  readonly features: number
  readonly findings: readonly Finding[]
}

export interface RunOptions {
  readonly seconds: number
  readonly seed: number
  /** For inputs under trial and the corpora that come of it. */
  readonly folder: string
}

type Report = Omit<Figures, 'target'>

const CHILD = fileURLToPath(new URL('./fuzz-child.ts', import.meta.url))
/** No input is worked on so long, and nothing is made smaller so slowly: it hangs. */
const SILENCE_MS = 120_000
/** Of JavaScript; beyond it the process dies. */
const HEAP_MB = 1536

export async function runTarget(target: string, { seconds, seed, folder }: RunOptions): Promise<Figures> {
  const args = [target, String(seconds), String(seed), folder]
  const child = fork(CHILD, args, {
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const trial = join(folder, `${target}.trial`)
  const watch = setInterval(() => isSilent(trial) && child.kill('SIGKILL'), 5_000)
  try {
    const { report, said } = await ended(child)
    return { target, ...(report ?? dead(target, trial, said)) }
  } finally {
    clearInterval(watch)
  }
}

function isSilent(trial: string): boolean {
  return existsSync(trial) && Date.now() - statSync(trial).mtimeMs > SILENCE_MS
}

async function ended(child: ChildProcess): Promise<{ readonly report: Report | null; readonly said: string }> {
  let report: Report | null = null
  let said = ''
  child.on('message', message => {
    report = message as Report
  })
  child.stderr?.setEncoding('utf8').on('data', part => {
    said = (said + part).slice(-4_000)
  })
  await new Promise(resolve => child.once('close', resolve))
  return { report, said }
}

/** Nothing is known of such a run but its last input. */
function dead(target: string, trial: string, said: string): Report {
  const input = existsSync(trial) ? readFileSync(trial, 'utf8') : ''
  const finding = { target, key: 'died', message: 'the process died or hung', stack: said, inputs: [input] }
  return { inputs: 0, features: 0, findings: [finding] }
}
