/** The checks of `npm test`: each runs one tool, prints one line, and shows the tool's output only when it failed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

export const root: string = fileURLToPath(new URL('..', import.meta.url))

export interface Check {
  readonly name: string
  /** A tool of node_modules/.bin with its arguments. */
  readonly command: readonly string[]
}

/** TypeScript 7, several times as fast. Other tools still need the API of 6, so `.bin/tsc` may be either. */
export const TSC = 'node_modules/typescript-native/bin/tsc'

/** The longest first: the others run beside it. */
export const CHECKS: readonly Check[] = [
  { name: 'types', command: ['node', TSC, '--noEmit'] },
  { name: 'types of the explorer', command: ['node', TSC, '-p', 'explorer', '--noEmit'] },
  {
    name: 'layers',
    command: ['depcruise', '--config', '.dependency-cruiser.cjs', 'src', 'explorer/src', 'bench', 'scripts'],
  },
  { name: 'language', command: ['node', 'scripts/check-language.ts'] },
  { name: 'unused', command: ['knip', '--no-progress'] },
  { name: 'format and lint', command: ['biome', 'check', '--error-on-warnings', '.'] },
]

/** As many at a time as the smallest machine has cores. */
const AT_ONCE = 2

/** Which of them passed, in their order. */
export async function runChecks(checks: readonly Check[]): Promise<readonly boolean[]> {
  const passed: boolean[] = []
  const waiting = checks.entries()
  const runNext = async (): Promise<void> => {
    for (const [at, check] of waiting) passed[at] = await runCheck(check)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, runNext))
  return passed
}

export function printStatus(name: string, passed: boolean, milliseconds: number): void {
  console.log(`${passed ? 'ok    ' : 'FAILED'}  ${name}  (${(milliseconds / 1000).toFixed(1)} s)`)
}

async function runCheck({ name, command }: Check): Promise<boolean> {
  const begin = performance.now()
  const failure = await runCommand(command)
  printStatus(name, failure === undefined, performance.now() - begin)
  if (failure !== undefined) process.stdout.write(failure)
  return failure === undefined
}

/** The output of a failed command, undefined after a good one. */
async function runCommand([program = '', ...args]: readonly string[]): Promise<string | undefined> {
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close').catch((error: Error) => [error.message])
  const [[status], stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  if (status === 0) return undefined
  return `$ ${[program, ...args].join(' ')}\n${typeof status === 'string' ? `${status}\n` : ''}${stdout}${stderr}\n`
}
