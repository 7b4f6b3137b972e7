// The steps of `npm run check`: each runs one tool, prints one line, and shows the tool's output only when it failed.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const root: string = fileURLToPath(new URL('..', import.meta.url))

export interface Step {
  readonly name: string
  /** Run one after the other with npx (the tools of node_modules/.bin) until one fails. */
  readonly commands: readonly (readonly string[])[]
}

/** Cheap ones first. */
export const beforeTests: readonly Step[] = [
  { name: 'format and lint', commands: [['biome', 'check', '--error-on-warnings', '.']] },
  {
    name: 'types',
    commands: [
      ['tsc', '--noEmit'],
      ['tsc', '-p', 'explorer', '--noEmit'],
    ],
  },
  {
    name: 'layers',
    commands: [['depcruise', '--config', '.dependency-cruiser.cjs', 'src', 'explorer/src', 'bench', 'scripts']],
  },
  { name: 'unused', commands: [['knip', '--no-progress']] },
]

export const afterTests: readonly Step[] = [
  {
    name: 'package',
    commands: [
      ['npm', 'run', 'build'],
      ['npm', 'pack', '--dry-run', '--ignore-scripts'],
      ['publint', 'run', '--strict', '--pack', 'false'],
    ],
  },
]

/** True when every command of the step ended with 0. */
export function runStep(step: Step): boolean {
  const begin = performance.now()
  const failure = step.commands.map(runCommand).find(output => output !== undefined)
  printStatus(step.name, failure === undefined, performance.now() - begin)
  if (failure !== undefined) process.stdout.write(failure)
  return failure === undefined
}

export function printStatus(name: string, passed: boolean, milliseconds: number): void {
  console.log(`${passed ? 'ok    ' : 'FAILED'}  ${name}  (${(milliseconds / 1000).toFixed(1)} s)`)
}

/** The output of a failed command, undefined after a good one. */
function runCommand([program = '', ...args]: readonly string[]): string | undefined {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 50_000_000,
  })
  if (status === 0) return undefined
  return `$ ${[program, ...args].join(' ')}\n${error?.message ?? ''}${stdout}${stderr}\n`
}
