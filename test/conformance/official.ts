/** Programs that others wrote to try MCP servers: in a folder of their own, fetched when a test first needs them. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('official', import.meta.url))

export interface Run {
  readonly status: number | null
  readonly output: string
  /** Both streams, as they came. */
  readonly printed: string
}

/** Whether they are there now. */
export async function haveOfficial(): Promise<boolean> {
  if (existsSync(join(folder, 'node_modules/.package-lock.json'))) return true
  const { status } = await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {})
  return status === 0
}

export function official(
  program: 'conformance' | 'mcp-inspector',
  args: readonly string[],
  home: string,
): Promise<Run> {
  return run(process.execPath, [join(folder, 'node_modules/.bin', program), ...args], { HOME: home })
}

function run(command: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<Run> {
  return new Promise(resolve => {
    const child = spawn(command, args, {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', part => {
        printed += part
        if (stream === child.stdout) output += part
      })
    }
    child.once('error', error => resolve({ status: null, output, printed: error.message }))
    child.once('close', status => resolve({ status, output, printed }))
  })
}
